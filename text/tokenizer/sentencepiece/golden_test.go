package sentencepiece

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// goldenCase is what sentencepiece makes of a text. testdata/golden.py writes it.
type goldenCase struct {
	Text, Decoded []byte
	IDs           []int32 // file ids
	Ends          []int   // of the pieces in the text
}

// readFile reads a file, decompressed if its name ends in .gz.
func readFile(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err == nil && strings.HasSuffix(name, ".gz") {
		var z *gzip.Reader
		if z, err = gzip.NewReader(strings.NewReader(string(data))); err == nil {
			data, err = io.ReadAll(z)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// goldens returns the tokenizers of a folder, by name, with their cases.
func goldens(t testing.TB, dir string) (map[string]*Tokenizer, map[string][]goldenCase) {
	t.Helper()
	tokenizers, cases := map[string]*Tokenizer{}, map[string][]goldenCase{}
	files, err := filepath.Glob(filepath.Join(dir, "*.json.gz"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: no *.json.gz, error %v", dir, err)
	}
	for _, file := range files {
		prefix := strings.TrimSuffix(file, ".json.gz")
		name := filepath.Base(prefix)
		model := prefix + ".model"
		if _, err := os.Stat(model); err != nil {
			model += ".gz"
		}
		data := readFile(t, model)
		tokenizer, err := Unmarshal(data)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if again := marshal(t, tokenizer.Model()); string(again) != string(data) {
			t.Errorf("%s: MarshalBinary returns %d bytes that differ from the %d of the file", name, len(again), len(data))
		}
		tokenizers[name] = tokenizer
		var c []goldenCase
		if err := json.Unmarshal(readFile(t, file), &c); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		cases[name] = c
	}
	return tokenizers, cases
}

func TestGolden(t *testing.T) { compareGoldens(t, "testdata") }

// TestCompare compares with the output of testdata/golden.py compare.
func TestCompare(t *testing.T) {
	dir := os.Getenv("SENTENCEPIECE_COMPARE")
	if dir == "" {
		t.Skip("optional: SENTENCEPIECE_COMPARE names no folder (testdata/golden.py)")
	}
	compareGoldens(t, dir)
}

// TestWriteRandomModels writes models with random pieces of all types to a folder, for golden.py
// compare -model.
func TestWriteRandomModels(t *testing.T) {
	dir := os.Getenv("SENTENCEPIECE_RANDOM")
	if dir == "" {
		t.Skip("optional: SENTENCEPIECE_RANDOM names no folder (testdata/golden.py)")
	}
	r := rand.New(rand.NewPCG(5, 6))
	for k := range 80 {
		data := marshal(t, randomModel(r, ModelType(1+k%4)))
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("random%d.model", k)), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var lines []string
	for range 300 {
		lines = append(lines, randomText(r, 25, append(randomAlphabet, " ", " ", "x", "\xff", "a", "b", "<s>", "ab", "\t")))
	}
	err := os.WriteFile(filepath.Join(dir, "random.txt"), []byte(strings.Join(lines, "\n")+"\n"), 0o666)
	if err != nil {
		t.Fatal(err)
	}
}

var randomAlphabet = []string{"a", "b", "c", "é", "▁", "中"}

// randomText returns up to n elements of alphabet.
func randomText(r *rand.Rand, n int, alphabet []string) string {
	var s strings.Builder
	for range 1 + r.IntN(n) {
		s.WriteString(alphabet[r.IntN(len(alphabet))])
	}
	return s.String()
}

// randomModel returns a model with random settings and pieces. Many scores are equal.
func randomModel(r *rand.Rand, modelType ModelType) *Model {
	m := NewModel()
	m.Trainer.ModelType = modelType
	m.Normalizer.AddDummyPrefix = r.IntN(3) > 0
	m.Normalizer.RemoveExtraWhitespace = r.IntN(2) > 0
	m.Normalizer.EscapeWhitespace = r.IntN(8) > 0
	m.Trainer.WhitespaceAsSuffix = r.IntN(4) == 0
	m.Trainer.UnknownSurface = []string{" ⁇ ", "?", ""}[r.IntN(3)]
	m.Pieces = []Piece{{Text: "<unk>", Type: Unknown}}
	for _, s := range []string{"<s>", "</s>", "x"} {
		m.Pieces = append(m.Pieces, Piece{Text: s, Type: Control})
	}
	if r.IntN(2) == 0 {
		m.Trainer.ByteFallback = true
		for c := range 256 {
			m.Pieces = append(m.Pieces, Piece{Text: byteText(byte(c)), Type: Byte})
		}
	}
	seen := map[string]bool{}
	types := r.IntN(3)
	for range 8 + r.IntN(40) {
		p := Piece{Text: randomText(r, 5, randomAlphabet), Score: -float32(r.IntN(12)) - float32(r.IntN(3))/7, Type: Normal}
		if seen[p.Text] {
			continue
		}
		seen[p.Text] = true
		switch {
		case types > 0 && r.IntN(8) == 0:
			p.Type = UserDefined
		case types > 1 && r.IntN(5) == 0:
			p.Type = Unused
		case types > 1 && r.IntN(20) == 0:
			p.Type = Control
		}
		m.Pieces = append(m.Pieces, p)
	}
	return m
}

func compareGoldens(t *testing.T, dir string) {
	tokenizers, all := goldens(t, dir)
	for name, cases := range all {
		t.Run(name, func(t *testing.T) {
			tokenizer := tokenizers[name]
			bad := 0
			for i, c := range cases {
				if !compareCase(t, tokenizer, i, c) {
					bad++
				}
				if bad == 10 {
					t.Fatal("more than 10 cases differ")
				}
			}
			t.Logf("%d cases", len(cases))
		})
	}
}

// compareCase reports whether a tokenizer's results are those of a case.
func compareCase(t *testing.T, tokenizer *Tokenizer, i int, c goldenCase) bool {
	s := string(c.Text)
	for range 2 { // the second time with cached words
		if got := tokenizer.encodeFile(nil, s); !slices.Equal(got, c.IDs) {
			t.Errorf("line %d: file ids of %q:\ngot  %v\nwant %v", i+1, s, got, c.IDs)
			return false
		}
	}
	ids, ranges := tokenizer.EncodeRanges(nil, nil, s)
	if want := tokenizer.Encode(nil, s); !slices.Equal(ids, want) {
		t.Errorf("line %d: EncodeRanges(%q) has ids %v, want %v", i+1, s, ids, want)
		return false
	}
	for k := range ranges[:max(0, len(ranges)-1)] { // the last range has the white space at the end
		// sentencepiece excludes white space that it removes at the beginning.
		removed := ranges[k].End == 0 && strings.TrimSpace(s[:c.Ends[k]]) == ""
		if ranges[k].End != c.Ends[k] && !removed {
			t.Errorf("line %d: EncodeRanges(%q): piece %d ends at %d, want %d", i+1, s, k, ranges[k].End, c.Ends[k])
			return false
		}
	}
	if got := tokenizer.Decode(ids); got != string(c.Decoded) {
		t.Errorf("line %d: Decode = %q, want %q", i+1, got, c.Decoded)
		return false
	}
	return true
}
