package e2e

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// binaryPath is the tfm that the tests run: the file that the environment variable TFM_TEST_BINARY
// names, or one that TestMain builds like the test, with its build tags and race detector.
var binaryPath string

// program returns the path of the tfm that the tests run. go test caches a result until a file
// changes that a test, after TestMain, has opened: the first call opens the folders of the module,
// so that the source of the binary is among them.
func program() string {
	openModule()
	return binaryPath
}

var openModule = sync.OnceFunc(func() {
	const root = "../.."
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && path != root && d.IsDir() && strings.HasPrefix(d.Name(), ".") {
			return fs.SkipDir
		}
		return err
	})
	if err != nil && os.Getenv("TFM_TEST_BINARY") == "" {
		panic(err)
	}
})

// raceDetector reports whether the test, and with it the program, has the race detector.
var raceDetector = buildSetting("-race") == "true"

func TestMain(m *testing.M) {
	if tfm := os.Getenv(asShortened); tfm != "" {
		os.Exit(runShortened(tfm, os.Args[1:]))
	}
	dir, err := os.MkdirTemp("", "tfm-e2e-*")
	if err == nil {
		binaryPath, err = build(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := 0
	if err := command(binaryPath, "version").Run(); errors.Is(err, syscall.ENOEXEC) {
		fmt.Println("skipped: an emulated test cannot start programs of its architecture")
	} else {
		code = m.Run()
	}
	os.RemoveAll(dir)
	if toy.dir != "" {
		os.RemoveAll(toy.dir)
	}
	os.Exit(code)
}

// build builds the binary in dir, unless TFM_TEST_BINARY names one, and returns its path.
func build(dir string) (path string, err error) {
	if path := os.Getenv("TFM_TEST_BINARY"); path != "" {
		return filepath.Abs(path)
	}
	path = filepath.Join(dir, "tfm")
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	args := []string{"build", "-ldflags=-s -w", "-tags=" + buildSetting("-tags"), "-o", path}
	if raceDetector {
		args = append(args, "-race")
	}
	c := exec.Command("go", append(args, "tfm/cmd/tfm")...)
	c.Env = append(os.Environ(), "GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH)
	if out, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%v: %w\n%s", c, err, out)
	}
	return path, nil
}

// buildSetting returns a setting of the build of the test, such as -tags.
func buildSetting(key string) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == key {
				return s.Value
			}
		}
	}
	return ""
}

func tfm(args ...string) *exec.Cmd { return command(program(), args...) }

func command(path string, args ...string) *exec.Cmd {
	c := exec.Command(path, args...)
	// Without atexit_sleep_ms=0 each program waits a second at its end for late races.
	c.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0")
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
	mustHave(t, last, wants...)
}

// mustHave checks that an output or a page has all of wants.
func mustHave(t *testing.T, text string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%.5000s", want, text)
		}
	}
}

// sameFiles reports a fault if two files have different contents.
func sameFiles(t *testing.T, path, other, fault string) {
	t.Helper()
	if read(t, path) != read(t, other) {
		t.Error(fault)
	}
}

// write writes a file of the test's own and returns its path.
func write(t *testing.T, name string, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	noError(t, os.WriteFile(path, []byte(content), 0o666))
	return path
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	noError(t, err)
	return string(data)
}

// noError ends the test with an error.
func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// packed returns a gzipped text.
func packed(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, text)
	z.Close()
	return b.String()
}
