package bench

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"tfm/internal/format"
)

// Text returns the report as plain-text tables.
func (r Report) Text() string {
	var b strings.Builder
	m := r.Machine
	fmt.Fprintf(&b, "tfm %s %s %s\n", r.Version, m.Go, m.System)
	fmt.Fprintf(&b, "processor:  %s, %d cores", orUnknown(m.CPU), m.Cores)
	if m.Cache > 0 {
		fmt.Fprintf(&b, ", %s cache", bytesText(m.Cache))
	}
	if m.Memory > 0 {
		fmt.Fprintf(&b, ", %s memory", bytesText(m.Memory))
	}
	fmt.Fprintf(&b, "\nkernels:    %s, bf16 %s, int8 %s\nin use:     %s\n", m.Float32, m.BF16, m.Int8, orUnknown(strings.Join(m.InUse, " ")))

	table := func(title, columns string, lines func(line func(cells ...string))) {
		fmt.Fprintf(&b, "\n%s\n", title)
		w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		line := func(cells ...string) { fmt.Fprintf(w, "  %s\n", strings.Join(cells, "\t")) }
		line(strings.Split(columns, ", ")...)
		lines(line)
		w.Flush()
	}
	if len(r.Limits) > 0 {
		where := "memory"
		if !r.Limits[0].Beyond {
			where = "cache or memory"
		}
		title := fmt.Sprintf("limits: multiply-adds on registers, bandwidth of %s (buffers of %s)", where, bytesText(r.Limits[0].Buffer))
		table(title, "threads, float32 GFLOP/s, bf16 GFLOP/s, read GB/s, copy GB/s, y += a·x GB/s", func(line func(...string)) {
			for _, l := range r.Limits {
				line(fmt.Sprint(l.Threads), figure(l.Float32, 1), figure(l.BF16, 1), figure(l.Read, 1e-9), figure(l.Copy, 1e-9), figure(l.Update, 1e-9))
			}
		})
	}
	if len(r.Products) > 0 {
		table("gemm: C [m × n] = A [m × k] · B [k × n]; form: storage of A and B, N row-major, T transposed", "product, form, m, n, k, precision, threads, GFLOP/s, of limit", func(line func(...string)) {
			for _, p := range r.Products {
				line(p.Name, p.Form, fmt.Sprint(p.M), fmt.Sprint(p.N), fmt.Sprint(p.K), p.Precision, fmt.Sprint(p.Threads), figure(p.GFLOPS, 1), share(p.Share))
			}
		})
	}
	if len(r.Training) > 0 {
		table("training", "preset, precision, threads, source + target tokens/step, s/step, source tokens/s, target tokens/s, GFLOP/s, utilisation, peak memory", func(line func(...string)) {
			for _, s := range r.Training {
				line(s.Preset, s.Precision, fmt.Sprint(s.Threads), fmt.Sprintf("%.0f + %.0f", s.SrcTokens, s.TgtTokens), figure(s.Seconds, 1),
					figure(s.SrcPerSec, 1), figure(s.TgtPerSec, 1), figure(s.GFLOPS, 1), share(s.Utilisation), memory(s.PeakMemory))
			}
		})
	}
	if len(r.Decoding) > 0 {
		table(fmt.Sprintf("decoding: sources and translations of %d tokens", r.Decoding[0].Tokens), "weights, beam, batch, threads, tokens/s, s/batch, peak memory", func(line func(...string)) {
			for _, s := range r.Decoding {
				beam := fmt.Sprint(s.Beam)
				if s.Beam == 1 {
					beam = "greedy"
				}
				line(s.Weights, beam, fmt.Sprint(s.Batch), fmt.Sprint(s.Threads), figure(s.PerSec, 1), figure(s.Seconds, 1), memory(s.PeakMemory))
			}
		})
	}
	return b.String()
}

// figure formats the median, and after several rounds the minimum and maximum, in the given unit.
func figure(f Figure, unit float64) string {
	if f.Rounds < 2 {
		return rounded(f.Median * unit)
	}
	return fmt.Sprintf("%s (%s to %s)", rounded(f.Median*unit), rounded(f.Low*unit), rounded(f.High*unit))
}

// rounded formats x with at least three significant digits.
func rounded(x float64) string {
	switch {
	case x >= 1000:
		return format.Thousands(int(x + 0.5))
	case x >= 100:
		return fmt.Sprintf("%.0f", x)
	case x >= 10:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.3g", x)
}

// share formats x as a percentage, "" if it is 0.
func share(x float64) string {
	if x == 0 {
		return ""
	}
	return fmt.Sprintf("%.0f %%", 100*x)
}

func memory(m Memory) string {
	if m.Of == "resident" {
		return bytesText(m.Bytes)
	}
	return bytesText(m.Bytes) + " " + m.Of
}

// bytesText formats n in decimal MB or GB.
func bytesText(n int64) string {
	if n >= 1e9 {
		return fmt.Sprintf("%.2f GB", 1e-9*float64(n))
	}
	return fmt.Sprintf("%.0f MB", 1e-6*float64(n))
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}
