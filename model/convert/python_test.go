package convert

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// pythonWith returns the command of a Python interpreter that has modules: that of the environment
// variable TFM_PYTHON, or python3. Without them it skips the test.
func pythonWith(t *testing.T, modules ...string) string {
	t.Helper()
	python := os.Getenv("TFM_PYTHON")
	if python == "" {
		python = "python3"
	}
	if _, err := exec.LookPath(python); err != nil {
		t.Skip("optional: needs Python: ", err)
	}
	list := strings.Join(modules, ", ")
	// Finding a module is faster than importing it.
	find := "import importlib.util as u, sys; sys.exit(any(u.find_spec(m) is None for m in '" + list + "'.split(', ')))"
	c := exec.Command(python, "-c", find)
	c.Dir = t.TempDir() // not this folder, whose ctranslate2 is of Go
	if err := c.Run(); err != nil {
		t.Skipf("optional: needs Python with %s in $TFM_PYTHON or python3", list)
	}
	return python
}

// runPython runs a program with the JSON form of in as its standard input, and decodes its standard
// output into out.
func runPython(t *testing.T, python, program string, in, out any, args ...string) {
	t.Helper()
	data, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(python, append([]string{"-c", program}, args...)...)
	c.Stdin = bytes.NewReader(data)
	c.Dir = t.TempDir()
	c.Env = append(os.Environ(), "PYTHONUTF8=1", "HF_HUB_OFFLINE=1", "TRANSFORMERS_VERBOSITY=error")
	var stderr bytes.Buffer
	c.Stderr = &stderr
	stdout, err := c.Output()
	if err != nil {
		t.Fatalf("python: %v\n%s", err, stderr.String())
	}
	if err := json.Unmarshal(stdout, out); err != nil {
		t.Fatalf("python printed %.200q: %v", stdout, err)
	}
}
