package bpe

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tfm/internal/texttest"
)

// clauses returns n different clauses without spaces, made of a few words.
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

// Words that come when the table is full count like those before them: the second language of a
// corpus whose first one fills the table has its pieces in the vocabulary, though none of its
// clauses ever comes twice.
func TestTrainerBeyondItsTable(t *testing.T) {
	first, second := texttest.Lines(3000), clauses(3000)
	const size = 1000
	share := func(tr *Trainer) (pieces int) {
		for _, l := range append(slices.Clone(first), second...) {
			tr.Add(l)
			if tr.bytes > tr.maxBytes {
				t.Fatalf("a table of %d bytes, want at most %d", tr.bytes, tr.maxBytes)
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
	var whole Trainer
	full := Trainer{maxBytes: 1 << 16}
	want, got := share(&whole), share(&full)
	if whole.Threshold() != 1 || full.Threshold() == 1 {
		t.Fatalf("thresholds %d and %d, want 1 and more", whole.Threshold(), full.Threshold())
	}
	if got < want*3/4 {
		t.Errorf("%d of the pieces are of the second language, want about %d, as without a bound", got, want)
	}
}

// The counts are right on average: their sum, over words that occur equally often, is at most
// five standard deviations off, whenever the words come.
func TestTrainerCountsAreUnbiased(t *testing.T) {
	const words, limit = 4000, 1 << 13
	for _, times := range []int{1, 3, 20} {
		tr := Trainer{maxBytes: limit}
		for _, half := range []string{"early", "late"} {
			for range times {
				for i := range words {
					tr.Add(fmt.Sprint(half, string(rune('A'+i%26)), string(rune('A'+i/26%26)), string(rune('A'+i/26/26))))
				}
			}
		}
		sum := map[string]int64{}
		for i, w := range tr.words {
			sum[w[:4]] += tr.counts[i]
		}
		want := float64(words * times)
		for _, half := range []string{" ear", " lat"} {
			sd := math.Sqrt(want * float64(tr.Threshold()-1))
			if off := math.Abs(float64(sum[half]) - want); off > 5*sd {
				t.Errorf("%d words, %d times each, %s: counted %d, want %v, five times %v off at most", words, times, half, sum[half], want, sd)
			}
		}
		if tr.bytes > limit || tr.Threshold() == 1 {
			t.Errorf("%d bytes with a threshold of %d, want at most %d bytes and a threshold over 1", tr.bytes, tr.Threshold(), limit)
		}
	}
}

// Frequent words are counted, not sampled.
func TestTrainerKeepsFrequentWords(t *testing.T) {
	tr := Trainer{maxBytes: 1 << 13}
	const times = 5000
	for _, rare := range clauses(times) {
		tr.Add("the " + rare)
	}
	i, ok := tr.index[" the"]
	if !ok || tr.counts[i] != times {
		t.Errorf("%q is in the table: %v, expected with a count of %d", " the", ok, times)
	}
}

func TestTrainerIsDeterministic(t *testing.T) {
	var trained []*Tokenizer
	for range 2 {
		tr := Trainer{maxBytes: 1 << 12}
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
		t.Error("the same texts gave two different tokenizers")
	}
}

// A pair of one word that was drawn has no more support than one that occurs once: it is neither
// merged nor kept in memory.
func TestTrainerNeedsTwoDrawnWords(t *testing.T) {
	tr := Trainer{maxBytes: 1 << 12}
	for _, l := range clauses(1000) {
		tr.Add(l)
	}
	least := 2 * tr.Threshold()
	if least < 4 {
		t.Fatalf("a threshold of %d, want more than 1", tr.Threshold())
	}
	m := newMerger(&tr)
	for p, o := range m.pairs {
		if o.count < least {
			t.Errorf("the pair %v counts %d, want at least %d", p, o.count, least)
		}
	}
	merges := 0
	for {
		p, ok := m.mostFrequent()
		if !ok {
			break
		}
		if count := m.pairs[p].count; count < least {
			t.Fatalf("merge %d: the pair %v counts %d, want at least %d", merges, p, count, least)
		}
		m.merge(p, int32(firstMerge+merges))
		merges++
	}
	if merges < 20 {
		t.Errorf("%d merges, want the 20 words at least", merges)
	}
}

// A corpus that just fits is counted exactly.
func TestTrainerThatJustFits(t *testing.T) {
	var zero Trainer
	zero.Add("x")
	if zero.maxBytes != MaxTableBytes {
		t.Errorf("a table of at most %d bytes, want %d", zero.maxBytes, MaxTableBytes)
	}
	lines := append(clauses(100), texttest.Lines(100)...)
	var whole Trainer
	for _, l := range lines {
		whole.Add(l)
	}
	for _, spare := range []int{0, -1} {
		tr := Trainer{maxBytes: whole.bytes + spare}
		for _, l := range lines {
			tr.Add(l)
		}
		if exact := tr.Threshold() == 1; exact != (spare == 0) || exact && !slices.Equal(tr.counts, whole.counts) {
			t.Errorf("with room for %d bytes of %d: threshold %d", tr.maxBytes, whole.bytes, tr.Threshold())
		}
	}
}
