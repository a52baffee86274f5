package train

import (
	"context"
	"os/signal"
	"syscall"
	"testing"
)

// A disk that fills up while a checkpoint is written: here the limit on the size of a file, which fails in the
// middle of a write as well. The run ends with an error that names what is left, and what is left is whole.
func TestFullDisk(t *testing.T) {
	signal.Ignore(syscall.SIGXFSZ) // or the kernel ends the process
	defer signal.Reset(syscall.SIGXFSZ)
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		t.Skip("no limit on file sizes here:", err)
	}
	defer syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old)

	c := smallConfig()
	c.DFF = 4096 // for a checkpoint that is larger than the limit, which is larger than what go test notes down meanwhile
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
	wantError(t, err, "step 3 could not be saved", "last good checkpoint is "+checkpointPath(o.Dir, 2))
	last, err := Newest(o.Dir)
	if err != nil {
		t.Fatal(err)
	}
	defer last.Close()
	if last.State.Step != 2 {
		t.Errorf("the newest checkpoint is of step %d, want 2", last.State.Step)
	}
}
