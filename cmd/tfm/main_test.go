package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// The tests run the binary as a user does. It is the test binary itself, which is tfm when this
// variable is set: so it has the build tags, the race detector and the architecture of the test.
const asProgram = "TFM_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	if err := tfm("version").Run(); errors.Is(err, syscall.ENOEXEC) {
		fmt.Println("skipped: an emulated test cannot start programs of its architecture")
		os.Exit(0)
	}
	code := m.Run()
	if toy.dir != "" {
		os.RemoveAll(toy.dir)
	}
	os.Exit(code)
}

func tfm(args ...string) *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	c := exec.Command(self, args...)
	// Without atexit_sleep_ms=0 each program waits a second at its end for late races.
	c.Env = append(os.Environ(), asProgram+"=1", "GORACE=atexit_sleep_ms=0")
	return c
}

// output holds the results of a run of the binary.
type output struct {
	stdout, stderr string
	code           int // -1 if a signal ended it
}

func finish(t *testing.T, c *exec.Cmd) output {
	t.Helper()
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	if err := c.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatal(err)
	}
	return output{stdout.String(), stderr.String(), c.ProcessState.ExitCode()}
}

// runTFM runs tfm with a text as standard input.
func runTFM(t *testing.T, input string, args ...string) output {
	t.Helper()
	c := tfm(args...)
	c.Stdin = strings.NewReader(input)
	return finish(t, c)
}

// mustRun runs tfm, which must not fail, and returns what it wrote.
func mustRun(t *testing.T, input string, args ...string) output {
	t.Helper()
	o := runTFM(t, input, args...)
	if o.code != 0 {
		t.Fatalf("tfm %s: exit code %d\n%s", strings.Join(args, " "), o.code, o.stderr)
	}
	return o
}

// mustFail runs tfm, which must exit with a code and end its standard error with one line that
// holds all of wants; in front of it there may be progress.
func mustFail(t *testing.T, o output, code int, wants ...string) {
	t.Helper()
	lines := strings.Split(strings.TrimRight(o.stderr, "\n"), "\n")
	last := lines[len(lines)-1]
	if o.code != code || !strings.HasPrefix(last, "tfm: ") || !strings.HasSuffix(o.stderr, "\n") {
		t.Errorf("exit code %d, want %d with a line 'tfm: …':\n%s", o.code, code, o.stderr)
	}
	if strings.Contains(o.stderr, "goroutine ") {
		t.Errorf("a panic:\n%s", o.stderr)
	}
	for _, want := range wants {
		if !strings.Contains(last, want) {
			t.Errorf("the message has no %q:\n%s", want, last)
		}
	}
}

// write writes a file of the test's own and returns its path.
func write(t *testing.T, name string, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
