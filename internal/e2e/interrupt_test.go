//go:build unix

package e2e

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// startTraining starts a training and returns when it has made its first steps. The program is
// called by a name that a shell must quote.
func startTraining(t *testing.T, args []string) (c *exec.Cmd, rest func() string) {
	t.Helper()
	c = tfm(args...)
	name := filepath.Join(t.TempDir(), "another man's tfm")
	noError(t, os.Symlink(c.Path, name))
	c.Path, c.Args[0] = name, name
	stderr, err := c.StderrPipe()
	noError(t, err)
	noError(t, c.Start())
	t.Cleanup(func() { c.Process.Kill() })
	r := bufio.NewReader(stderr)
	for line := ""; !strings.HasPrefix(line, "machine:"); {
		if line, err = r.ReadString('\n'); err != nil {
			c.Wait()
			t.Fatalf("training ended: %q, %v", line, c.ProcessState)
		}
	}
	time.Sleep(150 * time.Millisecond)
	return c, func() string {
		text, err := io.ReadAll(r)
		noError(t, err)
		c.Wait()
		return string(text)
	}
}

// needSignal skips the test if sig is ignored, as SIGHUP is under nohup: the program under test
// inherits that and trains on.
func needSignal(t *testing.T, sig os.Signal) {
	t.Helper()
	if signal.Ignored(sig) {
		t.Skipf("needs %v, which the parent process ignores", sig)
	}
}

func TestSignalsSaveAndResumeContinues(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		t.Run(sig.String(), func(t *testing.T) {
			needSignal(t, sig)
			args, m := trainArgs(t, "-steps", "1000000")
			c, rest := startTraining(t, args)
			c.Process.Signal(sig)
			stderr := rest()
			if code := c.ProcessState.ExitCode(); code != 128+int(sig) {
				t.Errorf("exit code %d, want %d", code, 128+int(sig))
			}
			said := regexp.MustCompile(`interrupted: step ([\d,]+) is saved in (.*); resume with:\n  (.*)\n$`).FindStringSubmatch(stderr)
			if said == nil {
				t.Fatalf("said:\n%s", stderr)
			}
			if _, err := os.Stat(said[2]); err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(m); err == nil {
				t.Error("an interrupted training wrote a model")
			}
			step, err := strconv.Atoi(strings.ReplaceAll(said[1], ",", ""))
			noError(t, err)
			end := strconv.Itoa(step + 5)

			// The command that it named, as a shell takes it, but with an end that
			// comes sooner. The program's name is the one by which it was called.
			if want := `'` + strings.ReplaceAll(c.Args[0], "'", `'\''`) + "' train "; !strings.HasPrefix(said[3], want) {
				t.Errorf("the command is %s, want it to begin with %s", said[3], want)
			}
			sh := exec.Command("sh", "-c", said[3]+" -steps "+end)
			sh.Env = c.Env
			if o := finish(t, sh); o.code != 0 {
				t.Fatalf("%s\n%s", said[3], o.stderr)
			}
			straight, m2 := trainArgs(t, "-steps", end)
			mustRun(t, "", straight...)
			sameFiles(t, m, m2, "a run that was interrupted and resumed gives another model")
		})
	}
}

// A signal while the demo translates ends it as one during its training does: quietly, with the
// signal's exit code.
func TestSignalWhileTheDemoTranslates(t *testing.T) {
	needSignal(t, syscall.SIGINT)
	m := filepath.Join(t.TempDir(), "demo.safetensors")
	c, stderr := tfm("demo", "-steps", "2", "-o", m), new(strings.Builder)
	c.Stderr = stderr
	noError(t, c.Start())
	t.Cleanup(func() { c.Process.Kill() })
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if _, err := os.Stat(m); err == nil { // it is written before the translations
			break
		}
		if time.Now().After(end) {
			t.Fatal("the model is not written")
		}
	}
	c.Process.Signal(syscall.SIGINT)
	c.Wait()
	if code := c.ProcessState.ExitCode(); code != 128+int(syscall.SIGINT) || strings.Contains(stderr.String(), "context canceled") {
		t.Errorf("exit code %d, want %d without a word of a context:\n%s", code, 128+int(syscall.SIGINT), stderr)
	}
}

func TestSecondSignalEndsAtOnce(t *testing.T) {
	needSignal(t, syscall.SIGINT)
	args, _ := trainArgs(t, "-set", "accumulate=20000") // a step that takes longer than the test waits
	c, rest := startTraining(t, args)
	ended := make(chan string)
	go func() { ended <- rest() }()
	c.Process.Signal(syscall.SIGINT)
	select {
	case stderr := <-ended:
		t.Fatalf("the first signal ended the step:\n%s", stderr)
	case <-time.After(300 * time.Millisecond):
	}
	c.Process.Signal(syscall.SIGINT)
	<-ended
	if w := c.ProcessState.Sys().(syscall.WaitStatus); !w.Signaled() || w.Signal() != syscall.SIGINT {
		t.Errorf("ended with %v", c.ProcessState)
	}
}

// A limit on the size of files is a disk that is full at that size.
func TestFullDiskKeepsTheLastCheckpoint(t *testing.T) {
	args, m := trainArgs(t, "-steps", "3")
	mustRun(t, "", args...)
	before := read(t, m)
	dir := strings.TrimSuffix(m, ".safetensors") + ".ckpt"
	limited := func(more ...string) output {
		self := tfm(append(args, more...)...)
		const script = `ulimit -f 8; exec "$0" "$@"` // files of 4 or 8 kB
		sh := exec.Command("sh", append([]string{"-c", script}, self.Args...)...)
		sh.Env = self.Env
		return finish(t, sh)
	}
	o := limited("-resume", "-steps", "6")
	mustFail(t, o, 1, "step-00000006.safetensors", "the last good checkpoint is "+filepath.Join(dir, "step-00000003.safetensors"))
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 2 {
		t.Errorf("%v, %v: expected the good checkpoint and the log alone", entries, err)
	}
	if read(t, m) != before {
		t.Error("the model was touched")
	}

	// Only the model cannot be written: all steps are in the checkpoint.
	o = limited("-resume", "-steps", "3")
	mustFail(t, o, 1, m, "the weights are saved in ", "free some space, then run ", " train ", "-resume")
	if read(t, m) != before {
		t.Error("the model was touched")
	}

	mustRun(t, "", append(args, "-resume", "-steps", "6")...)
	straight, m2 := trainArgs(t, "-steps", "6")
	mustRun(t, "", straight...)
	sameFiles(t, m, m2, "the run that went on after the disk was full gives another model")
}

// A training continues when the reader of its progress has gone.
func TestTrainingOutlivesItsReader(t *testing.T) {
	args, m := trainArgs(t, "-steps", "20")
	r, w, err := os.Pipe()
	noError(t, err)
	r.Close()
	c := tfm(args...)
	c.Stderr = w
	if err := c.Run(); err != nil {
		t.Error(err)
	}
	w.Close()
	if _, err := os.Stat(m); err != nil {
		t.Error(err)
	}
}

// SIGTERM, by which engines move work elsewhere, leaves no file, and asks for another attempt.
func TestTerminatedShard(t *testing.T) {
	needSignal(t, syscall.SIGTERM)
	m, dir := toyModel(t), t.TempDir()
	for sig, code := range map[syscall.Signal]int{syscall.SIGTERM: 75, syscall.SIGINT: 130} {
		needSignal(t, sig)
		var stderr strings.Builder
		c := tfm("translate", "-set", "any-bits=true", "-model", m, "-o", filepath.Join(dir, "out"))
		c.Stderr = &stderr
		stdin, err := c.StdinPipe()
		noError(t, err)
		noError(t, c.Start())
		t.Cleanup(func() { c.Process.Kill() })
		if _, err := io.WriteString(stdin, strings.Repeat("the cat\n", 2000)); err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
			if files, _ := filepath.Glob(filepath.Join(dir, ".*")); len(files) > 0 {
				break // a temporary one
			}
		}
		c.Process.Signal(sig)
		c.Wait()
		if got := c.ProcessState.ExitCode(); got != code {
			t.Errorf("%v: exit code %d, want %d", sig, got, code)
		}
		if !strings.Contains(stderr.String(), "out is not written") {
			t.Errorf("%v: said %q", sig, stderr.String())
		}
		onlyFiles(t, dir)
	}
}
