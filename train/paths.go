package train

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"tfm/train/runlog"
)

const checkpointSuffix = ".safetensors"

// checkpointPath returns the path of the checkpoint of a step.
func checkpointPath(dir string, step int) string {
	return filepath.Join(dir, fmt.Sprintf("step-%08d%s", step, checkpointSuffix))
}

// Checkpoints returns the paths of the checkpoints in a folder by name, the oldest first. A missing
// folder has none.
func Checkpoints(dir string) ([]string, error) {
	steps, err := checkpointSteps(dir)
	paths := make([]string, len(steps))
	for i, step := range steps {
		paths[i] = checkpointPath(dir, step)
	}
	return paths, err
}

// checkpointSteps returns the steps of a folder's checkpoints in ascending order.
func checkpointSteps(dir string) ([]int, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	var steps []int
	for _, e := range entries {
		var step int
		fmt.Sscanf(e.Name(), "step-%d", &step) // 0 for another name
		if step >= 0 && filepath.Join(dir, e.Name()) == checkpointPath(dir, step) {
			steps = append(steps, step)
		}
	}
	slices.Sort(steps)
	return steps, nil
}

// roundDir returns the folder of the files of a round, from 1.
func (o Options) roundDir(round int) string {
	return filepath.Join(o.Dir, fmt.Sprintf("round-%04d", round))
}

// OuterPath returns the file that a round begins with: a checkpoint of the means of the workers'
// weights and moments. That of round Rounds+1 has the last weights.
func (o Options) OuterPath(round int) string {
	return filepath.Join(o.roundDir(round), "outer"+checkpointSuffix)
}

// WorkerPath returns the file that a worker writes in a round: a checkpoint of its run.
func (o Options) WorkerPath(round, worker int) string {
	return filepath.Join(o.roundDir(round), fmt.Sprintf("worker-%d%s", worker, checkpointSuffix))
}

// OuterLog returns the file of the log, of package runlog, of the merge that wrote the weights of
// OuterPath, and WorkerLog that of a worker.
func (o Options) OuterLog(round int) string { return filepath.Join(o.roundDir(round), runlog.FileName) }

// WorkerLog is described at OuterLog.
func (o Options) WorkerLog(round, worker int) string {
	return filepath.Join(o.roundDir(round), fmt.Sprintf("worker-%d.jsonl", worker))
}

// checkpointPath returns the path of the checkpoint of a step; in rounds, of a whole number.
func (o Options) checkpointPath(step int) string {
	if o.Rounds.Workers > 0 {
		return o.OuterPath(step/o.Rounds.LocalSteps + 1)
	}
	return checkpointPath(o.Dir, step)
}

// checkpointSteps returns the steps of the checkpoints of a run, without the initial weights.
func (o Options) checkpointSteps() ([]int, error) {
	if o.Rounds.Workers == 0 {
		return checkpointSteps(o.Dir)
	}
	var steps []int
	for round := range o.Rounds.Rounds {
		found, err := exists(o.OuterPath(round + 2))
		if err != nil {
			return nil, err
		}
		if found {
			steps = append(steps, (round+1)*o.Rounds.LocalSteps)
		}
	}
	return steps, nil
}

// MergeDone reports whether a round is merged. Its own weights may have been removed since.
func MergeDone(o Options, round int) bool {
	for later := round + 1; later <= o.Rounds.Rounds+1; later++ {
		if found, _ := exists(o.OuterPath(later)); found { // an attempt to make it reports an error
			return true
		}
	}
	return false
}

// exists reports whether a file is there. Files of a round are whole when they are. One that cannot
// be examined, for lack of permission or by a fault of the disk, is an error.
func exists(path string) (bool, error) {
	_, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// periodic returns the steps that are multiples of SaveEvery, but not 0. Only these and the last
// step are averaged, so that an interrupted run, which saves at other steps too, ends in the same
// weights.
func (o Options) periodic(steps []int) (periodic []int) {
	for _, step := range steps {
		if o.SaveEvery > 0 && step > 0 && step%o.SaveEvery == 0 {
			periodic = append(periodic, step)
		}
	}
	return periodic
}

// newest returns the last n of steps.
func newest(steps []int, n int) []int { return steps[max(0, len(steps)-n):] }
