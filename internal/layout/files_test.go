package layout

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	fileName = regexp.MustCompile(`[\w*]+\.(go|s|h)\b`)
	systems  = regexp.MustCompile(`(_(unix|linux|windows|other|amd64|arm64|asm|noasm|generic|\*))*\.(go|s|h)$`)
)

// doc.go names all files of its package, those of several systems by one of them, and no others. In
// cmd/tfm it describes them together.
func TestDocsNameTheFiles(t *testing.T) {
	var docs []string
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == "doc.go" {
			docs = append(docs, file)
		}
		return err
	})
	if err != nil || len(docs) == 0 {
		t.Fatalf("found %d files doc.go (error %v), expected several", len(docs), err)
	}
	for _, doc := range docs {
		dir := filepath.Dir(doc)
		text, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		named := map[string]bool{}
		for _, name := range fileName.FindAllString(string(text), -1) {
			named[systems.ReplaceAllString(name, "")] = true
			if found, err := filepath.Glob(filepath.Join(dir, name)); err != nil || len(found) == 0 {
				t.Errorf("%s names %s, which does not exist", doc, name)
			}
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			name := e.Name()
			exempt := !fileName.MatchString(name) || name == "doc.go" || strings.HasSuffix(name, "_test.go")
			if !exempt && !named[systems.ReplaceAllString(name, "")] && dir != filepath.Join(root, "cmd", "tfm") {
				t.Errorf("%s does not name %s: add \"%s (what it holds)\" to the list of files in the package comment there", doc, name, name)
			}
		}
	}
}
