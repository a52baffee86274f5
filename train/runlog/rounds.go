package runlog

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// ReadRounds reads the logs in the folder of a training in rounds: the steps are the means over the
// workers that have logs, the validations those of the merges.
func ReadRounds(dir string) (*Run, error) {
	own, err := glob(dir, FileName, "round-*/"+FileName)
	if err != nil {
		return nil, err
	}
	parts, err := glob(dir, "round-*/worker-*.jsonl")
	if err != nil {
		return nil, err
	}
	if own == nil && parts == nil {
		return nil, fmt.Errorf("%s: found no logs of rounds", dir)
	}
	all, err := readFiles(own)
	if err != nil {
		return nil, err
	}
	steps := map[int][]Step{}
	for _, path := range parts {
		part, err := readFiles([]string{path})
		if err != nil {
			return nil, err
		}
		for _, s := range part.Steps {
			steps[s.Step] = append(steps[s.Step], s)
		}
	}
	all.addMeans(steps)
	return all, nil
}

// glob returns the files in a folder that match the patterns, sorted for each.
func glob(dir string, patterns ...string) (paths []string, err error) {
	for _, pattern := range patterns {
		found, err := fs.Glob(os.DirFS(dir), pattern)
		if err != nil {
			return nil, err
		}
		for _, name := range found {
			paths = append(paths, filepath.Join(dir, name))
		}
	}
	return paths, nil
}

// readFiles reads the log that files hold one after another. One is open at a time.
func readFiles(paths []string) (*Run, error) {
	run := new(Run)
	for _, path := range paths {
		f, err := os.Open(path)
		if err == nil {
			err = run.read(f, path)
			f.Close()
		}
		if err != nil {
			return nil, err
		}
	}
	return run, nil
}

// addMeans adds the means of the workers' steps, by their numbers, with the time of the rounds so
// far.
func (r *Run) addMeans(steps map[int][]Step) {
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
