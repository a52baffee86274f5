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

// allowedImports lists all packages from the lowest to the highest, each with the packages outside
// the standard library that its code, apart from tests, may import.
var allowedImports = []struct{ name, imports string }{
	// Arithmetic. mat can be copied as one folder.
	{"internal/exact", ""},
	{"mat", "golang.org/x/sys/cpu"},
	{"layer", "internal/exact mat"},
	{"attn", "mat layer"},

	// For all packages. lang may be imported by all below it.
	{"lang", ""},
	{"internal/format", ""},
	{"internal/hash", ""},
	{"internal/strict", ""},
	{"internal/yaml", ""},

	// Text. It does not depend on arithmetic.
	{"text/charset", "lang"},
	{"text/internal/xmltext", ""},
	{"text", "text/charset text/internal/xmltext"},
	{"text/tokenizer/internal/merges", ""},
	{"text/internal/parallel", ""},
	{"text/tokenizer/internal/rewrite", ""},
	{"text/tokenizer/internal/tally", ""},
	{"text/tokenizer/internal/varint", ""},
	{"text/align", "text/internal/parallel"},
	{"text/script", ""},
	{"text/augment", "text text/script"},
	{"text/tokenizer/bpe", "text text/tokenizer/internal/merges text/tokenizer/internal/tally text/tokenizer/internal/varint"},
	{"text/internal/words", "internal/hash text/script"},
	{"text/clean", "internal/hash text text/align text/charset internal/exact text/internal/parallel text/internal/words text/script"},
	{"text/holdout", "internal/hash text text/internal/words"},
	{"text/score", "internal/exact text/internal/parallel text/script"},
	{"text/tokenizer/sentencepiece/internal/charsmap", ""},
	{"text/tokenizer/sentencepiece", "text internal/exact text/tokenizer/internal/merges text/tokenizer/internal/rewrite text/tokenizer/sentencepiece/internal/charsmap"},
	{"text/tokenizer/sentencepiece/train", "internal/exact text/internal/parallel text/tokenizer/internal/tally text/tokenizer/sentencepiece text/tokenizer/sentencepiece/internal/charsmap"},
	{"text/split", "text"},
	{"text/detect/profile", ""},
	{"text/detect", "text text/detect/profile text/split"},
	{"tools/languages", "internal/hash text text/detect/profile"},
	{"text/markup", "text text/charset text/script"},
	{"text/document", "text text/charset text/internal/xmltext text/markup text/script text/split"},
	{"text/tokenizer/moses", "text/tokenizer/internal/rewrite"},
	{"text/tokenizer/subword", "text text/tokenizer/internal/merges text/tokenizer/internal/varint text/tokenizer/moses"},
	{"text/tokenizer/vocab", "text text/tokenizer/bpe text/tokenizer/sentencepiece text/tokenizer/subword"},

	// The model and translation. None of them imports train.
	{"model/safetensors", ""},
	{"model/torchfile", "model/safetensors"},
	{"model", "internal/exact mat layer attn model/safetensors internal/strict"},
	{"model/decode", "internal/exact mat layer attn model model/safetensors internal/strict"},
	{"model/convert/internal/parts", "mat layer text text/tokenizer/bpe text/tokenizer/moses text/tokenizer/sentencepiece text/tokenizer/subword text/tokenizer/vocab model model/decode model/safetensors"},
	{"model/convert/hf", "layer text text/tokenizer/bpe text/tokenizer/sentencepiece text/tokenizer/vocab model model/decode model/safetensors model/torchfile model/convert/internal/parts"},
	{"model/convert/marian", "mat text text/tokenizer/moses text/tokenizer/sentencepiece text/tokenizer/vocab internal/yaml model model/decode model/safetensors model/convert/internal/parts"},
	{"model/convert/ctranslate2", "mat layer text text/tokenizer/bpe text/tokenizer/moses text/tokenizer/sentencepiece text/tokenizer/subword text/tokenizer/vocab model model/decode model/safetensors model/convert/internal/parts"},
	{"model/convert/argos", "text/tokenizer/sentencepiece text/tokenizer/vocab model model/decode model/convert/ctranslate2 model/convert/internal/parts"},
	{"model/convert/pytorch", "text text/tokenizer/bpe text/tokenizer/sentencepiece text/tokenizer/vocab model model/decode model/safetensors model/convert/internal/parts"},
	{"model/convert", "model model/torchfile model/convert/hf model/convert/marian model/convert/ctranslate2 model/convert/argos model/convert/pytorch model/convert/internal/parts"},
	{"translate", "internal/exact mat text text/align text/detect text/markup text/script text/split text/tokenizer/vocab model model/decode"},

	// Training.
	{"train/runlog", ""},
	{"train/tensorboard", ""},
	{"train", "internal/exact mat layer text text/score model model/safetensors model/decode train/runlog internal/strict"},
	{"train/corpus", "model text text/augment text/holdout text/script text/split text/tokenizer/vocab train internal/format internal/hash internal/yaml"},

	// Programs around the model.
	{"serve", "text text/detect text/document text/markup text/split model translate"},
	{"report", "train/runlog internal/format"},
	{"digits", "mat layer model train"},
	{"packaging", ""}, // of a release

	// For tests and benchmarks.
	{"internal/layout", ""},
	{"internal/e2e", ""},
	{"internal/texttest", ""},
	{"model/convert/internal/parttest", "text text/tokenizer/sentencepiece text/tokenizer/vocab model model/decode"},
	{"internal/ref", "mat layer attn"},
	{"internal/golden", "mat layer model/safetensors internal/ref"},
	{"internal/bench", "mat model model/decode train internal/format"},

	// The command line. Packages outside cmd do not import these.
	{"cmd/tfm/recipes", ""},
	{"cmd/tfm/internal/release", ""},
	{"cmd/tfm/internal/terminal", "text golang.org/x/sys/unix golang.org/x/sys/windows"},
	{"cmd/tfm/internal/cli", "cmd/tfm/internal/terminal"},
	{"cmd/tfm/internal/grammar", ""},
	{"cmd/tfm/internal/lesson", "mat model model/decode train internal/format cmd/tfm/internal/terminal"},
	{"cmd/tfm/internal/tokenizers", "text text/tokenizer/bpe text/tokenizer/sentencepiece/train text/tokenizer/subword text/tokenizer/vocab model model/safetensors internal/format " +
		"cmd/tfm/internal/cli cmd/tfm/internal/terminal"},
	{"cmd/tfm/internal/settings", "text text/tokenizer/bpe text/score model model/decode train train/corpus internal/format cmd/tfm/recipes cmd/tfm/internal/cli"},
	{"cmd/tfm/internal/scoring", "text text/score internal/format cmd/tfm/internal/terminal cmd/tfm/internal/cli cmd/tfm/internal/settings"},
	{"cmd/tfm/internal/filter", "text text/detect text/markup text/split translate model/safetensors internal/format cmd/tfm/internal/cli cmd/tfm/internal/terminal"},
	{"cmd/tfm/internal/translator", "text text/document text/markup model model/convert model/decode model/safetensors train translate internal/format cmd/tfm/internal/cli cmd/tfm/internal/filter cmd/tfm/internal/settings cmd/tfm/internal/terminal"},
	{"cmd/tfm/internal/distill", "text text/detect text/score model model/safetensors train internal/format cmd/tfm/internal/cli cmd/tfm/internal/filter cmd/tfm/internal/release " +
		"cmd/tfm/internal/settings cmd/tfm/internal/terminal cmd/tfm/internal/translator"},
	{"cmd/tfm/internal/shard", "mat text translate model/safetensors cmd/tfm/internal/cli"},
	{"cmd/tfm/internal/training", "mat layer text text/detect text/script text/score text/tokenizer/vocab model model/decode model/safetensors train train/corpus train/runlog train/tensorboard translate internal/format " +
		"cmd/tfm/internal/cli cmd/tfm/internal/release cmd/tfm/internal/terminal cmd/tfm/internal/tokenizers"},
	{"cmd/tfm", "internal/exact mat layer text text/clean text/detect text/holdout text/markup text/split text/tokenizer/subword text/score text/tokenizer/sentencepiece text/tokenizer/vocab model model/convert model/safetensors model/decode translate serve train train/corpus train/runlog " +
		"report digits cmd/tfm/recipes cmd/tfm/internal/cli cmd/tfm/internal/release cmd/tfm/internal/terminal cmd/tfm/internal/grammar " +
		"cmd/tfm/internal/lesson cmd/tfm/internal/tokenizers cmd/tfm/internal/settings cmd/tfm/internal/distill cmd/tfm/internal/scoring cmd/tfm/internal/translator cmd/tfm/internal/filter cmd/tfm/internal/shard cmd/tfm/internal/training " +
		"internal/format internal/bench"},
}

// root is the path of the module.
const root = "../.."

// imports returns the imports of each package outside the standard library, apart from tests, for
// all build tags.
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
				return nil // a separate program
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
			if strings.HasSuffix(imported, "/template") {
				t.Errorf("%s imports %s, which makes the linker keep all exported methods", name, imported)
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

// allowed returns the table as a map.
func allowed() map[string][]string {
	imports := map[string][]string{}
	for _, p := range allowedImports {
		imports[p.name] = strings.Fields(p.imports)
	}
	return imports
}

// Packages import only what the table allows.
func TestImports(t *testing.T) {
	allowed, found := allowed(), imports(t)
	for name, list := range found {
		if _, ok := allowed[name]; !ok {
			t.Errorf("found package %s, expected only those in allowedImports", name)
			continue
		}
		for _, imported := range list {
			if imported != "lang" && !slices.Contains(allowed[name], imported) {
				t.Errorf("%s imports %s, expected one of %q", name, imported, allowed[name])
			}
		}
	}
	for name := range allowed {
		if _, ok := found[name]; !ok {
			t.Errorf("found no package %s, expected all in allowedImports", name)
		}
	}
}

// Packages import only packages above them in the table.
func TestImportOrder(t *testing.T) {
	above := map[string]bool{}
	for _, p := range allowedImports {
		for _, imported := range strings.Fields(p.imports) {
			if !above[imported] && !strings.HasPrefix(imported, "golang.org/") {
				t.Errorf("%s may import %s, expected packages above it in the table", p.name, imported)
			}
		}
		above[p.name] = true
	}
}

// Some packages must not depend on others, directly or indirectly.
func TestNeverImports(t *testing.T) {
	allowed := allowed()
	var reaches func(from, to string) bool
	reaches = func(from, to string) bool {
		return slices.ContainsFunc(allowed[from], func(next string) bool { return next == to || reaches(next, to) })
	}
	for _, c := range [][2]string{
		// a translator links no training
		{"translate", "train"}, {"translate", "train/runlog"}, {"model/decode", "train"},
		{"text/tokenizer/vocab", "mat"}, {"text/tokenizer/vocab", "model"}, // text does not depend on the model
		{"train/corpus", "translate"}, {"train", "translate"}, // training decodes by model/decode
		{"report", "model"}, // a report needs only a log
	} {
		if reaches(c[0], c[1]) {
			t.Errorf("%s depends on %s", c[0], c[1])
		}
	}
	for _, p := range allowedImports {
		command := strings.HasPrefix(p.name, "cmd/")
		for _, imported := range allowed[p.name] {
			if strings.HasPrefix(imported, "cmd/") && !command {
				t.Errorf("%s may import %s, expected no package of the command", p.name, imported)
			}
		}
		if base := path.Base(p.name); slices.Contains([]string{"util", "utils", "misc", "common", "helpers"}, base) {
			t.Errorf("package %s, expected a name that says what it does", p.name)
		}
	}
}
