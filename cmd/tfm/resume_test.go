package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"tfm/cmd/tfm/internal/cli"
)

// smallTraining is the command line of a training of a corpus and a model that are as small as can
// be. It ends with the model file.
func smallTraining(t *testing.T) (args []string) {
	t.Helper()
	dir := t.TempDir()
	src, tgt := filepath.Join(dir, "src"), filepath.Join(dir, "tgt")
	for path, line := range map[string]string{src: "a small dog\n", tgt: "ein kleiner Hund\n"} {
		if err := os.WriteFile(path, []byte(strings.Repeat(line, 20)), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return []string{"train", "-src", src, "-tgt", tgt, "-preset", "demo", "-set", "d-model=16", "-set", "heads=2", "-set", "d-ff=16", "-vocab-size", "300",
		"-batch-tokens", "300", "-max-len", "40", "-valid-every", "0", "-save-every", "0", "-o", filepath.Join(dir, "m.safetensors")}
}

// smallModel returns the file of a model that was trained for a number of steps.
func smallModel(t *testing.T, steps int) string {
	t.Helper()
	args := smallTraining(t)
	if code, _, stderr := runHere(t, t.Context(), append(args, "-steps", fmt.Sprint(steps))...); code != 0 {
		t.Fatalf("exit code %d:\n%s", code, stderr)
	}
	return args[len(args)-1]
}

// A run that is resumed and interrupted while it still reads the corpora has its checkpoint from
// before, and says so.
func TestInterruptedWhileAResumedRunReads(t *testing.T) {
	args := smallTraining(t)
	out := args[len(args)-1]
	args = append(args, "-steps", "3", "-set", "beta2=0.99")
	if code, _, stderr := runHere(t, t.Context(), args...); code != 0 {
		t.Fatalf("exit code %d:\n%s", code, stderr)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	// As the signal does, but at a moment that is the same each time.
	cancel(cli.InterruptError{Signal: syscall.SIGTERM})
	code, _, stderr := runHere(t, ctx, append(args, "-resume")...)
	if want := 128 + int(syscall.SIGTERM); code != want {
		t.Errorf("exit code %d, want %d", code, want)
	}
	for _, want := range []string{"interrupted: step 3 is saved in " + filepath.Join(strings.TrimSuffix(out, ".safetensors")+".ckpt", "step-00000003.safetensors") + "; resume with:\n", " -set beta2=0.99 ", "-resume\n"} {
		if !strings.Contains(stderr, want) {
			t.Errorf("it does not say %q:\n%s", want, stderr)
		}
	}
	if _, _, stderr = runHere(t, ctx, smallTraining(t)...); !strings.Contains(stderr, "nothing is saved") {
		t.Errorf("a new run does not say that nothing is saved:\n%s", stderr)
	}
}
