package runlog

import (
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// Worker is the log of a worker of a training in rounds.
type Worker struct {
	Index int // from 0
	Run   *Run
}

// ReadRounds reads the logs in the folder of a training in rounds: those of the workers that have
// some, and one of all, whose steps are the means over the workers and whose validations are those
// of the merges.
func ReadRounds(dir string) (all *Run, workers []Worker, err error) {
	own, err := glob(dir, FileName, "round-*/"+FileName)
	if err != nil {
		return nil, nil, err
	}
	parts, err := glob(dir, "round-*/worker-*.jsonl")
	if err != nil {
		return nil, nil, err
	}
	if own == nil && parts == nil {
		return nil, nil, fmt.Errorf("%s: found no logs of rounds", dir)
	}
	all = &Run{maxSteps: maxSteps}
	if own != nil {
		if all, err = readFiles(dir, own); err != nil {
			return nil, nil, err
		}
	}
	logs := map[int][]string{} // of each worker, by round
	for _, path := range parts {
		var index int
		fmt.Sscanf(filepath.Base(path), "worker-%d.jsonl", &index)
		logs[index] = append(logs[index], path)
	}
	for _, index := range slices.Sorted(maps.Keys(logs)) {
		run, err := readFiles(dir, logs[index])
		if err != nil {
			return nil, nil, err
		}
		workers = append(workers, Worker{index, run})
	}
	all.addMeans(workers)
	return all, workers, nil
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

// readFiles reads the log that files hold one after another.
func readFiles(name string, paths []string) (*Run, error) {
	files := &fileReader{paths: paths}
	defer files.close()
	return Read(files, name)
}

// fileReader reads files one after another. One is open at a time.
type fileReader struct {
	paths []string // not yet opened
	file  *os.File
}

// Read implements io.Reader.
func (r *fileReader) Read(p []byte) (n int, err error) {
	for {
		if r.file == nil {
			if len(r.paths) == 0 {
				return 0, io.EOF
			}
			if r.file, err = os.Open(r.paths[0]); err != nil {
				return 0, err
			}
			r.paths = r.paths[1:]
		}
		if n, err = r.file.Read(p); err != io.EOF {
			return n, err
		}
		r.close()
	}
}

func (r *fileReader) close() {
	if r.file != nil {
		r.file.Close()
		r.file = nil
	}
}

// addMeans adds the steps that workers have, as means, with the time of the rounds so far.
func (r *Run) addMeans(workers []Worker) {
	steps := map[int][]Step{}
	for _, w := range workers {
		for _, s := range w.Run.Steps {
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
