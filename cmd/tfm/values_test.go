package main

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// commandLines returns a command line of each command that computes something, whose flags are all
// valid.
func commandLines(t *testing.T) map[string]string {
	dir := t.TempDir()
	src := filepath.Join(dir, "src")
	if err := os.WriteFile(src, []byte("a b\nc d\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	lines := map[string]string{
		"train":       "-src SRC -tgt SRC -o OUT -dump-config",
		"plan":        "-src SRC -tgt SRC -dump-config OUT",
		"work":        "OUT 1 1",
		"merge":       "OUT 1",
		"translate":   "-model MODEL -json SRC",
		"vocab":       "-model-type unigram -o OUT SRC",
		"average":     "-o OUT MODEL MODEL",
		"quantize":    "-o OUT MODEL",
		"distill":     "-teacher MODEL -src SRC -o OUT",
		"shortlist":   "-model MODEL -src SRC -tgt SRC -o OUT",
		"align-heads": "-model MODEL -src SRC -tgt SRC -o OUT",
		"import":      "-o OUT SRC",
		"export":      "-format pytorch -o OUT MODEL",
		"clean":       "-src SRC -tgt SRC -dry-run",
		"hold-out":    "-src SRC -tgt SRC -o OUT",
		"detect":      "SRC",
		"eval":        "-model MODEL -src SRC -ref SRC",
		"score":       "-ref SRC SRC",
		"score-pairs": "-model MODEL -src SRC -tgt SRC",
		"report":      "-run OUT",
		"info":        "MODEL",
		"mnist":       "-data OUT",
	}
	names := strings.NewReplacer("SRC", src, "OUT", filepath.Join(dir, "out"), "MODEL", smallModel(t, 60))
	for name, line := range lines {
		lines[name] = names.Replace(line)
	}
	return lines
}

// A flag answers a wrong value with one line that has its name, the value and the valid ones.
func TestWrongValues(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	lines := commandLines(t)
	tested := 0
	for _, c := range program().Commands {
		f, _ := c.Declare()
		for _, g := range f.All() {
			if f.Set(g.Name, "x") == nil {
				continue // any text
			}
			for _, value := range []string{"x", "", "-1", "1e400", "NaN"} {
				if value == g.DefValue {
					continue
				}
				flag := []string{"-" + g.Name + "=" + value}
				if g.IsSetting() {
					flag = []string{"-set", g.Name + "=" + value}
				}
				args := slices.Concat([]string{c.Name}, flag, strings.Fields(lines[c.Name]))
				for _, name := range g.Needed() {
					if name == "memory" {
						args = append(args, "-memory=values_test.go")
					} else if name == "sample" {
						args = append(args, "-sample")
					}
				}
				stdout, stderr := os.Stdout, os.Stderr
				code, _, printed := runHere(t, ctx, args...)
				os.Stdout, os.Stderr = stdout, stderr
				style := regexp.MustCompile(`^tfm: ` + g.Label() + ` is "?` + regexp.QuoteMeta(value) + `"?, expected [^\n]*\n$`)
				tested++
				if code != 2 || !style.MatchString(printed) {
					t.Errorf("tfm %s: exit code %d, want 2:\n%s", strings.Join(args[:3], " "), code, printed)
				}
			}
		}
	}
	if tested < 1000 {
		t.Errorf("%d values, want those of all flags that are no texts", tested)
	}
}
