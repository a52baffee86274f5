package main

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A flag of translate that does not apply in a mode is refused there, and every other one is not.
func TestModesOfTranslate(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := t.TempDir()
	page := filepath.Join(dir, "page.html")
	if err := os.WriteFile(page, []byte("<p>a"), 0o666); err != nil {
		t.Fatal(err)
	}
	modes := map[string][]string{inLines: nil, inFile: {"-o", filepath.Join(dir, "out")}, inStream: {"-stream"}, inDocuments: {"-file", page}}
	values := map[string]string{"format": "html", "shard": "2/8", "expect": "99", "column": "1", "key": "1", "align": "words", "alpha": "0.5"}
	needed := map[string]string{"sample": "-sample", "json": "-json", "memory": "-memory=" + page, "split": "-split", "key": "-sample"}
	refused := regexp.MustCompile(`^tfm: (either .* or |-?[a-z-]+ needs -)`)
	n := 0
	for _, c := range program().Commands {
		if c.Name != "translate" {
			continue
		}
		f, _ := c.Declare()
		for _, g := range f.All() {
			if slices.Contains([]string{"o", "stream", "file", "set", "model"}, g.Name) {
				continue
			}
			value := values[g.Name]
			switch kind := strings.Split(g.Usage, "`"); {
			case value != "":
			case f.Set(g.Name, "true") == nil && f.Set(g.Name, "x") != nil:
				value = "true"
			case f.Set(g.Name, "1") == nil:
				value = "1"
			case len(kind) > 1:
				value = page
			default:
				value = "html"
			}
			word := []string{"-" + g.Name + "=" + value}
			if g.IsSetting() {
				word = []string{"-set", g.Name + "=" + value}
			}
			for mode, args := range modes {
				all := slices.Concat([]string{"translate", "-model", filepath.Join(dir, "none")}, args, word)
				for _, name := range g.Needed() {
					if f.Lookup(name).AppliesIn(mode) {
						all = append(all, needed[name])
						break
					}
				}
				code, _, stderr := runHere(t, ctx, all...)
				n++
				if applies := g.AppliesIn(mode); applies == (code == 2 && refused.MatchString(stderr)) && (!applies || len(g.Needed()) == 0) {
					t.Errorf("%v: exit code %d, %s; it applies in mode %q: %v", all[3:], code, stderr, mode, applies)
				}
			}
		}
		var documents []string
		for _, g := range f.All() {
			if g.AppliesIn(inDocuments) {
				documents = append(documents, g.Name)
			}
		}
		// What translateDocuments reads. A new flag belongs here if it does so.
		want := strings.Fields("model to from beam length-penalty alpha max-extra max-source file format bilingual review o progress glossary memory adapt " +
			"min-tokens max-tokens no-repeat repetition-penalty int8 shortlist threads set")
		slices.Sort(want)
		if slices.Sort(documents); !slices.Equal(documents, want) {
			t.Errorf("documents have the flags %v, want %v", documents, want)
		}
	}
	if n < 150 {
		t.Errorf("%d pairs of flag and mode", n)
	}
}
