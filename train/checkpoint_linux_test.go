package train

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"tfm/model"
)

// A disk that fills up while a checkpoint is written: here the limit on the size of a file, which
// fails in the middle of a write as well. The run ends with an error that names what is left, and
// what is left is whole.
func TestFullDisk(t *testing.T) {
	signal.Ignore(syscall.SIGXFSZ) // or the kernel ends the process
	defer signal.Reset(syscall.SIGXFSZ)
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		t.Skip("no limit on file sizes here:", err)
	}
	defer syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old)

	c := smallConfig()
	// The checkpoint is larger than the limit, which is larger than what go test writes meanwhile.
	c.DFF = 4096
	o := smallOptions(5)
	o.SaveEvery, o.Dir = 1, t.TempDir()
	_, err := Run(context.Background(), newModel(t, c), nil, copyData(), o, func(e Event) {
		if e.Kind == Saved && e.Step == 2 {
			small := syscall.Rlimit{Cur: 1 << 20, Max: old.Max}
			if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &small); err != nil {
				t.Skip("no limit on file sizes here:", err)
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
		t.Errorf("the newest checkpoint is of step %d, want 2", last.State.Step)
	}
}

// A checkpoint that somebody truncates between its verification and the reading of its weights is
// an error that names it.
func TestCheckpointTruncatedWhileOpen(t *testing.T) {
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(interface{ Addr() uintptr }); ok {
				panic(r)
			}
			t.Skip("this machine reports a fault without its address: ", r) // qemu-user for arm64
		}
	}()
	c := smallConfig()
	c.DFF = 4096 // so that tensors begin behind the page that is left
	m := newModel(t, c)
	path := checkpointPath(t.TempDir(), 1)
	optimizer := NewAdam(m.Params.Count(), 0.9, 0.98, 1e-9)
	if err := writeCheckpoint(path, model.File{Model: m}, optimizer, DefaultOptions(), State{Step: 1}); err != nil {
		t.Fatal(err)
	}
	checkpoint := open(t, path)
	if err := os.Truncate(path, 1<<14); err != nil {
		t.Fatal(err)
	}
	wantError(t, checkpoint.Weights(m.Params), path, "reading the mapped file failed")
	wantError(t, checkpoint.resume(m.Params, optimizer), path, "reading the mapped file failed")
	_, err := OpenCheckpoint(path)
	wantError(t, err, path, "truncated")
}
