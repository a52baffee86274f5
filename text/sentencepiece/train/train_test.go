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
	"tfm/text/sentencepiece"
)

// trainSpec returns settings for small texts.
func trainSpec(model sentencepiece.ModelType, size int) sentencepiece.TrainerSpec {
	spec := sentencepiece.NewTrainerSpec()
	spec.ModelType, spec.VocabSize = model, int32(size)
	return spec
}

// normalizerSpecs are the results of normalizerSpec, which have to be decompressed.
var normalizerSpecs = map[string]sentencepiece.NormalizerSpec{}

// normalizerSpec returns a normalization.
func normalizerSpec(t testing.TB, name string) sentencepiece.NormalizerSpec {
	t.Helper()
	if n, ok := normalizerSpecs[name]; ok {
		return n
	}
	n, err := NamedNormalizer(name)
	if err != nil {
		t.Fatal(err)
	}
	normalizerSpecs[name] = n
	return n
}

// trainOn returns a Trainer with the lines added.
func trainOn(t testing.TB, spec sentencepiece.TrainerSpec, normalization string, lines []string) *Trainer {
	t.Helper()
	tr, err := New(spec, normalizerSpec(t, normalization))
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

var bothTypes = []sentencepiece.ModelType{sentencepiece.Unigram, sentencepiece.BPE}

func TestTrainThreadsAndOrder(t *testing.T) {
	lines := texttest.Lines(100)
	for _, typ := range bothTypes {
		var want []byte
		for _, threads := range []int{1, 2, 7} {
			rand.New(rand.NewPCG(uint64(threads), 0)).Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
			tr := trainOn(t, trainSpec(typ, 300), "nmt_nfkc", lines)
			tr.Threads = threads
			got := file(t, mustTrain(t, tr))
			if want == nil {
				want = got
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s: the model of %d threads differs from that of 1", typ, threads)
			}
		}
	}
}

// A vocabulary has the exact size, up to the largest one, which the error of a larger one names.
func TestTrainSize(t *testing.T) {
	lines := []string{"the red dog and the red cat", "a dog, a cat and a red fox", "foxes, dogs and cats"}
	for _, typ := range bothTypes {
		_, err := trainOn(t, trainSpec(typ, 10000), "nmt_nfkc", lines).Train()
		var most int
		if err == nil {
			t.Fatalf("%s: 10000 pieces: no error", typ)
		}
		if n, _ := fmt.Sscanf(err.Error(), "vocabulary of 10000 pieces, expected at most %d for these texts", &most); n != 1 {
			t.Fatalf("%s: error %q, want one with the largest size", typ, err)
		}
		chars := map[rune]bool{'▁': true}
		for _, l := range lines {
			for _, r := range strings.ReplaceAll(l, " ", "") {
				chars[r] = true
			}
		}
		for size := len(chars) + 3; size <= most; size += 1 + (most-size)/3 {
			tr := trainOn(t, trainSpec(typ, size), "nmt_nfkc", lines)
			m := mustTrain(t, tr)
			if len(m.Pieces) != size {
				t.Errorf("%s: %d pieces, want %d", typ, len(m.Pieces), size)
			}
			for r := range chars {
				if !slices.ContainsFunc(m.Pieces, func(p sentencepiece.Piece) bool { return p.Text == string(r) }) {
					t.Errorf("%s: %d pieces without %q", typ, size, r)
				}
			}
		}
		_, err = trainOn(t, trainSpec(typ, len(chars)+2), "nmt_nfkc", lines).Train()
		if want := fmt.Sprintf("vocabulary of %d pieces, expected at least %d: %d characters and 3 special ones", len(chars)+2, len(chars)+3, len(chars)); err == nil || err.Error() != want {
			t.Errorf("%s: error %v, want %q", typ, err, want)
		}
	}
}

func TestTrainMeta(t *testing.T) {
	spec := trainSpec(sentencepiece.BPE, 268)
	spec.UnknownID, spec.BOSID, spec.EOSID, spec.PadID = 1, 2, 5, 0
	spec.ControlSymbols, spec.UserDefinedSymbols = []string{"<2de>", "<s>"}, []string{"XY", "</s>"}
	spec.ByteFallback = true
	lines := []string{"aXYb <2de> aXYb abX", "<unk> <0x41> ab</s>c"}
	m := mustTrain(t, trainOn(t, spec, "identity", lines))
	want := []sentencepiece.Piece{{Text: "<pad>", Type: sentencepiece.Control}, {Text: "<unk>", Type: sentencepiece.Unknown}, {Text: "<s>", Type: sentencepiece.Control}, {Text: "<2de>", Type: sentencepiece.Control},
		{Text: "XY", Type: sentencepiece.UserDefined}, {Text: "</s>", Type: sentencepiece.UserDefined}, {Text: "<0x00>", Type: sentencepiece.Byte}}
	for i, p := range want {
		if got := m.Pieces[i]; got.Text != p.Text || got.Type != p.Type {
			t.Errorf("pieces[%d] = %q, %s, want %q, %s", i, got.Text, got.Type, p.Text, p.Type)
		}
	}
	for _, p := range m.Pieces[6+256:] {
		if p.Type != sentencepiece.Normal || strings.ContainsAny(p.Text, "<>Y0") {
			t.Errorf("found piece %q, %s, expected none with the text of special pieces", p.Text, p.Type)
		}
	}
	for _, c := range []struct {
		change func(*sentencepiece.TrainerSpec)
		want   string
	}{
		{func(s *sentencepiece.TrainerSpec) { s.BOSID = 0 }, "bos_id: found 0, expected a free id less than 300, which is that of <unk>"},
		{func(s *sentencepiece.TrainerSpec) { s.UnknownID = -1 }, "unk_id: found -1"},
		{func(s *sentencepiece.TrainerSpec) { s.EOSID = 300 }, "eos_id: found 300"},
		{func(s *sentencepiece.TrainerSpec) { s.UserDefinedSymbols = []string{"a", "a"} }, `user_defined_symbols: found "a" twice`},
		{func(s *sentencepiece.TrainerSpec) { s.UserDefinedSymbols = []string{"<unk>"} }, `user_defined_symbols: found "<unk>" twice`},
		{func(s *sentencepiece.TrainerSpec) { s.UserDefinedSymbols = []string{""} }, "user_defined_symbols: found an empty piece"},
		{func(s *sentencepiece.TrainerSpec) { s.ControlSymbols = []string{"a\xff"} }, `control_symbols: found "a\xff", expected UTF-8 without NUL`},
		{func(s *sentencepiece.TrainerSpec) { s.ByteFallback, s.VocabSize = true, 200 }, "vocabulary of 200 pieces, expected at least 259"},
		{func(s *sentencepiece.TrainerSpec) { s.VocabSize = 0 }, "vocab_size: found 0"},
		{func(s *sentencepiece.TrainerSpec) { s.CharacterCoverage = float32(math.NaN()) }, "character_coverage: found NaN, expected 0.98 to 1"},
		{func(s *sentencepiece.TrainerSpec) { s.MaxPieceLength = 0 }, "max_sentencepiece_length: found 0"},
		{func(s *sentencepiece.TrainerSpec) { s.ModelType = sentencepiece.Word }, "model_type: found word, expected unigram or bpe"},
		{func(s *sentencepiece.TrainerSpec) { s.WhitespaceAsSuffix = true }, "treat_whitespace_as_suffix"},
	} {
		spec := trainSpec(sentencepiece.Unigram, 300)
		c.change(&spec)
		if _, err := New(spec, sentencepiece.NewNormalizerSpec()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("NewTrainer: error %v, want %q", err, c.want)
		}
	}
	spec = trainSpec(sentencepiece.Unigram, 300)
	spec.RequiredChars = "a\t"
	if _, err := trainOn(t, spec, "identity", []string{"ab"}).Train(); err == nil || !strings.Contains(err.Error(), `required_chars: found '\t'`) {
		t.Errorf("required_chars with a tab: error %v", err)
	}
}

// Rare characters have no piece, except required ones.
func TestTrainCoverage(t *testing.T) {
	for _, typ := range bothTypes {
		spec := trainSpec(typ, 12)
		spec.CharacterCoverage, spec.RequiredChars = 0.98, "öx"
		lines := append(slices.Repeat([]string{"abab abba"}, 100), "aqüö")
		m := mustTrain(t, trainOn(t, spec, "nmt_nfkc", lines))
		var texts []string
		for _, p := range m.Pieces {
			texts = append(texts, p.Text)
		}
		for text, want := range map[string]bool{"a": true, "ö": true, "x": true, "q": false, "ü": false} {
			if slices.Contains(texts, text) != want {
				t.Errorf("%s: pieces %q contain %q: %v, want %v", typ, texts, text, !want, want)
			}
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
	for _, typ := range bothTypes {
		train := func(size int, normalization string, lines []string) {
			tr := trainOn(t, trainSpec(typ, size), normalization, lines)
			if size%3 == 0 {
				tr.spec.CharacterCoverage = 1
			}
			checkTrained(t, tr)
		}
		for i := range hostileLines {
			train(20+i*20, "identity", hostileLines[i:i+1])
		}
		for i := 0; i < len(hostileLines); i += 6 {
			train(20+i*20, "nmt_nfkc", hostileLines[:i])
			train(20+i*20, "nmt_nfkc", hostileLines[i:])
		}
		for _, normalization := range normalizationNames {
			train(120, normalization, hostileLines)
		}
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
		spec := trainSpec(sentencepiece.Unigram+sentencepiece.ModelType(flags&1), int(size)+1)
		spec.SplitByWhitespace, spec.SplitDigits, spec.SplitByNumber = flags&2 == 0, flags&4 != 0, flags&8 == 0
		spec.SplitByUnicodeScript, spec.WhitespaceOnlyPieces = flags&16 == 0, flags&32 != 0
		spec.MaxPieceLength = 1 + int32(size%20)
		spec.CharacterCoverage = 1
		tr, err := New(spec, normalizerSpec(t, normalizationNames[int(flags>>6)]))
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
func naivePieces(r *pieceRules, texts []string, f func(piece string, next rune)) {
	for _, text := range texts {
		chars := []rune(text)
		for i := range chars {
			for j := i + 1; j <= len(chars); j++ {
				var state pieceState
				ok := true
				for _, c := range chars[i:j] {
					if ok {
						state, ok = r.extend(state, r.class(c))
					}
				}
				if !ok || !r.complete(state, r.class(chars[j-1])) {
					continue
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
		spec := trainSpec(sentencepiece.Unigram, 1000)
		spec.MaxPieceLength = 1 + int32(random.IntN(12))
		spec.CharacterCoverage = 1
		spec.SplitByWhitespace, spec.SplitDigits = round%3 != 0, round%5 == 0
		spec.WhitespaceOnlyPieces, spec.SplitByNumber = round%7 == 0, round%2 == 0
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
		tr := trainOn(t, spec, "identity", lines)
		for _, l := range lines {
			normal = append(normal, string(tr.texts.normalizer.Append(nil, l)))
		}
		want, nexts := map[string]int64{}, map[string]map[rune]bool{}
		naivePieces(tr.texts.rules, normal, func(piece string, next rune) {
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
	spec := trainSpec(sentencepiece.Unigram, 1000)
	lines := []string{"abcab cabab", "abcabcabca ababab", "b"}
	tr := trainOn(t, spec, "identity", lines)
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
	tr := trainOn(t, trainSpec(sentencepiece.Unigram, 10000), "identity", []string{s.String()})
	tr.spec.CharacterCoverage = 1
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

// naiveBPE is trainBPE without its data structures.
func naiveBPE(r *pieceRules, words map[string]int64, merges int) []string {
	type split struct {
		parts []string
		count int64
	}
	var splits []split
	for w, n := range words {
		splits = append(splits, split{strings.Split(w, ""), n})
	}
	valid := func(s string) bool {
		ok := false
		naivePieces(r, []string{s}, func(piece string, _ rune) { ok = ok || piece == s })
		return ok
	}
	var pieces []string
	forgotten := map[[2]string]bool{}
	for len(pieces) < merges {
		counts := map[[2]string]int64{}
		for _, s := range splits {
			for i := range s.parts[1:] {
				counts[[2]string{s.parts[i], s.parts[i+1]}] += s.count
			}
		}
		var best [2]string
		for p, n := range counts {
			text, bestText := p[0]+p[1], best[0]+best[1]
			if forgotten[p] || !valid(text) {
				continue
			}
			if slices.Contains(pieces, text) {
				continue
			}
			order := func(a, b int) int { return a - b }
			d := counts[best] - n
			if d == 0 {
				d = int64(order(utf8.RuneCountInString(text), utf8.RuneCountInString(bestText)))
			}
			if bestText == "" || d < 0 || d == 0 && text < bestText {
				best = p
			}
		}
		if best[0] == "" {
			break
		}
		pieces = append(pieces, best[0]+best[1])
		for k := range splits {
			var parts []string
			old := splits[k].parts
			for i := 0; i < len(old); i++ {
				if i+1 < len(old) && old[i] == best[0] && old[i+1] == best[1] {
					parts = append(parts, old[i]+old[i+1])
					i++
				} else {
					parts = append(parts, old[i])
				}
			}
			splits[k].parts = parts
		}
	}
	return pieces
}

func TestBPE(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for range 15 {
		alphabet := []rune("ab1, 好\u0301")[:2+random.IntN(5)]
		var lines []string
		for range 1 + random.IntN(20) {
			var s strings.Builder
			for range random.IntN(40) {
				s.WriteRune(alphabet[random.IntN(len(alphabet))])
			}
			lines = append(lines, s.String())
		}
		tr := trainOn(t, trainSpec(sentencepiece.BPE, 40), "identity", lines)
		tr.spec.CharacterCoverage = 1
		words := map[string]int64{}
		for _, l := range lines {
			for w := range strings.SplitSeq(string(tr.texts.normalizer.Append(nil, l)), "▁") {
				if w != "" {
					words["▁"+w]++
				}
			}
		}
		c, err := tr.corpus()
		if err != nil {
			continue
		}
		got := tr.trainBPE(c, 40)
		var texts []string
		for _, p := range got[:len(got)-len(c.chars)] {
			texts = append(texts, p.Text)
		}
		// Two pairs of the same text can be equally frequent. Then the first to arise is
		// joined, which naiveBPE does not know.
		want := naiveBPE(tr.texts.rules, words, 40-len(c.chars))
		if same := min(len(want), 12); len(texts) < same || !slices.Equal(texts[:same], want[:same]) {
			t.Fatalf("pieces of %q: %q, want %q", lines, texts, want)
		}
	}
}

// The table of a large corpus is a sample that keeps its limit and the frequent words.
func TestTrainSample(t *testing.T) {
	for _, typ := range bothTypes {
		tr := trainOn(t, trainSpec(typ, 200), "nmt_nfkc", nil)
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
				t.Errorf("%s: no piece %q", typ, want)
			}
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
	for _, typ := range bothTypes {
		b.Run("type="+typ.String(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				mustTrain(b, trainOn(b, trainSpec(typ, 8000), "nmt_nfkc", lines))
			}
			b.ReportMetric(float64(len(lines)*b.N)/b.Elapsed().Seconds(), "lines/s")
		})
	}
}

// The pieces equal those of spm_train, which has trained the models of testdata on the lines of
// text.txt.
func TestTrainGolden(t *testing.T) {
	lines := strings.Split(strings.TrimSuffix(string(readFile(t, "../testdata/text.txt")), "\n"), "\n")
	for name, minCommon := range map[string]float64{
		"bpe-identity": 1, "bpe-spaces": 1, "unigram-nmt_nfkc": 0.9, "unigram-nmt_nfkc_cf": 0.9, "unigram-identity": 0.9, "unigram-spaces": 0.9,
	} {
		want, err := sentencepiece.UnmarshalModel(readFile(t, "../testdata/"+name+".model.gz"))
		if err != nil {
			t.Fatal(err)
		}
		tr, err := New(want.Trainer, want.Normalizer)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, l := range lines {
			tr.Add(l)
		}
		got := mustTrain(t, tr)
		texts := map[string]bool{}
		for _, p := range want.Pieces {
			texts[p.Text] = true
		}
		common := 0
		for i, p := range got.Pieces {
			if texts[p.Text] {
				common++
			}
			if q := want.Pieces[i]; minCommon == 1 && (p.Text != q.Text || p.Score != q.Score || p.Type != q.Type) {
				t.Errorf("%s: pieces[%d] = %q, %v, %s, want %q, %v, %s", name, i, p.Text, p.Score, p.Type, q.Text, q.Score, q.Type)
				break
			}
		}
		if share := float64(common) / float64(len(want.Pieces)); share < minCommon || len(got.Pieces) != len(want.Pieces) {
			t.Errorf("%s: %d pieces, %.3f of them common, want %d, %v", name, len(got.Pieces), share, len(want.Pieces), minCommon)
		}
		if _, err := sentencepiece.New(got); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
