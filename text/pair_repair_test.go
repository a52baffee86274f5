package text

import (
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"tfm/text/charset"
)

// repaired returns the pairs of a corpus and its error.
func repaired(pairs iter.Seq2[RepairedPair, error]) (list []RepairedPair, err error) {
	for p, err := range pairs {
		if err != nil {
			return list, err
		}
		list = append(list, p)
	}
	return list, nil
}

func TestRepairPairs(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	long := strings.Repeat("ü", MaxLine)
	src := file("src", charset.Mark+"a\r\nb\xff\n\n"+long+"\nlast")
	tgt := file("tgt", "A\nB\n\xed\xa0\x80\nL\nLast\n")
	want := []RepairedPair{
		{Pair: Pair{"a", "A", 1}, Columns: 2}, {Pair: Pair{"b\uFFFD", "B", 2}, Columns: 2, Invalid: true}, {Pair: Pair{"", "\uFFFD", 3}, Columns: 2, Invalid: true},
		{Pair: Pair{long[:MaxLine], "L", 4}, Columns: 2, Long: true}, {Pair: Pair{"last", "Last", 5}, Columns: 2},
	}
	check := func(pairs iter.Seq2[RepairedPair, error], want []RepairedPair) {
		t.Helper()
		got, err := repaired(pairs)
		if err != nil || len(got) != len(want) {
			t.Fatalf("%d pairs and error %v, want %d", len(got), err, len(want))
		}
		for i := range got {
			if got[i].Bytes < len(got[i].Source)+len(got[i].Target) {
				t.Errorf("pair %d has %d bytes", i+1, got[i].Bytes)
			}
			if got[i].Bytes = 0; got[i] != want[i] {
				t.Errorf("pair %d has line %d, %d columns, invalid %v, long %v, %.20q and %.20q", i+1, got[i].Line, got[i].Columns, got[i].Invalid, got[i].Long, got[i].Source, got[i].Target)
			}
		}
	}
	check(Files{Source: src, Target: tgt}.RepairedPairs(), want)
	check(Files{Source: file("tsv", "a\tA\nb\nc\tC\t\n\t\n\xfft\tT")}.RepairedPairs(), []RepairedPair{
		{Pair: Pair{"a", "A", 1}, Columns: 2}, {Pair: Pair{"b", "", 2}, Columns: 1}, {Pair: Pair{"c\tC\t", "", 3}, Columns: 3}, {Pair: Pair{"", "", 4}, Columns: 2},
		{Pair: Pair{"\uFFFDt", "T", 5}, Columns: 2, Invalid: true},
	})
	short, empty := file("short", "A\n\xff\n"), file("empty", "")
	for want, pairs := range map[string]iter.Seq2[RepairedPair, error]{
		"unequal line counts: " + src + " has 5, " + short + " has 2": Files{Source: src, Target: short}.RepairedPairs(),
		"unequal line counts: " + empty + " has 0, ":                  Files{Source: empty, Target: short}.RepairedPairs(),
		"empty corpus: ":        Files{Source: empty, Target: empty}.RepairedPairs(),
		empty + ": empty file":  Files{Source: empty}.RepairedPairs(),
		"missing: no such file": Files{Source: filepath.Join(dir, "missing")}.RepairedPairs(),
		"other: no such file":   Files{Source: src, Target: filepath.Join(dir, "other")}.RepairedPairs(),
		"not a gzip file":       Files{Source: file("a.gz", "text")}.RepairedPairs(),
	} {
		if _, err := repaired(pairs); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// FuzzRepairPairs reads a corpus of two files and of one TSV file with any bytes. It returns valid
// lines, one for each line of the files.
func FuzzRepairPairs(f *testing.F) {
	f.Add([]byte("a\r\nb\n"), []byte("A\nB"))
	f.Add([]byte(charset.Mark+"\xff\n\n\x00"), []byte("\xed\xa0\x80\nä\t"))
	f.Add([]byte("\x1f\x8b\x08"), []byte("a\tb\n"))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, source, target []byte) {
		src, tgt := filepath.Join(dir, "src"), filepath.Join(dir, "tgt")
		for path, data := range map[string][]byte{src: source, tgt: target} {
			if err := os.WriteFile(path, data, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		for _, pairs := range []iter.Seq2[RepairedPair, error]{Files{Source: src, Target: tgt}.RepairedPairs(), Files{Source: src}.RepairedPairs(), Files{Source: tgt}.RepairedPairs()} {
			list, _ := repaired(pairs)
			for i, p := range list {
				valid := func(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, '\n') && len(s) <= MaxLine }
				if p.Line != i+1 || !valid(p.Source) || !valid(p.Target) || p.Columns != 2 && p.Target != "" {
					t.Fatalf("pair %d is %+v", i+1, p)
				}
			}
		}
		if list, err := repaired(Files{Source: src, Target: src}.RepairedPairs()); err == nil {
			for _, p := range list {
				if p.Source != p.Target {
					t.Fatalf("one file, but different sides %+v", p)
				}
			}
		}
	})
}
