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

// A pipe as an input, such as <(zcat x.gz), is read once: its translation is never done before.
func TestShardOfAPipe(t *testing.T) {
	m, dir := toyModel(t), t.TempDir()
	pipe, out := filepath.Join(dir, "pipe"), filepath.Join(dir, "out")
	if err := syscall.Mkfifo(pipe, 0o666); err != nil {
		t.Skip(err)
	}
	for _, input := range []string{"the big cat\n", "the old dog\n"} {
		written := make(chan error)
		go func() { written <- os.WriteFile(pipe, []byte(input), 0) }()
		mustRun(t, "", "translate", "-set", "any-bits=true", "-model", m, "-o", out, pipe)
		noError(t, <-written)
		if want := mustRun(t, input, "translate", "-model", m).stdout; read(t, out) != want {
			t.Errorf("%q is %q, want %q", input, read(t, out), want)
		}
		if d := readDone(t, out); d.LinesIn != 1 {
			t.Errorf("%+v, want one line", d)
		}
	}
}
