package layout

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// mayImport is the layout, from the lowest floor to the highest: every package with those of this
// module, and of others than the standard library, that its code outside of tests may import.
var mayImport = []struct{ name, imports string }{
	// Arithmetic. mat is one folder to copy.
	{"mat", "golang.org/x/sys/cpu"},
	{"layer", "mat"},
	{"attn", "mat layer"},

	// Text. It knows no numbers but token ids.
	{"text", ""},
	{"text/bpe", "text"},
	{"text/score", ""},
	{"text/vocab", "text text/bpe"},

	// What everyone may use.
	{"internal/format", ""},
	{"internal/strict", ""},

	// The model, and translating with it. None of them imports train.
	{"model/safetensors", ""},
	{"model", "mat layer attn model/safetensors internal/strict"},
	{"model/decode", "mat layer attn model"},
	{"translate", "mat text text/vocab model model/decode"},

	// Training it.
	{"train/runlog", ""},
	{"train/tensorboard", ""},
	{"train", "mat layer text text/score model model/safetensors model/decode train/runlog internal/strict"},
	{"train/corpus", "text text/vocab train internal/format"},

	// What is made with it.
	{"report", "train/runlog internal/format"},
	{"digits", "mat layer model train"},

	// For tests and benchmarks.
	{"internal/layout", ""},
	{"docs", ""},
	{"internal/texttest", ""},
	{"internal/golden", "mat layer model/safetensors"},
	{"internal/ref", "mat layer attn"},
	{"internal/bench", "mat model model/decode train internal/format"},

	// The command line. Its packages know no command, and nobody else imports them.
	{"cmd/tfm/recipes", ""},
	{"cmd/tfm/internal/cli", ""},
	{"cmd/tfm/internal/terminal", "golang.org/x/sys/unix golang.org/x/sys/windows"},
	{"cmd/tfm/internal/heatmap", "text cmd/tfm/internal/terminal"},
	{"cmd/tfm/internal/grammar", ""},
	{"cmd/tfm/internal/lesson", "mat model model/decode train internal/format cmd/tfm/internal/terminal"},
	{"cmd/tfm/internal/tokenizers", "text text/bpe text/vocab model internal/format"},
	{"cmd/tfm/internal/settings", "text text/score model model/decode train cmd/tfm/recipes cmd/tfm/internal/cli"},
	{"cmd/tfm/internal/scoring", "text text/score cmd/tfm/internal/cli cmd/tfm/internal/settings"},
	{"cmd/tfm/internal/record", "train train/runlog train/tensorboard cmd/tfm/internal/cli"},
	{"cmd/tfm/internal/training", "mat layer text text/score text/vocab model model/safetensors train train/corpus internal/format " +
		"cmd/tfm/internal/terminal cmd/tfm/internal/tokenizers"},
	{"cmd/tfm", "mat layer text text/bpe text/score text/vocab model model/safetensors model/decode translate train train/corpus train/runlog " +
		"report digits cmd/tfm/recipes cmd/tfm/internal/cli cmd/tfm/internal/terminal cmd/tfm/internal/heatmap cmd/tfm/internal/grammar " +
		"cmd/tfm/internal/lesson cmd/tfm/internal/tokenizers cmd/tfm/internal/settings cmd/tfm/internal/scoring cmd/tfm/internal/record cmd/tfm/internal/training " +
		"internal/format internal/bench"},
}

// root is the module's folder.
const root = "../.."

// imports returns what each package of the module imports outside of tests, with all build tags.
func imports(t *testing.T) map[string][]string {
	found := map[string][]string{}
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		switch name := d.Name(); {
		case err != nil:
			return err
		case d.IsDir() && file != root && (name == "testdata" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly|parser.ParseComments)
		if err != nil {
			return err
		}
		for _, c := range f.Comments {
			if strings.HasPrefix(c.List[0].Text, "//go:build ignore") {
				return nil // a program of its own
			}
		}
		dir, err := filepath.Rel(root, filepath.Dir(file))
		if err != nil {
			return err
		}
		name := filepath.ToSlash(dir)
		found[name] = append(found[name], "")
		for _, spec := range f.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if own, ok := strings.CutPrefix(imported, "tfm/"); ok {
				found[name] = append(found[name], own)
			} else if strings.Contains(strings.Split(imported, "/")[0], ".") {
				found[name] = append(found[name], imported)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, list := range found {
		slices.Sort(list)
		found[name] = slices.DeleteFunc(slices.Compact(list), func(s string) bool { return s == "" })
	}
	return found
}

// A package imports only what the table lets it.
func TestImports(t *testing.T) {
	may := map[string][]string{}
	for _, p := range mayImport {
		may[p.name] = strings.Fields(p.imports)
	}
	found := imports(t)
	for name, list := range found {
		allowed, ok := may[name]
		if !ok {
			t.Errorf("%s is not in the table of the layout", name)
			continue
		}
		for _, imported := range list {
			if !slices.Contains(allowed, imported) {
				t.Errorf("%s imports %s; it may import %q", name, imported, allowed)
			}
		}
	}
	for name := range may {
		if _, ok := found[name]; !ok {
			t.Errorf("%s is in the table of the layout, and there is no such package", name)
		}
	}
}

// The table goes from low to high: a package may import only those above it in the table, so that
// its order can be read as the order of the floors.
func TestFloors(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range mayImport {
		for _, imported := range strings.Fields(p.imports) {
			if !seen[imported] && !strings.HasPrefix(imported, "golang.org/") {
				t.Errorf("%s may import %s, which is not below it", p.name, imported)
			}
		}
		seen[p.name] = true
	}
}

// What must not reach what, through any number of imports.
func TestNeverImports(t *testing.T) {
	may := map[string][]string{}
	for _, p := range mayImport {
		may[p.name] = strings.Fields(p.imports)
	}
	var reaches func(from, to string) bool
	reaches = func(from, to string) bool {
		return slices.ContainsFunc(may[from], func(next string) bool { return next == to || reaches(next, to) })
	}
	for _, c := range [][2]string{
		{"translate", "train"}, {"translate", "train/runlog"}, {"model/decode", "train"}, // translating links no training
		{"text/vocab", "mat"}, {"text/vocab", "model"}, // text knows no model
		{"train/corpus", "translate"}, {"train", "translate"}, // training has a decoder of its own
		{"report", "model"}, // a page is made from a log
	} {
		if reaches(c[0], c[1]) {
			t.Errorf("%s may reach %s", c[0], c[1])
		}
	}
	for _, p := range mayImport {
		inside := strings.HasPrefix(p.name, "cmd/")
		for _, imported := range may[p.name] {
			if strings.HasPrefix(imported, "cmd/") && !inside {
				t.Errorf("%s may import %s, which is the command's own", p.name, imported)
			}
		}
		if base := path.Base(p.name); slices.Contains([]string{"util", "utils", "misc", "common", "helpers"}, base) {
			t.Errorf("%s: the thing has not been named yet", p.name)
		}
	}
}
