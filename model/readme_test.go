package model_test

import (
	"cmp"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tfm/mat"
	"tfm/model"
)

var update = flag.Bool("update", false, "update the line numbers in README.md")

// link matches a link to a function: its name, with the receiver's type if it has one, its file and
// the line of the function or of its derivation.
var link = regexp.MustCompile("\\[`([\\w.]+)`\\]\\(([\\w./]+\\.go)#L(\\d+)\\)")

// Every link of README.md has the file and the line of its function. Those of the column
// Differentiated have the first line of the derivation above the function, which each equation of
// the first table has unless it is its lines in reverse.
func TestReadmeLinks(t *testing.T) {
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	places := map[string]map[string]place{} // by file and function
	links, moved, cell := 0, "", 0
	updated := cellOrLink.ReplaceAllStringFunc(string(page), func(text string) string {
		switch text {
		case "\n":
			cell = 0
			return text
		case "|":
			cell++
			return text
		}
		links++
		parts := link.FindStringSubmatch(text)
		name, file := parts[1], parts[2]
		name = strings.TrimPrefix(strings.TrimPrefix(name, "mat."), "ref.")
		if places[file] == nil {
			places[file] = functionPlaces(t, file)
		}
		found, ok := places[file][name]
		if !ok {
			t.Errorf("README.md links to %s in %s, which has no such function", name, file)
			return text
		}
		line := found.line
		if cell == differentiated {
			line = cmp.Or(found.derivation, line)
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
	main, _, _ := strings.Cut(string(page), "\nThe variants that")
	for _, row := range strings.Split(main, "\n") {
		cells := strings.Split(row, "|")
		if len(cells) <= differentiated || strings.HasPrefix(cells[differentiated], " its lines in reverse: ") {
			continue
		}
		derived := false
		all := link.FindAllStringSubmatch(cells[differentiated], -1)
		for _, parts := range all {
			derived = derived || places[parts[2]][parts[1]].derivation > 0
		}
		if len(all) > 0 && !derived {
			t.Errorf("README.md links to no derivation of %s", cells[1])
		}
	}
	if *update && updated != string(page) && !t.Failed() {
		if err := os.WriteFile("README.md", []byte(updated), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// differentiated is the column of README.md with derivatives.
const differentiated = 3

// cellOrLink matches what ends a cell of a table, and links to functions.
var cellOrLink = regexp.MustCompile("\n|\\||" + link.String())

// place is where a function is, and the derivation above it, 0 without one.
type place struct{ line, end, derivation int }

// functionPlaces returns the places of the functions of a file, by name; methods as Type.Name.
func functionPlaces(t *testing.T, file string) map[string]place {
	t.Helper()
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, file, nil, parser.SkipObjectResolution|parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	places := map[string]place{}
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
		p := place{line: files.Position(f.Pos()).Line, end: files.Position(f.End()).Line}
		if f.Doc != nil {
			if first := derivation(f.Doc.List); first >= 0 {
				p.derivation = files.Position(f.Doc.List[first].Pos()).Line
			}
		}
		places[name] = p
	}
	return places
}

// derivation returns the index of the first line of a derivation: its first equation, or the
// paragraph with the definitions before it, which ends with a colon. It is -1 without equations.
func derivation(doc []*ast.Comment) int {
	first := slices.IndexFunc(doc, func(c *ast.Comment) bool { return strings.HasPrefix(c.Text, "//\t") })
	if first >= 2 && strings.HasSuffix(doc[first-2].Text, ":") {
		for first -= 2; first > 0 && doc[first-1].Text != "//"; first-- {
		}
	}
	return first
}

// TestPaperStep is the training step whose functions TestReadmeIsReached looks at.
func TestPaperStep(t *testing.T) {
	m := model.NewToy(t, model.Toy())
	pool := mat.NewPool(2)
	defer pool.Close()
	model.NewPass(m, pool).Train(model.RandomBatch(m.Config, 4, 0, 1), 1, 1)
}

// A training step of the paper's model calls each function of layers, attention and the model that
// the first table of README.md links to.
func TestReadmeIsReached(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil || testing.Short() {
		t.Skip("-short: compiles a test with counters")
	}
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	profile := filepath.Join(t.TempDir(), "profile")
	out, err := exec.Command("go", "test", "-vet=off", "-run", "^TestPaperStep$", "-coverpkg", "tfm/layer,tfm/attn,tfm/model", "-coverprofile", profile, ".").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	data, err := os.ReadFile(profile)
	if err != nil {
		t.Fatal(err)
	}
	reached := map[string][]int{} // first lines of executed blocks, by file
	for _, line := range strings.Split(string(data), "\n") {
		var first int
		file, rest, _ := strings.Cut(line, ":")
		if _, err := fmt.Sscanf(rest, "%d.", &first); err == nil && !strings.HasSuffix(rest, " 0") {
			reached[file] = append(reached[file], first)
		}
	}
	main, _, _ := strings.Cut(string(page), "\nThe variants that")
	for _, row := range strings.Split(main, "\n") {
		cells := strings.Split(row, "|")
		for _, cell := range cells[min(len(cells), 2):min(len(cells), differentiated+1)] {
			for _, parts := range link.FindAllStringSubmatch(cell, -1) {
				blocks, measured := reached[path.Join("tfm/model", parts[2])]
				p := functionPlaces(t, parts[2])[parts[1]]
				if measured && !slices.ContainsFunc(blocks, func(line int) bool { return p.line <= line && line <= p.end }) {
					t.Errorf("README.md links to %s, which a training step does not call", parts[1])
				}
			}
		}
	}
}
