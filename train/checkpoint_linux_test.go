package train

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"tfm/model"
)

// If the disk fills up while a checkpoint is written, the run ends with an error that names the
// last checkpoint, which is valid. The test uses the limit of the file size, which also fails in
// the middle of a write.
func TestFullDisk(t *testing.T) {
	signal.Ignore(syscall.SIGXFSZ) // its default action ends the process
	defer signal.Reset(syscall.SIGXFSZ)
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		t.Skip("needs a limit of file sizes: ", err)
	}
	defer syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old)

	c := smallConfig()
	// The checkpoint is larger than the limit, and the files of go test are smaller.
	c.DFF = 4096
	o := smallOptions(5)
	o.SaveEvery, o.Dir = 1, t.TempDir()
	_, err := Run(context.Background(), newModel(t, c), nil, copyData(), o, func(e Event) {
		if e.Kind == Saved && e.Step == 2 {
			small := syscall.Rlimit{Cur: 1 << 20, Max: old.Max}
			if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &small); err != nil {
				t.Skip("needs a limit of file sizes: ", err)
			}
		}
	})
	syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old)
	wantError(t, err, "saving step 3", "last good checkpoint is "+checkpointPath(o.Dir, 2))
	last, err := Newest(o.Dir)
	if err != nil {
		t.Fatal(err)
	}
	defer last.Close()
	if last.State.Step != 2 {
		t.Errorf("newest checkpoint is of step %d, want 2", last.State.Step)
	}
}

// Reading a checkpoint that was truncated after its verification is an error that names the file.
func TestCheckpointTruncatedWhileOpen(t *testing.T) {
	c := smallConfig()
	c.DFF = 4096 // so that tensors begin after the remaining bytes
	m := newModel(t, c)
	path := checkpointPath(t.TempDir(), 1)
	optimizer := NewAdam(m.Params.Count(), 0.9, 0.98, 1e-9)
	if err := writeCheckpoint(path, model.File{Model: m}, optimizer.Moments(), DefaultOptions(), State{Step: 1}); err != nil {
		t.Fatal(err)
	}
	checkpoint := open(t, path)
	if err := os.Truncate(path, 1<<14); err != nil {
		t.Fatal(err)
	}
	wantError(t, checkpoint.Weights(m.Params), path, "the file ends before its size")
	wantError(t, checkpoint.resume(m.Params, optimizer), path, "the file ends before its size")
	_, err := OpenCheckpoint(path)
	wantError(t, err, path, "truncated")
}
