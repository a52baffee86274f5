package layout

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// README.md shows how to translate and to train from Go by the examples that go test runs, which
// have few lines.
func TestReadmeShowsTheExamples(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		file, function string
		most           int // lines of its body
	}{
		{"translate/example_test.go", "Sentence", 10},
		{"train/corpus/example_test.go", "Train", 25},
	} {
		source, err := os.ReadFile(filepath.Join(root, x.file))
		if err != nil {
			t.Fatal(err)
		}
		code := regexp.MustCompile(`(?ms)^func ` + x.function + `\(.*?^}\n`).Find(source)
		if code == nil {
			t.Errorf("%s has no function %s", x.file, x.function)
			continue
		}
		if n := strings.Count(string(code), "\n") - 2; n > x.most {
			t.Errorf("%s of %s has %d lines, expected at most %d", x.function, x.file, n, x.most)
		}
		if !strings.Contains(string(readme), string(code)) {
			t.Errorf("README.md does not show %s of %s:\n%s", x.function, x.file, code)
		}
	}
}
