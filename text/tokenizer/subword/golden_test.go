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

// Segments are those of apply_bpe.py, for both versions, vocabularies and thresholds.
func TestGolden(t *testing.T) {
	for _, c := range []struct {
		codes, want string
		threshold   int64 // 0 is no vocabulary
	}{
		{"codes.txt", "segmented.txt", 0},
		{"codes-all.txt", "segmented-merges.txt", 0},
		{"codes-0.1.txt", "segmented-0.1.txt", 0},
		{"codes.txt", "segmented-threshold-5.txt", 5},
		{"codes.txt", "segmented-threshold-50.txt", 50},
		{"codes-all.txt", "segmented-vocabulary-all.txt", 20},
	} {
		codes := readCodes(t, c.codes)
		var v *Vocabulary
		if c.threshold > 0 {
			v = readVocabulary(t, c.threshold)
		}
		want := readLines(t, c.want)
		for i, line := range readLines(t, "corpus.txt") {
			if got := codes.Segment(line, v); got != want[i] {
				t.Errorf("%s:%d: %q, want %q", c.want, i+1, got, want[i])
			}
		}
	}
}

func BenchmarkSegment(b *testing.B) {
	c, lines := readCodes(b, "codes.txt"), readLines(b, "corpus.txt")
	for b.Loop() {
		for _, line := range lines {
			c.Segment(line, nil)
		}
	}
	b.ReportMetric(float64(len(lines))*float64(b.N)/b.Elapsed().Seconds(), "lines/s")
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
