package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"tfm/cmd/tfm/internal/cli"
	"tfm/cmd/tfm/internal/release"
	"tfm/cmd/tfm/internal/terminal"
	"tfm/internal/bench"
	"tfm/layer"
	"tfm/model/decode"
)

func benchCommand(f *cli.Flags) cli.Action {
	var b benchmark
	groups, parts := benchNames()
	f.StringVar(&b.only, "only", "", "`parts` to measure, separated by commas: "+groups+"; or single lines of them: "+parts)
	f.BoolVar(&b.quick, "quick", false, "measure one round, on -threads only")
	f.BoolVar(&b.json, "json", false, "print JSON")
	f.BoolVar(&b.here, "here", false, "measure in this process, on -threads only, for a profiler; peak memory is then of all parts so far")
	cli.ThreadsFlag(f, &b.threads)
	return b.run
}

type benchmark struct {
	only              string
	quick, json, here bool
	threads           int
}

// benchPart is the measurement of one process.
type benchPart struct {
	name, group string
	measure     func(b *benchmark, r *bench.Report) error
}

func benchParts() []benchPart {
	parts := []benchPart{
		{"machine", "machine", func(b *benchmark, r *bench.Report) error {
			r.Limits = append(r.Limits, bench.MeasureLimits(b.threads, b.effort(time.Second), b.quick))
			return nil
		}},
	}
	parts = append(parts, trainingParts(1, bench.Base)...)
	parts = append(parts, trainingParts(4, bench.Tiny)...)
	for _, search := range []struct {
		name string
		beam int
	}{{"greedy", 1}, {"beam4", 4}} {
		for _, batch := range []int{1, 32} {
			for _, weights := range []decode.Form{decode.Float32, decode.Int8} {
				name := fmt.Sprintf("%s-%d", search.name, batch)
				if weights == decode.Int8 {
					name += "-int8"
				}
				parts = append(parts, benchPart{name, "decode", func(b *benchmark, r *bench.Report) error {
					s, err := bench.BaseDecoding(weights, search.beam, batch).Measure(b.threads, b.effort(5*time.Second))
					r.Decoding = append(r.Decoding, s)
					return err
				}})
			}
		}
	}
	return parts
}

// trainingParts returns measurements of rounds of steps, in float32 and, if bf16 is faster on this
// processor, with -bf16.
func trainingParts(steps int, workload func() bench.Training) (parts []benchPart) {
	group := workload().Name
	for _, bf16 := range []bool{false, true} {
		if bf16 && layer.BF16.Kernel() == layer.Float32.Kernel() {
			break
		}
		name := group + "-float32"
		if bf16 {
			name = group + "-bf16"
		}
		parts = append(parts, benchPart{name, group, func(b *benchmark, r *bench.Report) error {
			w := workload()
			w.BF16 = bf16
			s, err := w.Measure(b.threads, steps, b.effort(10*time.Second))
			r.Training = append(r.Training, s)
			return err
		}})
	}
	return parts
}

// benchNames returns the names of the groups, and of their parts, as lists with commas.
func benchNames() (groups, parts string) {
	var inGroups, names []string
	for _, p := range benchParts() {
		inGroups, names = append(inGroups, p.group), append(names, p.name)
	}
	return strings.Join(slices.Compact(inGroups), ", "), strings.Join(names, ", ")
}

// effort returns five rounds within the time limit most, or one round with -quick.
func (b *benchmark) effort(most time.Duration) bench.Effort {
	if b.quick {
		return bench.Effort{Rounds: 1}
	}
	return bench.Effort{Rounds: 5, Time: most}
}

func (b *benchmark) run(ctx context.Context, _ []string) error {
	parts, err := b.chosen()
	if err != nil {
		return err
	}
	report := bench.Report{Version: release.Current().String(), Quick: b.quick, Machine: bench.Describe()}
	progress := terminal.NewProgress(os.Stderr)
	defer progress.Clear()
	threads := []int{1, b.threads}
	if b.quick || b.here || b.threads == 1 {
		threads = threads[1:]
	}
	begun := time.Now()
	for i, p := range parts {
		for j, n := range threads {
			progress.Update(time.Now(), fmt.Sprintf("%d of %d: %s, %d threads, %.0f s so far", i*len(threads)+j+1, len(parts)*len(threads), p.name, n, time.Since(begun).Seconds()))
			if b.here {
				err = p.measure(b, &report)
			} else {
				err = b.inProcess(ctx, p, n, &report)
			}
			if err != nil {
				return err
			}
		}
	}
	progress.Clear()
	if b.json {
		e := json.NewEncoder(os.Stdout)
		e.SetIndent("", "  ")
		return e.Encode(report)
	}
	_, err = os.Stdout.WriteString(report.Text())
	return err
}

// chosen returns the parts of -only.
func (b *benchmark) chosen() (chosen []benchPart, err error) {
	all := benchParts()
	if b.only == "" {
		return all, nil
	}
	names := strings.Split(b.only, ",")
	for _, name := range names {
		if !slices.ContainsFunc(all, func(p benchPart) bool { return name == p.name || name == p.group }) {
			groups, parts := benchNames()
			return nil, cli.Usagef("-only is %q, expected %s; or single lines, %s", name, groups, parts)
		}
	}
	return slices.DeleteFunc(all, func(p benchPart) bool { return !slices.Contains(names, p.name) && !slices.Contains(names, p.group) }), nil
}

// inProcess measures a part in a new process of this program, and adds its report to to.
func (b *benchmark) inProcess(ctx context.Context, p benchPart, threads int, to *bench.Report) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("cannot find the executable to measure each part in its own process (-here needs none): %w", err)
	}
	args := []string{"bench", "-here", "-json", "-only", p.name, "-threads", strconv.Itoa(threads), "-quick=" + strconv.FormatBool(b.quick)}
	out, err := exec.CommandContext(ctx, self, args...).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		message := strings.TrimPrefix(strings.TrimSpace(string(exit.Stderr)), "tfm: ")
		return fmt.Errorf("%s on %d threads: %v: %s", p.name, threads, err, message)
	} else if err != nil {
		return err
	}
	var r bench.Report
	if err := json.Unmarshal(out, &r); err != nil {
		return fmt.Errorf("%s on %d threads: its process wrote no valid report: %w", p.name, threads, err)
	}
	to.Add(r)
	return nil
}
