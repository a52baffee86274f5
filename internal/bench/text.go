package bench

import (
	"cmp"
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
	fmt.Fprintf(&b, "processor:  %s, %d cores", cmp.Or(m.CPU, "unknown"), m.Cores)
	if m.Cache > 0 {
		fmt.Fprintf(&b, ", %s cache", bytesText(m.Cache))
	}
	if m.Memory > 0 {
		fmt.Fprintf(&b, ", %s memory", bytesText(m.Memory))
	}
	fmt.Fprintf(&b, "\nkernels:    %s, bf16 %s, int8 %s\nin use:     %s\n", m.Float32, m.BF16, m.Int8, cmp.Or(strings.Join(m.InUse, " "), "unknown"))

	if len(r.Limits) > 0 {
		where := "memory"
		if !r.Limits[0].Beyond {
			where = "cache or memory"
		}
		title := fmt.Sprintf("limits: multiply-adds on registers, bandwidth of %s (buffers of %s)", where, bytesText(r.Limits[0].Buffer))
		table(&b, title, "threads, float32 GFLOP/s, bf16 GFLOP/s, y += a·x GB/s", r.Limits, func(l Limits) []any {
			return []any{l.Threads, figure(l.Float32, 1), figure(l.BF16, 1), figure(l.Update, 1e-9)}
		})
	}
	table(&b, "training", "preset, precision, threads, source + target tokens/step, s/step, source tokens/s, target tokens/s, GFLOP/s, "+
		"utilisation, peak memory", r.Training, func(s StepSpeed) []any {
		return []any{s.Preset, s.Precision, s.Threads, fmt.Sprintf("%.0f + %.0f", s.SrcTokens, s.TgtTokens), figure(s.Seconds, 1),
			figure(s.SrcPerSec, 1), figure(s.TgtPerSec, 1), figure(s.GFLOPS, 1), share(s.Utilisation), memory(s.PeakMemory)}
	})
	if len(r.Decoding) > 0 {
		title := fmt.Sprintf("decoding: sources and translations of %d tokens", r.Decoding[0].Tokens)
		table(&b, title, "weights, beam, batch, threads, tokens/s, s/batch, peak memory", r.Decoding, func(s DecodeSpeed) []any {
			beam := fmt.Sprint(s.Beam)
			if s.Beam == 1 {
				beam = "greedy"
			}
			return []any{s.Weights, beam, s.Batch, s.Threads, figure(s.PerSec, 1), figure(s.Seconds, 1), memory(s.PeakMemory)}
		})
	}
	return b.String()
}

// table writes a table with a row of cells for each result, nothing without results.
func table[T any](b *strings.Builder, title, columns string, results []T, cells func(T) []any) {
	if len(results) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s\n", title)
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "  %s\n", strings.ReplaceAll(columns, ", ", "\t"))
	for _, r := range results {
		c := cells(r)
		fmt.Fprintf(w, "  %v"+strings.Repeat("\t%v", len(c)-1)+"\n", c...)
	}
	w.Flush()
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
