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
	system   = regexp.MustCompile(`(_(unix|linux|windows|other|amd64|arm64|asm|noasm|generic|\*))*\.(go|s|h)$`)
)

// A package's doc.go names every file of the package, those of other systems by one of them, and no
// file that there is not. In cmd/tfm it says what all files are.
func TestDocsNameTheFiles(t *testing.T) {
	var docs []string
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == "doc.go" {
			docs = append(docs, file)
		}
		return err
	})
	if err != nil || len(docs) == 0 {
		t.Fatalf("%d doc.go, %v", len(docs), err)
	}
	for _, doc := range docs {
		dir := filepath.Dir(doc)
		text, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		named := map[string]bool{}
		for _, name := range fileName.FindAllString(string(text), -1) {
			named[system.ReplaceAllString(name, "")] = true
			if found, err := filepath.Glob(filepath.Join(dir, name)); err != nil || len(found) == 0 {
				t.Errorf("%s names %s, which is not there", doc, name)
			}
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			name := e.Name()
			other := !fileName.MatchString(name) || name == "doc.go" || strings.HasSuffix(name, "_test.go")
			if !other && !named[system.ReplaceAllString(name, "")] && dir != filepath.Join(root, "cmd", "tfm") {
				t.Errorf("%s does not name %s", doc, name)
			}
		}
	}
}
