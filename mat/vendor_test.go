package mat

import (
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// documentedProgram returns the program at the top of doc.go, with the path of the copy, and the
// output that its last comment states.
func documentedProgram(t *testing.T) (program, output string) {
	t.Helper()
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut(string(doc), "//\n//\tpackage main\n")
	if !found {
		t.Fatal("doc.go does not begin with a program")
	}
	program = "package main\n"
	for _, line := range strings.Split(after, "\n") {
		if code, ok := strings.CutPrefix(line, "//\t"); ok {
			program += code + "\n"
		} else if line == "//" {
			program += "\n"
		} else {
			break
		}
	}
	_, output, _ = strings.Cut(program, "fmt.Println(c.Row(0), c.Row(1)) // ")
	output, _, _ = strings.Cut(output, "\n")
	return strings.ReplaceAll(program, `"tfm/mat"`, `"vendoring/mat"`), output + "\n"
}

// vendoringProgram uses what the documented program does not: both forms of transposes of the BLAS,
// rows that are apart, and the name of the kernels.
const vendoringProgram = `package main

import (
	"fmt"

	"vendoring/mat"
)

func main() {
	data := []float32{1, 2, 3, 9, 4, 5, 6}
	a := mat.Matrix{Data: data, Rows: 2, Cols: 3, RowStride: 4, ColStride: 1}
	c := mat.New(2, 2)
	mat.Gemm(mat.DefaultPool(), c, a, a.T(), mat.GemmOptions{Bias: []float32{-30, 0}, Activation: mat.ReLU})
	fmt.Println(c.Data)
	mat.Sgemm('N', 'T', 2, 2, 3, 0.5, data, 4, data, 4, 1, c.Data, 2)
	fmt.Println(c.Data)
	fmt.Println(mat.Kernel())
}
`

// The versions of Go that doc.go states. go vet rejects code that needs a later one.
const (
	codeVersion  = "1.22"
	testsVersion = "1.24"
)

// checkTypes checks the code of a folder for an architecture, with the version of Go that doc.go
// states. exports lists the imported packages, as compiled for this machine: a path and a file in
// each line. To vet for another architecture the go command would compile the standard library.
func checkTypes(t *testing.T, dir, arch, exports string) {
	t.Helper()
	files := map[string]string{}
	for line := range strings.Lines(exports) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		files[path] = file
	}
	context := build.Default
	context.GOARCH = arch
	folder, err := context.ImportDir(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	set := token.NewFileSet()
	var parsed []*ast.File
	for _, name := range folder.GoFiles {
		file, err := parser.ParseFile(set, filepath.Join(dir, name), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, file)
	}
	imports := importer.ForCompiler(set, "gc", func(path string) (io.ReadCloser, error) { return os.Open(files[path]) })
	config := types.Config{GoVersion: "go" + codeVersion, Importer: imports, Sizes: types.SizesFor("gc", arch)}
	if _, err := config.Check("vendoring/mat", set, parsed, nil); err != nil {
		t.Errorf("%s: %v", arch, err)
	}
}

// The folder alone, copied into an empty module that requires golang.org/x/sys, builds and runs
// offline, with the versions of Go that doc.go states.
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
		c.Env = append(append(os.Environ(), "GOPROXY=off", "GOTOOLCHAIN=local", "GOWORK=off", "MAT_KERNEL=", "TFM_CPU="), env...)
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

	module := strings.Split(run("", nil, "list", "-f", "{{.Module.Dir}}", "."), "\n")
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
	setVersion := func(version string) {
		put("go.mod", "module vendoring\n\ngo "+version+"\n\nrequire golang.org/x/sys "+sys+"\n")
	}
	// copyFiles copies the files of the folder with or without tests, and not peers.
	copyFiles := func(tests bool) {
		entries, err := os.ReadDir(".")
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if e.IsDir() || strings.HasSuffix(e.Name(), "_test.go") != tests {
				continue
			}
			content, err := os.ReadFile(e.Name())
			if err != nil {
				t.Fatal(err)
			}
			text := string(content)
			if e.Name() == "example_test.go" {
				text = strings.ReplaceAll(text, `"tfm/mat"`, `"vendoring/mat"`)
			}
			put(filepath.Join("mat", e.Name()), text)
		}
	}
	doc, err := os.ReadFile("doc.go")
	if want := "Its code needs Go " + codeVersion + ",\n// its tests Go " + testsVersion + "."; err != nil || !strings.Contains(string(doc), want) {
		t.Errorf("doc.go does not contain %q (error %v)", want, err)
	}
	setVersion(codeVersion)
	put("go.sum", string(sums))
	documented, documentedOutput := documentedProgram(t)
	put("main.go", vendoringProgram)
	put("first/main.go", documented)
	copyFiles(false)

	const product = "[0 32 2 77]\n[7 48 18 115.5]\n"
	offline := "GOFLAGS=-mod=mod -buildvcs=false"
	got := run(dir, []string{offline}, "run", ".")
	if want := product + supported[0].String() + "\n"; got != want && (supported[0] != generic || !strings.HasPrefix(got, product)) {
		t.Errorf("output %q, want %q", got, want)
	}
	if got, want := run(dir, []string{offline}, "run", "-tags", "purego", "."), product+"generic\n"; got != want {
		t.Errorf("output without assembly %q, want %q", got, want)
	}
	run(dir, []string{offline}, "vet", "./...")
	exports := run(dir, []string{offline}, "list", "-deps", "-export", "-f", "{{.ImportPath}} {{.Export}}", "./mat")
	for _, arch := range []string{"amd64", "arm64"} {
		checkTypes(t, filepath.Join(dir, "mat"), arch, exports)
	}
	if got := run(dir, []string{offline}, "run", "./first"); got != documentedOutput {
		t.Errorf("output of the program in doc.go %q, want %q", got, documentedOutput)
	}
	setVersion(testsVersion)
	copyFiles(true)
	run(dir, []string{offline}, "vet", "./...")
}
