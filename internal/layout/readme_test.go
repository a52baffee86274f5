package layout

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// maxLines limits the lines of documents, maxDocumentColumns the characters of a line.
var maxLines = map[string]int{"README.md": 160, "README.zh.md": 160, "BENCHMARKS.md": 400}

const maxDocumentColumns = 120

func readFile(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// README.md shows how to translate from Go, and go doc ./train/corpus how to train, by examples
// that go test runs.
func TestExamplesAreShown(t *testing.T) {
	for _, x := range []struct {
		file, function string
		maxLines       int // of its body
		documents      []string
	}{
		{"translate/example_test.go", "Sentences", 10, []string{"README.md"}},
		{"train/corpus/example_test.go", "Train", 26, []string{"train/corpus/doc.go"}},
	} {
		code := regexp.MustCompile(`(?ms)^func ` + x.function + `\(.*?^}\n`).FindString(readFile(t, x.file))
		if code == "" {
			t.Errorf("%s has no function %s", x.file, x.function)
			continue
		}
		if n := strings.Count(code, "\n") - 2; n > x.maxLines {
			t.Errorf("%s of %s has %d lines, want at most %d", x.function, x.file, n, x.maxLines)
		}
		for _, document := range x.documents {
			shown := strings.ReplaceAll(readFile(t, document), "\n//\t", "\n")
			if !strings.Contains(shown, code) {
				t.Errorf("%s does not show %s of %s:\n%s", document, x.function, x.file, code)
			}
		}
	}
}

// documents returns the names of all documents.
func documents(t *testing.T) []string {
	names := []string{"README.md", "README.zh.md", "CONTRIBUTING.md", "BENCHMARKS.md", "mat/README.md", "model/README.md", "train/runlog/README.md"}
	files, err := fs.Glob(os.DirFS(root), "docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	return append(names, files...)
}

// Documents fit a page, except for the table of model/README.md, whose cells are lists of links.
func TestDocumentsAreShort(t *testing.T) {
	for _, document := range documents(t) {
		lines := strings.Split(strings.TrimSuffix(readFile(t, document), "\n"), "\n")
		if most := maxLines[document]; most > 0 && len(lines) > most {
			t.Errorf("%s has %d lines, want at most %d", document, len(lines), most)
		}
		for i, line := range lines {
			n := len([]rune(line))
			if n > maxDocumentColumns && !(document == "model/README.md" && strings.HasPrefix(line, "| ")) {
				t.Errorf("%s:%d: %d columns, want at most %d", document, i+1, n, maxDocumentColumns)
			}
		}
	}
}

var (
	markdownLink    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	markdownHeading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	notInAnchor     = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// Relative links of the documents lead to files and headings that exist.
func TestLinks(t *testing.T) {
	for _, document := range documents(t) {
		for _, m := range markdownLink.FindAllStringSubmatch(readFile(t, document), -1) {
			link := m[1]
			if strings.Contains(link, "://") {
				continue
			}
			file, anchor, _ := strings.Cut(link, "#")
			target := filepath.ToSlash(filepath.Join(filepath.Dir(document), file))
			if file == "" {
				target = document
			}
			if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(target))); err != nil {
				t.Errorf("%s: link %s: %v", document, link, err)
				continue
			}
			if anchor != "" && strings.HasSuffix(target, ".md") && !hasHeading(readFile(t, target), anchor) {
				t.Errorf("%s: link %s: %s has no such heading", document, link, target)
			}
		}
	}
}

// hasHeading reports whether a Markdown text has a heading with an anchor.
func hasHeading(text, anchor string) bool {
	for _, m := range markdownHeading.FindAllStringSubmatch(text, -1) {
		s := notInAnchor.ReplaceAllString(strings.ToLower(m[1]), "")
		if strings.ReplaceAll(s, " ", "-") == anchor {
			return true
		}
	}
	return false
}

// The tables of docs/code.md name functions and methods that their files declare.
func TestCodeTables(t *testing.T) {
	const document = "docs/code.md"
	row := regexp.MustCompile(`(?m)^\| \[[^]]*\]\(([^)]+\.go)\) \| ([^|]*) \|`)
	rows := row.FindAllStringSubmatch(readFile(t, document), -1)
	if len(rows) < 20 {
		t.Errorf("%s: found %d rows with a file and functions, want at least 20", document, len(rows))
	}
	for _, r := range rows {
		file := filepath.Join(root, "docs", filepath.FromSlash(r[1]))
		declared := functions(t, file)
		for _, name := range regexp.MustCompile("`[^`]+`").FindAllString(r[2], -1) {
			if !declared[strings.Trim(name, "`")] {
				t.Errorf("%s: %s declares no function %s", document, r[1], name)
			}
		}
	}
}

// functions returns the names of a file's functions and methods, such as F and T.M.
func functions(t *testing.T, file string) map[string]bool {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		name := fn.Name.Name
		if fn.Recv != nil {
			receiver := fn.Recv.List[0].Type
			if pointer, ok := receiver.(*ast.StarExpr); ok {
				receiver = pointer.X
			}
			if id, ok := receiver.(*ast.Ident); ok {
				name = id.Name + "." + name
			}
		}
		names[name] = true
	}
	return names
}

// A copy of the folder mat has the licence of the project with it.
func TestMatHasTheLicence(t *testing.T) {
	if got, want := readFile(t, "mat/LICENSE"), readFile(t, "LICENSE"); got != want {
		t.Errorf("mat/LICENSE differs from LICENSE:\n%s\nwant\n%s", got, want)
	}
}
