package bpe

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tfm/internal/texttest"
	"tfm/text/tokenizer/internal/tally"
)

// clauses returns n distinct clauses without spaces, made of a few words.
func clauses(n int) []string {
	rng := rand.New(rand.NewPCG(5, 6))
	words := strings.Fields("我们 他们 今天 明天 学校 老师 学生 喜欢 看书 吃饭 回家 朋友 中国 北京 天气 很好 工作 时候 因为 所以")
	lines, seen := make([]string, 0, n), map[string]bool{}
	for len(lines) < n {
		var b strings.Builder
		for range 6 + rng.IntN(6) {
			b.WriteString(words[rng.IntN(len(words))])
		}
		if s := b.String(); !seen[s] {
			seen[s] = true
			lines = append(lines, s)
		}
	}
	return lines
}

// Words that arrive when the table is full count as much as those before them: if the first
// language of a corpus fills the table, the second one still has its pieces in the vocabulary,
// although none of its clauses repeats.
func TestTrainerFullTable(t *testing.T) {
	first, second := texttest.Lines(3000), clauses(3000)
	const size = 1000
	countSecond := func(tr *Trainer) (pieces int) {
		for _, l := range append(slices.Clone(first), second...) {
			tr.Add(l)
			if tr.words.Full() {
				t.Fatalf("table of %d bytes, want at most %d", tr.words.Size, max(tr.words.Limit, 1))
			}
		}
		b, err := tr.Train(size)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range b.pieces[firstMerge:] {
			if strings.ContainsAny(p, "我他今明学老喜看吃回朋北天很工时因所") {
				pieces++
			}
		}
		return pieces
	}
	var exact Trainer
	sampled := Trainer{words: tally.Table{Limit: 1 << 16}}
	want, got := countSecond(&exact), countSecond(&sampled)
	if exact.Threshold() != 1 || sampled.Threshold() == 1 {
		t.Fatalf("thresholds %d and %d, want 1 and more than 1", exact.Threshold(), sampled.Threshold())
	}
	if got < want*3/4 {
		t.Errorf("%d pieces of the second language, want about %d as with exact counts", got, want)
	}
}

// The counts of frequent words are exact.
func TestTrainerKeepsFrequentWords(t *testing.T) {
	tr := Trainer{words: tally.Table{Limit: 1 << 13}}
	const times = 5000
	for _, rare := range clauses(times) {
		tr.Add("the " + rare)
	}
	if i := slices.Index(tr.words.Strings, " the"); i < 0 || tr.words.Counts[i] != times {
		t.Errorf("%q in the table: %v; want it with the count %d", " the", i >= 0, times)
	}
}

func TestTrainerIsDeterministic(t *testing.T) {
	var trained []*Tokenizer
	for range 2 {
		tr := Trainer{words: tally.Table{Limit: 1 << 12}}
		for _, l := range append(clauses(500), texttest.Lines(500)...) {
			tr.Add(l)
		}
		b, err := tr.Train(400)
		if err != nil {
			t.Fatal(err)
		}
		trained = append(trained, b)
	}
	if !slices.Equal(trained[0].merges, trained[1].merges) {
		t.Error("two tokenizers of the same texts differ")
	}
}

// A pair in only one drawn word has the support of a single occurrence: it is neither merged nor
// kept in memory.
func TestTrainerNeedsTwoDrawnWords(t *testing.T) {
	tr := Trainer{words: tally.Table{Limit: 1 << 12}}
	for _, l := range clauses(1000) {
		tr.Add(l)
	}
	minCount := 2 * tr.Threshold()
	if minCount < 4 {
		t.Fatalf("threshold %d, want more than 1", tr.Threshold())
	}
	m := newMerger(&tr)
	for p, o := range m.pairs {
		if o.count < minCount {
			t.Errorf("pair %v has count %d, want at least %d", p, o.count, minCount)
		}
	}
	merges := 0
	for {
		p, ok := m.mostFrequent()
		if !ok {
			break
		}
		if count := m.pairs[p].count; count < minCount {
			t.Fatalf("merge %d: pair %v has count %d, want at least %d", merges, p, count, minCount)
		}
		m.merge(p, int32(firstMerge+merges))
		merges++
	}
	if merges < 20 {
		t.Errorf("%d merges, want at least one for each of the 20 words", merges)
	}
}

// The counts of a corpus that just fits are exact.
func TestTrainerExactFit(t *testing.T) {
	lines := append(clauses(100), texttest.Lines(100)...)
	var unlimited Trainer
	for _, l := range lines {
		unlimited.Add(l)
	}
	for _, spare := range []int{0, -1} {
		tr := Trainer{words: tally.Table{Limit: unlimited.words.Size + spare}}
		for _, l := range lines {
			tr.Add(l)
		}
		if exact := tr.Threshold() == 1; exact != (spare == 0) || exact && !slices.Equal(tr.words.Counts, unlimited.words.Counts) {
			t.Errorf("limit of %d bytes for %d: threshold %d, want exact counts only if the limit suffices", tr.words.Limit, unlimited.words.Size, tr.Threshold())
		}
	}
}
