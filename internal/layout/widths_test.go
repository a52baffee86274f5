package layout

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// wantWidth reports the lines of a file that choose selects and that are wider than limit columns;
// a tab has 4.
func wantWidth(t *testing.T, file string, limit int, choose func(line string) bool) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(string(text), "\n") {
		if columns := utf8.RuneCountInString(strings.ReplaceAll(line, "\t", "    ")); columns > limit && choose(line) {
			t.Errorf("%s:%d: found %d columns, expected at most %d", file, i+1, columns, limit)
		}
	}
}

// Comments on lines of their own have at most 100 columns, help texts 80.
func TestWidths(t *testing.T) {
	isComment := func(line string) bool {
		return strings.HasPrefix(strings.TrimSpace(line), "//") && !strings.Contains(line, "://") && !strings.Contains(line, "//go:")
	}
	files := 0
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && file != root && strings.HasPrefix(d.Name(), ".") {
			return fs.SkipDir
		}
		if err == nil && slices.Contains([]string{".go", ".s", ".h"}, filepath.Ext(file)) {
			files++
			wantWidth(t, file, 100, isComment)
		}
		return err
	})
	if err != nil || files < 100 {
		t.Errorf("found %d source files (error %v), expected those of the whole module", files, err)
	}
	help, err := filepath.Glob(filepath.Join(root, "cmd/tfm/help/*.txt"))
	if err != nil || len(help) < 15 {
		t.Errorf("found %d help texts (error %v), expected at least 15", len(help), err)
	}
	for _, file := range help {
		wantWidth(t, file, 80, func(string) bool { return true })
	}
}
