package runlog

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// ReadRounds reads the logs in the folder of a training in rounds: those of the workers, and one of
// all, whose steps are the means over the workers and whose validations are those of the merges.
func ReadRounds(dir string) (all *Run, workers []*Run, err error) {
	if all, err = readAll(dir, filepath.Join(dir, FileName), filepath.Join(dir, "round-*", FileName)); err != nil {
		return nil, nil, err
	}
	for {
		run, err := readAll(dir, filepath.Join(dir, "round-*", fmt.Sprintf("worker-%d.jsonl", len(workers))))
		if err != nil {
			return nil, nil, err
		}
		if run == nil {
			break
		}
		workers = append(workers, run)
	}
	all.addMeans(workers)
	return all, workers, nil
}

// readAll reads the log that files of patterns hold one after another, nil without files.
func readAll(name string, patterns ...string) (*Run, error) {
	var parts []io.Reader
	for _, pattern := range patterns {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			return nil, err
		}
		for _, path := range paths { // sorted
			f, err := os.Open(path)
			if err != nil {
				return nil, err
			}
			defer f.Close()
			parts = append(parts, f)
		}
	}
	if parts == nil {
		return nil, nil
	}
	return Read(io.MultiReader(parts...), name)
}

// addMeans adds the steps that workers have, as means, with the time of the rounds so far.
func (r *Run) addMeans(workers []*Run) {
	steps := map[int][]Step{}
	for _, w := range workers {
		for _, s := range w.Steps {
			steps[s.Step] = append(steps[s.Step], s)
		}
	}
	for _, same := range steps {
		mean := Step{Step: same[0].Step, Epoch: same[0].Epoch, Rate: same[0].Rate}
		for _, s := range same {
			mean.Elapsed += s.Elapsed
			mean.Loss += s.Loss
			mean.NLL += s.NLL
			mean.KL += s.KL
			mean.Accuracy += s.Accuracy
			mean.GradNorm += s.GradNorm
			mean.SrcPerSec += s.SrcPerSec // of all together
			mean.TgtPerSec += s.TgtPerSec
		}
		for _, sum := range []*Number{&mean.Elapsed, &mean.Loss, &mean.NLL, &mean.KL, &mean.Accuracy, &mean.GradNorm} {
			*sum /= Number(len(same))
		}
		r.Steps = append(r.Steps, mean)
	}
	slices.SortFunc(r.Steps, func(a, b Step) int { return a.Step - b.Step })
	var before, last Number // the rounds before, and the last step in this one
	for i := range r.Steps {
		s := &r.Steps[i]
		if s.Elapsed < last {
			before += last
		}
		last = s.Elapsed
		s.Elapsed += before
	}
}
