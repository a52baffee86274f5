package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tfm/cmd/tfm/internal/cli"
)

// runHere runs a command line in this process, and returns its exit code and what it wrote.
func runHere(t *testing.T, ctx context.Context, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	dir := t.TempDir()
	output := func(standard **os.File, name string) *os.File {
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		saved := *standard
		*standard = f
		t.Cleanup(func() { *standard = saved; f.Close() })
		return f
	}
	out, errors := output(&os.Stdout, "stdout"), output(&os.Stderr, "stderr")
	code = program().Run(ctx, args)
	return code, read(t, out.Name()), read(t, errors.Name())
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// Every file is a subcommand and is named for it, so that each can be read alone; all else is in
// packages.
func TestAFileIsASubcommand(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"main", "doc"}
	for _, c := range program().Commands {
		names = append(names, strings.ReplaceAll(c.Name, "-", "_"))
	}
	for _, file := range files {
		if name := strings.TrimSuffix(file, ".go"); !strings.HasSuffix(name, "_test") && !slices.Contains(names, name) {
			t.Errorf("%s: there is no subcommand %s", file, name)
		}
	}
}

// Each completion of a value is one that the flag accepts.
func TestChoices(t *testing.T) {
	choices := 0
	for _, c := range program().Commands {
		f := cli.NewFlags()
		c.Setup(f)
		for _, g := range f.All() {
			_, completions, _ := runHere(t, t.Context(), "completion", "-words", "--", c.Name, "-"+g.Name+"=")
			for _, value := range strings.Fields(completions) {
				value, isValue := strings.CutPrefix(value, "-"+g.Name+"=")
				if !isValue { // :files
					continue
				}
				choices++
				if err := f.Set(g.Name, value); err != nil {
					t.Errorf("tfm %s -%s %s: %v", c.Name, g.Name, value, err)
				}
			}
		}
	}
	if choices < 100 {
		t.Errorf("%d choices, want at least 100", choices)
	}
}
