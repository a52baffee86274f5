package settings

import (
	"slices"
	"strings"
	"testing"

	"tfm/cmd/tfm/internal/cli"
	"tfm/cmd/tfm/recipes"
)

func FuzzSettings(f *testing.F) {
	for _, s := range []string{"", " ", "a b", `"`, `"a" # b`, "a#b", "a #b", "#", "\n", "\xff", "中", `\n`, "\u00a0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got, err := parseValue(strings.TrimSpace(formatValue(s))); err != nil || got != s || strings.Contains(formatValue(s), "\n") {
			t.Errorf("%q is written as %s and read as %q, %v", s, formatValue(s), got, err)
		}
		parseValue(s)
	})
}

// A recipe has every setting except those of the machine, of files and of what these contain.
func TestRecipesAreComplete(t *testing.T) {
	all := recipes.Names()
	if !slices.Equal(all, []string{"multi30k", "multi30k-90m", "multi30k-tok"}) {
		t.Errorf("recipes %v", all)
	}
	for _, name := range all {
		r := NewRun(cli.NewFlags())
		lines, file := recipes.Lines(name)
		if err := r.fill(Recipe, file, lines); err != nil {
			t.Fatal(err)
		}
		for _, g := range r.flags.All() {
			elsewhere := g.IsAction() || g.Has(local)
			if has := r.Origin(g.Name) == Recipe; has == elsewhere {
				t.Errorf("%s: %s is set: %v, want %v (where it is missing add: %s = %s)", file, g.Name, has, !elsewhere, g.Name, g.DefValue)
			}
		}
	}
}
