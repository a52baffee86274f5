package e2e

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// translate -o writes into a named pipe, line by line.
func TestTranslateIntoAPipe(t *testing.T) {
	m := toyModel(t)
	want := mustRun(t, "the big cat\n", "translate", "-model", m).stdout
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o666); err != nil {
		t.Skip(err)
	}
	read := make(chan string)
	go func() {
		text, _ := os.ReadFile(pipe)
		read <- string(text)
	}()
	mustRun(t, "the big cat\n", "translate", "-model", m, "-o", pipe)
	if got := <-read; got != want {
		t.Errorf("read %q, want %q", got, want)
	}
}
