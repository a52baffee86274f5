package subword

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func read(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func readLines(t testing.TB, name string) []string {
	return strings.Split(strings.TrimSuffix(read(t, name), "\n"), "\n")
}

func readCodes(t testing.TB, name string) *Codes {
	t.Helper()
	c, err := ReadCodes(strings.NewReader(read(t, name)), name)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func readVocabulary(t testing.TB, threshold int64) *Vocabulary {
	t.Helper()
	v, err := ReadVocabulary(strings.NewReader(read(t, "vocabulary.txt")), "vocabulary.txt", threshold)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Segments are those of apply_bpe.py, without a vocabulary and with it.
func TestGolden(t *testing.T) {
	for _, c := range []struct {
		codes, want string
		threshold   int64 // 0 is no vocabulary
	}{
		{"codes.txt", "segmented.txt", 0},
		{"codes-all.txt", "segmented-merges.txt", 0},
		{"codes.txt", "segmented-threshold-5.txt", 5},
		{"codes.txt", "segmented-threshold-50.txt", 50},
		{"codes-all.txt", "segmented-vocabulary-all.txt", 20},
	} {
		tok := New(readCodes(t, c.codes), &Vocabulary{})
		var known *Vocabulary
		if c.threshold > 0 {
			known = readVocabulary(t, c.threshold)
		}
		tok.encoders.New = func() any { return newEncoder(tok.codes, known) }
		want := readLines(t, c.want)
		for i, line := range readLines(t, "corpus.txt") {
			// apply_bpe.py keeps the spaces around a line.
			if got, want := tok.Segment(line), strings.Trim(want[i], " "); got != want {
				t.Errorf("%s:%d: %q, want %q", c.want, i+1, got, want)
			}
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	tok, lines := newTokenizer(b, 0), readLines(b, "corpus.txt")
	var ids []int32
	for b.Loop() {
		for _, line := range lines {
			ids = tok.Encode(ids[:0], line)
		}
	}
	b.ReportMetric(float64(len(lines))*float64(b.N)/b.Elapsed().Seconds(), "lines/s")
}
