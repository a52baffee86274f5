package layout

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// maxColumns is the width limit of a line with a comment; a tab has tabColumns.
const maxColumns, tabColumns = 100, 4

// plainer has the words that replace a phrase in comments and messages.
var plainer = map[string]string{
	"but for":          "except",
	"so many":          "a count or limit",
	"so much":          "a count or limit",
	"of which":         "whose, or a second sentence",
	"what is":          "a noun",
	"what are":         "a noun",
	"there is none":    "without, or if it exists",
	"there are none":   "without, or if they exist",
	"shall":            "must",
	"in force":         "in use",
	"is there already": "already exists",
	"goes on":          "continues, or resumes",
	"it is an error":   "it fails",
}

var phrase = regexp.MustCompile(`(?i)\b(` + strings.Join(slices.Collect(maps.Keys(plainer)), "|") + `)\b`)

// passage is one comment or one string of a source file.
type passage struct {
	file  string
	first int // number of the first line
	lines []string
}

// find calls found with each phrase of p that has plainer words, and the number of its first line.
func (p passage) find(found func(line int, phrase string)) {
	joined := strings.Join(p.lines, " ") // phrases may continue on the next line
	for _, at := range phrase.FindAllStringIndex(joined, -1) {
		line, end := 0, len(p.lines[0])
		for ; end < at[0]; line++ {
			end += 1 + len(p.lines[line+1])
		}
		found(p.first+line, joined[at[0]:at[1]])
	}
}

// sources calls f with each Go, assembly and header file of the module.
func sources(t *testing.T, f func(file string, text []byte)) {
	t.Helper()
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := d.Name(); d.IsDir() && file != root && (strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")) {
			return fs.SkipDir
		}
		if d.IsDir() || !slices.Contains([]string{".go", ".s", ".h"}, filepath.Ext(file)) {
			return nil
		}
		text, err := os.ReadFile(file)
		if err == nil {
			f(file, text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// passages returns the comments of a source file. Those of a Go file that is no test are followed
// by its strings of more than one word. Directives and the output of examples are left out.
func passages(t *testing.T, file string, text []byte) (comments, texts []passage) {
	t.Helper()
	if filepath.Ext(file) != ".go" {
		return assemblyComments(file, string(text)), nil
	}
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, file, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for _, group := range f.Comments {
		for _, c := range group.List {
			if strings.HasPrefix(c.Text, "// Output:") || strings.HasPrefix(c.Text, "// Unordered output:") {
				break
			}
			if !strings.HasPrefix(c.Text, "//go:") {
				lines := strings.Split(strings.TrimPrefix(c.Text, "//"), "\n")
				comments = appendLines(comments, passage{file, set.Position(c.Pos()).Line, lines})
			}
		}
	}
	if strings.HasSuffix(file, "_test.go") {
		return comments, nil
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.BasicLit); ok && s.Kind == token.STRING && strings.Contains(s.Value, " ") {
			texts = append(texts, passage{file, set.Position(s.Pos()).Line, strings.Split(s.Value, "\n")})
		}
		return true
	})
	return comments, texts
}

// assemblyComments returns the comments of an assembly or header file.
func assemblyComments(file, text string) (comments []passage) {
	for i, line := range strings.Split(text, "\n") {
		if _, comment, ok := strings.Cut(line, "//"); ok {
			comments = appendLines(comments, passage{file, i + 1, []string{comment}})
		}
	}
	return comments
}

// appendLines appends p to list, or its lines to the last passage if p begins on the next line.
func appendLines(list []passage, p passage) []passage {
	if n := len(list); n > 0 && list[n-1].first+len(list[n-1].lines) == p.first {
		list[n-1].lines = append(list[n-1].lines, p.lines...)
		return list
	}
	return append(list, p)
}

// Lines with comments fit maxColumns, and comments and messages have plain words.
func TestLanguage(t *testing.T) {
	files := 0
	sources(t, func(file string, text []byte) {
		files++
		name, err := filepath.Rel(root, file)
		if err != nil {
			t.Fatal(err)
		}
		comments, texts := passages(t, file, text)
		source := strings.Split(string(text), "\n")
		for _, c := range comments {
			for i := range c.lines {
				line := strings.TrimSuffix(source[c.first-1+i], "\r")
				columns := utf8.RuneCountInString(line) + (tabColumns-1)*strings.Count(line, "\t")
				if columns > maxColumns && !strings.Contains(line, "://") {
					t.Errorf("%s:%d: found %d columns, expected at most %d", name, c.first+i, columns, maxColumns)
				}
			}
		}
		for _, p := range slices.Concat(comments, texts) {
			p.find(func(line int, phrase string) {
				t.Errorf("%s:%d: found %q, expected %s", name, line, phrase, plainer[strings.ToLower(phrase)])
			})
		}
	})
	if files < 100 {
		t.Errorf("found %d source files, expected those of the whole module", files)
	}
}

// The help texts of the commands fit a terminal of 80 columns, and have plain words.
func TestHelpTexts(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, "cmd/tfm/help/*.txt"))
	if err != nil || len(files) < 20 {
		t.Fatalf("found %d help texts (error %v), expected at least 20", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(text), "\n")
		for i, line := range lines {
			if columns := utf8.RuneCountInString(line); columns > 80 {
				t.Errorf("%s:%d: found %d columns, expected at most 80", file, i+1, columns)
			}
		}
		passage{file, 1, lines}.find(func(line int, phrase string) {
			t.Errorf("%s:%d: found %q, expected %s", file, line, phrase, plainer[strings.ToLower(phrase)])
		})
	}
}

func TestFind(t *testing.T) {
	for text, want := range map[string][]int{
		"a comment":                   nil,
		"shallow, WHATEVER":           nil,
		"all rows\nbut\nfor the last": {8},
		"What is\nleft, of\nwhich":    {7, 8},
	} {
		var got []int
		passage{"a.go", 7, strings.Split(text, "\n")}.find(func(line int, _ string) { got = append(got, line) })
		if !slices.Equal(got, want) {
			t.Errorf("find(%q) = lines %v, want %v", text, got, want)
		}
	}
}

func TestPassages(t *testing.T) {
	comments, texts := passages(t, "a.go", []byte(`// Package a
// is one.
package a

//go:noinline
func f() int { // two
	// three
	return len("two words") // four
}

/* five
six */
var s = []string{"word", `+"`three\nmore words`"+`}

// Output:
// seven
`))
	wantComments := []passage{
		{"a.go", 1, []string{" Package a", " is one."}}, {"a.go", 6, []string{" two", " three", " four"}}, {"a.go", 11, []string{"/* five", "six */"}},
	}
	wantTexts := []passage{{"a.go", 8, []string{`"two words"`}}, {"a.go", 13, []string{"`three", "more words`"}}}
	equal := func(a, b passage) bool {
		return a.file == b.file && a.first == b.first && slices.Equal(a.lines, b.lines)
	}
	if !slices.EqualFunc(comments, wantComments, equal) || !slices.EqualFunc(texts, wantTexts, equal) {
		t.Errorf("passages = %q and %q, want %q and %q", comments, texts, wantComments, wantTexts)
	}
	if comments, _ := passages(t, "a.s", []byte("TEXT f(SB) // one\n// two\nRET\n// three\n")); len(comments) != 2 || comments[1].first != 4 {
		t.Errorf("passages of assembly = %q, want 2, the second from line 4", comments)
	}
	if _, texts := passages(t, "a_test.go", []byte("package a\nvar s = \"two words\"\n")); texts != nil {
		t.Errorf("passages of a test = %q, want no strings", texts)
	}
}

// Packages that own terms of the module list them in doc.go.
func TestDocsListTerms(t *testing.T) {
	for _, name := range []string{
		"mat", "layer", "attn", "text", "text/vocab", "text/score", "model", "model/decode", "train", "train/runlog",
	} {
		doc, err := os.ReadFile(filepath.Join(root, name, "doc.go"))
		if err != nil {
			t.Error(err)
		} else if !strings.Contains(string(doc), "\n// # Terms\n//\n") {
			t.Errorf("%s/doc.go: found no heading Terms", name)
		}
	}
}
