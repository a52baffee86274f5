package train

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"tfm/internal/texttest"
	"tfm/text/tokenizer/sentencepiece"
)

// settings are those for small texts.
func settings(size int, normalization string) Settings {
	return Settings{Size: size, Normalization: normalization, Coverage: 0.9995}
}

// covering is settings with all characters covered.
func covering(size int, normalization string) Settings {
	s := settings(size, normalization)
	s.Coverage = 1
	return s
}

// trainOn returns a Trainer with the lines added.
func trainOn(t testing.TB, s Settings, lines []string) *Trainer {
	t.Helper()
	tr, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range lines {
		tr.Add(l)
	}
	return tr
}

// mustTrain returns the model of a Trainer.
func mustTrain(t testing.TB, tr *Trainer) *sentencepiece.Model {
	t.Helper()
	m, err := tr.Train()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// file returns the file of a model.
func file(t testing.TB, m *sentencepiece.Model) []byte {
	t.Helper()
	data, err := m.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// readFile reads a file, decompressed if its name ends in .gz.
func readFile(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err == nil && strings.HasSuffix(name, ".gz") {
		var z *gzip.Reader
		if z, err = gzip.NewReader(bytes.NewReader(data)); err == nil {
			data, err = io.ReadAll(z)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestTrainThreadsAndOrder(t *testing.T) {
	lines := texttest.Lines(100)
	var want []byte
	for _, threads := range []int{1, 2, 7} {
		rand.New(rand.NewPCG(uint64(threads), 0)).Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
		s := settings(300, "nmt_nfkc")
		s.Threads = threads
		got := file(t, mustTrain(t, trainOn(t, s, lines)))
		if want == nil {
			want = got
		}
		if !bytes.Equal(got, want) {
			t.Errorf("the model of %d threads differs from that of 1", threads)
		}
	}
}

// A vocabulary has the exact size, up to the largest one, which the error of a larger one names.
func TestTrainSize(t *testing.T) {
	lines := []string{"the red dog and the red cat", "a dog, a cat and a red fox", "foxes, dogs and cats"}
	_, err := trainOn(t, settings(10000, "nmt_nfkc"), lines).Train()
	var most int
	if err == nil {
		t.Fatal("10000 pieces: no error")
	}
	if n, _ := fmt.Sscanf(err.Error(), "vocabulary of 10000 pieces, expected at most %d for these texts", &most); n != 1 {
		t.Fatalf("error %q, want one with the largest size", err)
	}
	chars := map[rune]bool{'▁': true}
	for _, l := range lines {
		for _, r := range strings.ReplaceAll(l, " ", "") {
			chars[r] = true
		}
	}
	for size := len(chars) + 3; size <= most; size += 1 + (most-size)/3 {
		m := mustTrain(t, trainOn(t, settings(size, "nmt_nfkc"), lines))
		if len(m.Pieces) != size {
			t.Errorf("%d pieces, want %d", len(m.Pieces), size)
		}
		for r := range chars {
			if !slices.ContainsFunc(m.Pieces, func(p sentencepiece.Piece) bool { return p.Text == string(r) }) {
				t.Errorf("%d pieces without %q", size, r)
			}
		}
	}
	_, err = trainOn(t, settings(len(chars)+2, "nmt_nfkc"), lines).Train()
	if want := fmt.Sprintf("vocabulary of %d pieces, expected at least %d: %d characters and 3 special ones", len(chars)+2, len(chars)+3, len(chars)); err == nil || err.Error() != want {
		t.Errorf("error %v, want %q", err, want)
	}
}

// Special and byte pieces come first, and no learned piece has their text.
func TestTrainMeta(t *testing.T) {
	s := settings(264, "identity")
	s.ByteFallback = true
	m := mustTrain(t, trainOn(t, s, []string{"abab <s> abab ab", "<unk> <0x41> ab</s>c"}))
	want := []sentencepiece.Piece{{Text: "<unk>", Type: sentencepiece.Unknown}, {Text: "<s>", Type: sentencepiece.Control},
		{Text: "</s>", Type: sentencepiece.Control}, {Text: "<0x00>", Type: sentencepiece.Byte}}
	for i, p := range want {
		if got := m.Pieces[i]; got.Text != p.Text || got.Type != p.Type {
			t.Errorf("pieces[%d] = %q, %d, want %q, %d", i, got.Text, got.Type, p.Text, p.Type)
		}
	}
	s.Size = 200
	if _, err := New(s); err == nil || !strings.Contains(err.Error(), "vocabulary of 200 pieces, expected at least 259") {
		t.Errorf("200 pieces with all bytes: error %v", err)
	}
	for _, p := range m.Pieces[3+256:] {
		if p.Type != sentencepiece.Normal || strings.ContainsAny(p.Text, "<>0") {
			t.Errorf("found piece %q, %d, expected none with the text of special pieces", p.Text, p.Type)
		}
	}
}

// Rare characters have no piece.
func TestTrainCoverage(t *testing.T) {
	s := settings(8, "nmt_nfkc")
	s.Coverage = 0.98
	m := mustTrain(t, trainOn(t, s, append(slices.Repeat([]string{"abab abba"}, 100), "aqü")))
	var texts []string
	for _, p := range m.Pieces {
		texts = append(texts, p.Text)
	}
	for text, want := range map[string]bool{"a": true, "b": true, "q": false, "ü": false} {
		if slices.Contains(texts, text) != want {
			t.Errorf("pieces %q contain %q: %v, want %v", texts, text, !want, want)
		}
	}
}

var hostileLines = []string{
	"", " ", "\x00", "a\x00b", "\xff\xfe", "a\xffb", "\ufeff", "▁", "a▁▁b", "▅", "a▅b", "\t", "a\tb", "\u0301", "e\u0301\u0301", "\u200b\u200d",
	"\U0010ffff", "\ud7ff\ue000", "가각ᄀ", "你好，世界。", "カタカナーひらがな漢字", "<s></s><unk>", "<0x41>", "123,456", "٣٤٥", "１２３", "👩‍👩‍👧", "ﬁﬃ", "Å\u212b",
	"a b  c   d", "\u00a0x\u00a0", "\u3000", "\r\n", strings.Repeat("a", 5000), strings.Repeat("한", 3000), strings.Repeat("ab ", 3000), strings.Repeat("\u0300", 3000),
}

// Any text trains or gives an error, and a trained model is consistent.
func TestTrainHostile(t *testing.T) {
	train := func(size int, normalization string, lines []string) {
		s := settings(size, normalization)
		if size%3 == 0 {
			s.Coverage = 1
		}
		checkTrained(t, trainOn(t, s, lines))
	}
	for i := range hostileLines {
		train(20+i*20, "identity", hostileLines[i:i+1])
	}
	for i := 0; i < len(hostileLines); i += 6 {
		train(20+i*20, "nmt_nfkc", hostileLines[:i])
		train(20+i*20, "nmt_nfkc", hostileLines[i:])
	}
	for _, normalization := range Normalizations {
		train(120, normalization, hostileLines)
	}
}

// checkTrained trains and checks the model.
func checkTrained(t testing.TB, tr *Trainer) {
	t.Helper()
	m, err := tr.Train()
	if err != nil {
		if !strings.HasPrefix(err.Error(), "vocabulary of ") && err.Error() != "found no text to train on" {
			t.Fatal(err)
		}
		return
	}
	if len(m.Pieces) != int(tr.spec.VocabSize) {
		t.Fatalf("%d pieces, want %d", len(m.Pieces), tr.spec.VocabSize)
	}
	texts := map[string]bool{}
	for i, p := range m.Pieces {
		if texts[p.Text] || p.Text == "" || !utf8.ValidString(p.Text) || math.IsNaN(float64(p.Score)) || math.IsInf(float64(p.Score), 0) {
			t.Fatalf("pieces[%d] = %q, %v", i, p.Text, p.Score)
		}
		texts[p.Text] = true
	}
	if _, err := sentencepiece.UnmarshalModel(file(t, m)); err != nil {
		t.Fatal(err)
	}
}

func FuzzTrain(f *testing.F) {
	for i, l := range hostileLines[:30] {
		f.Add(l+"\n"+l, uint16(i*10), uint8(i))
	}
	f.Fuzz(func(t *testing.T, text string, size uint16, flags uint8) {
		s := covering(int(size)+1, Normalizations[flags>>7])
		s.ByteFallback = flags&1 != 0
		tr, err := New(s)
		if err != nil {
			return
		}
		for l := range strings.SplitSeq(text, "\n") {
			tr.Add(l)
		}
		checkTrained(t, tr)
	})
}

// naivePieces calls f with each string that can be a piece at each place of normalized texts, and
// the character after it.
func naivePieces(scripts *scriptTable, texts []string, f func(piece string, next rune)) {
	for _, text := range texts {
		chars := []rune(text)
		for i := range chars {
			var state pieceState
			ok := true
			for j := i + 1; j <= len(chars); j++ {
				if state, ok = state.extend(scripts.class(chars[j-1])); !ok {
					break
				}
				next := rune(0)
				if j < len(chars) {
					next = chars[j]
				}
				f(string(chars[i:j]), next)
			}
		}
	}
}

// The seeds are the strings that occur before two different characters.
func TestSeeds(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for round := range 60 {
		alphabet := []rune("ab1 ,好\u0301▁")
		if round%4 == 0 {
			alphabet = []rune("a ")
		}
		var lines, normal []string
		for range 1 + random.IntN(10) {
			var s strings.Builder
			for range random.IntN(25) {
				s.WriteRune(alphabet[random.IntN(len(alphabet))])
			}
			lines = append(lines, s.String())
		}
		tr := trainOn(t, covering(1000, "identity"), lines)
		for _, l := range lines {
			normal = append(normal, string(tr.texts.normalizer.Append(nil, l)))
		}
		want, nexts := map[string]int64{}, map[string]map[rune]bool{}
		naivePieces(tr.texts.scripts, normal, func(piece string, next rune) {
			if utf8.RuneCountInString(piece) > 1 {
				if want[piece]++; nexts[piece] == nil {
					nexts[piece] = map[rune]bool{}
				}
				nexts[piece][next] = true
			}
		})
		maps.DeleteFunc(want, func(p string, _ int64) bool { return len(nexts[p]) < 2 })
		c, err := tr.corpus()
		if err != nil {
			continue // no text
		}
		s := tr.findSeeds(c, 1000000)
		got := map[string]int64{}
		texts := make([]string, len(s.list))
		for i, d := range s.list {
			texts[i] = c.text(c.symbols[d.at : d.at+d.chars])
			got[texts[i]] += d.count
		}
		if !maps.Equal(got, want) {
			maps.DeleteFunc(got, func(p string, n int64) bool {
				same := want[p] == n
				delete(want, p)
				return same
			})
			t.Fatalf("round %d: seeds of %q: %v, want %v", round, normal, got, want)
		}
		// The lattice has the seeds at all their places.
		for limit := len(s.list); limit > 0; limit /= 2 {
			s.keep(limit)
			kept := map[string]bool{}
			for _, d := range s.list {
				kept[c.text(c.symbols[d.at:d.at+d.chars])] = true
			}
			for f := range c.counts {
				for i := c.bounds[f]; i < c.bounds[f+1]; i++ {
					var found, all []string
					for d := s.longest[i]; d >= 0; d = s.list[d].parent {
						found = append(found, c.text(c.symbols[s.list[d].at:s.list[d].at+s.list[d].chars]))
					}
					for j := c.bounds[f+1]; j > i+1; j-- {
						if p := c.text(c.symbols[i:j]); kept[p] {
							all = append(all, p)
						}
					}
					if !slices.Equal(found, all) {
						t.Fatalf("seeds of %q at %q: %q, want %q", normal, c.text(c.symbols[i:c.bounds[f+1]]), found, all)
					}
				}
			}
		}
	}
}

// Expected counts equal those of all segmentations of each fragment.
func TestExpect(t *testing.T) {
	lines := []string{"abcab cabab", "abcabcabca ababab", "b"}
	tr := trainOn(t, settings(1000, "identity"), lines)
	c, err := tr.corpus()
	if err != nil {
		t.Fatal(err)
	}
	e := tr.newEstimator(c, tr.findSeeds(c, 1000))
	drop := make([]bool, len(e.pieces))
	for i := range drop {
		drop[i] = i != 2 // without a character
	}
	e.keep(drop)
	want := make([]float64, len(e.pieces))
	for f, count := range c.counts {
		lo, hi := c.bounds[f], c.bounds[f+1]
		sums, total := make([]float64, len(e.pieces)), 0.0
		var path []int32
		var visit func(i int32, p float64)
		visit = func(i int32, p float64) {
			if i == hi {
				total += p
				for _, id := range path {
					sums[id] += p
				}
				return
			}
			nodes, single := e.nodesAt(i)
			if !single {
				visit(i+1, p*e.unknown)
			}
			for _, id := range nodes {
				path = append(path, id)
				visit(i+e.pieces[id].chars, p*e.pieces[id].p)
				path = path[:len(path)-1]
			}
		}
		visit(lo, 1)
		for i, s := range sums {
			want[i] += s / total * float64(count)
		}
	}
	check := func(name string, got []int64) {
		for i, n := range got {
			if x := float64(n) / e.scale; math.Abs(x-want[i]) > 1e-9 {
				t.Errorf("%s: expected count of piece %d = %v, want %v", name, i, x, want[i])
			}
		}
	}
	check("expect", e.expect())
	check("rescaled", e.perFragment(func(sc *estimatorScratch, f int) {
		e.expectFragment(sc, f, int(e.maxChars))
	}))
}

// Expected counts of long fragments add up to their lengths, though their probabilities are smaller
// than the smallest float64.
func TestExpectLong(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	var s strings.Builder
	for range 1000 {
		s.WriteRune('一' + rune(random.IntN(50)*random.IntN(50)))
	}
	tr := trainOn(t, covering(10000, "identity"), []string{s.String()})
	c, err := tr.corpus()
	if err != nil {
		t.Fatal(err)
	}
	e := tr.newEstimator(c, tr.findSeeds(c, 1000))
	for i := range e.pieces {
		if i%7 == 0 {
			e.pieces[i].score -= 300 // very unequal probabilities
		}
	}
	e.update()
	var got float64
	for i, n := range e.expect() {
		got += float64(n) / e.scale * float64(e.pieces[i].chars)
	}
	if want := float64(len(c.symbols)); math.Abs(got-want) > 1e-6 {
		t.Errorf("expected counts of %v characters, want %v", got, want)
	}
}

// The table of a large corpus is a sample that keeps its limit and the frequent words.
func TestTrainSample(t *testing.T) {
	tr := trainOn(t, settings(200, "nmt_nfkc"), nil)
	tr.texts.table.Limit = 2000
	random := rand.New(rand.NewPCG(9, 10))
	for range 1000 {
		words := []string{"often", "seen", "words", fmt.Sprintf("%x", random.Uint64())}
		random.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
		tr.Add(strings.Join(words, " "))
		if n := tr.texts.table.Size; n > 2000+100 {
			t.Fatalf("table of %d characters, want at most 2100", n)
		}
	}
	if tr.Threshold() < 2 {
		t.Errorf("Threshold() = %d, want a sample", tr.Threshold())
	}
	m := mustTrain(t, tr)
	for _, want := range []string{"▁often", "▁seen", "▁words"} {
		if !slices.ContainsFunc(m.Pieces, func(p sentencepiece.Piece) bool { return p.Text == want }) {
			t.Errorf("no piece %q", want)
		}
	}
}

func TestDigamma(t *testing.T) {
	const euler = 0.57721566490153286
	for x, want := range map[float64]float64{1: -euler, 2: 1 - euler, 0.5: -euler - 2*math.Ln2, 1e9: math.Log(1e9) - 0.5e-9} {
		if got := digamma(x); math.Abs(got-want) > 1e-9 {
			t.Errorf("digamma(%v) = %v, want %v", x, got, want)
		}
	}
}

func TestHighest(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	for range 300 {
		s := make([]float64, 1+random.IntN(200))
		for i := range s {
			s[i] = float64(random.IntN(1 + random.IntN(100)))
		}
		n := random.IntN(len(s) + 1)
		keep := highest(s, n)
		for i, x := range s {
			before := 0 // elements that are chosen before i
			for j, y := range s {
				if y > x || y == x && j < i {
					before++
				}
			}
			if keep[i] != (before < n) {
				t.Fatalf("highest(%v, %d): element %d is kept: %v, want %v", s, n, i, keep[i], !keep[i])
			}
		}
	}
}

// BenchmarkTrain trains on synthetic lines. testdata/train.py compares with spm_train.
func BenchmarkTrain(b *testing.B) {
	random := rand.New(rand.NewPCG(13, 14))
	words := make([]string, 30000)
	for i := range words {
		for range 2 + random.IntN(4) {
			words[i] += []string{"ba", "ne", "sti", "ko", "ra", "ing", "er", "lum"}[random.IntN(8)] + string(rune('a'+random.IntN(26)))
		}
	}
	var lines []string
	for range 20000 {
		var s strings.Builder
		for range 12 {
			s.WriteString(words[int(float64(len(words))*math.Pow(random.Float64(), 4))] + " ")
		}
		lines = append(lines, s.String())
	}
	b.ReportAllocs()
	for b.Loop() {
		mustTrain(b, trainOn(b, settings(8000, "nmt_nfkc"), lines))
	}
	b.ReportMetric(float64(len(lines)*b.N)/b.Elapsed().Seconds(), "lines/s")
}

// The pieces are those of spm_train for the most part, which has trained the models of testdata on
// the lines of text.txt.
func TestTrainGolden(t *testing.T) {
	lines := strings.Split(strings.TrimSuffix(string(readFile(t, "../testdata/text.txt")), "\n"), "\n")
	for name, normalization := range map[string]string{"unigram-nmt_nfkc": "nmt_nfkc", "unigram-identity": "identity"} {
		want, err := sentencepiece.UnmarshalModel(readFile(t, "../testdata/"+name+".model.gz"))
		if err != nil {
			t.Fatal(err)
		}
		s := covering(len(want.Pieces), normalization)
		s.ByteFallback = want.Trainer.ByteFallback
		got := mustTrain(t, trainOn(t, s, lines))
		texts := map[string]bool{}
		for _, p := range want.Pieces {
			texts[p.Text] = true
		}
		common := 0
		for _, p := range got.Pieces {
			if texts[p.Text] {
				common++
			}
		}
		if share := float64(common) / float64(len(want.Pieces)); share < 0.9 || len(got.Pieces) != len(want.Pieces) {
			t.Errorf("%s: %d pieces, %.3f of them common, want %d, 0.9", name, len(got.Pieces), share, len(want.Pieces))
		}
		if _, err := sentencepiece.New(got); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
