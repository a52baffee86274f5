package distill

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// files writes files and returns their paths.
func files(t *testing.T, contents ...string) (paths []string) {
	t.Helper()
	for _, content := range contents {
		path := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths
}

// The worst scores go, and blank translations; several files of translations belong to one source.
func TestScored(t *testing.T) {
	f := files(t, "a\nb\tc\n\nd\ne\n", "A\t-0.5\nB\tC\t-2.5\n", "", "\t0\nD\t-0.1\nE\t-0.2\n")
	for worst, want := range map[float64]string{
		0:    "a|b\tc|d|e| A|B\tC|D|E|",
		0.25: "a|d|e| A|D|E|", // one of four
		0.5:  "d|e| D|E|",
	} {
		var src, tgt strings.Builder
		all, written, err := writePairs(Scored(f[0], f[1:]), worst, &src, &tgt)
		if got := strings.ReplaceAll(src.String()+" "+tgt.String(), "\n", "|"); err != nil || got != want || all != 5 || written != strings.Count(src.String(), "\n") {
			t.Errorf("without %v: %q, %d of %d, %v, want %q", worst, got, written, all, err, want)
		}
	}
	for name, translated := range map[string]string{"fewer lines": "A\t-1\n", "without a score": "A\nB\nC\nD\nE\n", "invalid syntax": "A\tx\n"} {
		var src, tgt strings.Builder
		if _, _, err := writePairs(Scored(f[0], files(t, translated)), 0, &src, &tgt); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%q: error %v, want %s", translated, err, name)
		}
	}
}
