package model_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "update the line numbers in README.md")

// link matches a link to a function: its name, with the receiver's type if it has one, its file and
// its first line.
var link = regexp.MustCompile("\\[`([\\w.]+)`\\]\\(([\\w./]+\\.go)#L(\\d+)\\)")

// Every link of README.md has the file and the line of its function.
func TestReadmeLinks(t *testing.T) {
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	lines := map[string]map[string]int{} // by file and function
	links, moved := 0, ""
	updated := link.ReplaceAllStringFunc(string(page), func(text string) string {
		links++
		parts := link.FindStringSubmatch(text)
		name, file := parts[1], parts[2]
		name = strings.TrimPrefix(strings.TrimPrefix(name, "mat."), "ref.")
		if lines[file] == nil {
			lines[file] = functionLines(t, file)
		}
		line, ok := lines[file][name]
		if !ok {
			t.Errorf("README.md links to %s in %s, which has no such function", name, file)
			return text
		}
		if parts[3] != strconv.Itoa(line) && !*update {
			moved += fmt.Sprintf("\n%s: %s:%s, want line %d", name, file, parts[3], line)
		}
		return fmt.Sprintf("[`%s`](%s#L%d)", parts[1], file, line)
	})
	if moved != "" {
		t.Errorf("README.md has outdated line numbers; run go test ./model -run TestReadmeLinks -update:%s", moved)
	}
	if want := strings.Count(string(page), ".go#L"); links != want || links == 0 {
		t.Errorf("%d links match the pattern, want %d", links, want)
	}
	if *update && updated != string(page) && !t.Failed() {
		if err := os.WriteFile("README.md", []byte(updated), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// functionLines returns the first line of each function of a file, by name; methods as Type.Name.
func functionLines(t *testing.T, file string) map[string]int {
	t.Helper()
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	lines := map[string]int{}
	for _, d := range parsed.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		name := f.Name.Name
		if f.Recv != nil {
			receiver := f.Recv.List[0].Type
			if star, ok := receiver.(*ast.StarExpr); ok {
				receiver = star.X
			}
			name = receiver.(*ast.Ident).Name + "." + name
		}
		lines[name] = files.Position(f.Pos()).Line
	}
	return lines
}
