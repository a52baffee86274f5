package mat

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// vendoringProgram is a program that uses a vendored copy of the folder.
const vendoringProgram = `package main

import (
	"fmt"

	"vendoring/mat"
)

func main() {
	p := mat.NewPool(2)
	defer p.Close()
	a := mat.Of([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	c := mat.New(2, 2)
	mat.Gemm(p, c, a, a.T(), mat.GemmOptions{Bias: []float32{-30, 0}, Activation: mat.ReLU})
	fmt.Println(c.Data)
	mat.Sgemm('N', 'T', 2, 2, 3, 0.5, a.Data, 3, a.Data, 3, 1, c.Data, 2)
	fmt.Println(c.Data)
	fmt.Println(mat.Kernel())
}
`

// The folder alone, copied into an empty module that requires golang.org/x/sys, builds and runs
// offline.
func TestVendoring(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: builds programs")
	}
	goCommand, err := exec.LookPath("go")
	if err != nil {
		t.Skip("needs the go command: ", err)
	}
	// run runs the go command in dir and returns its standard output.
	run := func(dir string, env []string, args ...string) string {
		t.Helper()
		c := exec.Command(goCommand, args...)
		c.Dir = dir
		c.Env = append(append(os.Environ(), "GOPROXY=off", "GOTOOLCHAIN=local", "GOWORK=off", "TFM_CPU="), env...)
		var stdout, stderr strings.Builder
		c.Stdout, c.Stderr = &stdout, &stderr
		if err := c.Run(); err != nil {
			t.Fatalf("%s go %s: %v\n%s%s", strings.Join(env, " "), strings.Join(args, " "), err, &stdout, &stderr)
		}
		return stdout.String()
	}
	if host := strings.TrimSpace(run("", nil, "env", "GOHOSTARCH")); host != runtime.GOARCH {
		t.Skipf("emulation: cannot run programs for %s on %s", runtime.GOARCH, host)
	}

	module := strings.Split(run("", nil, "list", "-f", "{{.Module.Dir}}\n{{.Module.GoVersion}}", "."), "\n")
	sys := strings.TrimSpace(run("", nil, "list", "-m", "-f", "{{.Version}}", "golang.org/x/sys"))
	sums, err := os.ReadFile(filepath.Join(module[0], "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	put := func(name, content string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	put("go.mod", "module vendoring\n\ngo "+module[1]+"\n\nrequire golang.org/x/sys "+sys+"\n")
	put("go.sum", string(sums))
	put("main.go", vendoringProgram)
	err = filepath.WalkDir(".", func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasSuffix(path, "_test.go") {
			return err
		}
		content, err := os.ReadFile(path)
		put(filepath.Join("mat", path), string(content))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}

	const product = "[0 32 2 77]\n[7 48 18 115.5]\n"
	offline := "GOFLAGS=-mod=mod -buildvcs=false"
	got := run(dir, []string{offline}, "run", ".")
	if want := product + supported[0].String() + "\n"; got != want && (supported[0] != generic || !strings.HasPrefix(got, product)) {
		t.Errorf("output %q, want %q", got, want)
	}
	if got, want := run(dir, []string{offline}, "run", "-tags", "purego", "."), product+"generic\n"; got != want {
		t.Errorf("output without assembly %q, want %q", got, want)
	}
	for _, arch := range []string{"amd64", "arm64"} {
		run(dir, []string{offline, "GOARCH=" + arch, "CGO_ENABLED=0"}, "vet", "./...")
	}
}
