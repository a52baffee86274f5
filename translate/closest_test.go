package translate

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tfm/model"
	"tfm/text"
	"tfm/text/tokenizer/vocab"
)

// The closest source is that of a search through all, by the definition of the edit distance.
func TestClosest(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	vocabulary := strings.Fields("the the the a a of red dog cat house tree sees runs 狗看见 猫")
	sentence := func() string {
		var words []string
		for range 1 + r.IntN(7) {
			words = append(words, vocabulary[r.IntN(len(vocabulary))])
		}
		return strings.Join(words, " ")
	}
	found := 0
	for range 5 {
		targets := map[string]string{}
		for range 60 {
			targets[sentence()] = "x"
		}
		index := newMemoryIndex(targets)
		for range 100 {
			s, least := sentence(), []float64{0.3, 0.5, 0.75, 1}[r.IntN(4)]
			want, best := "", least
			a := similarityWords(s)
			for source := range targets {
				b := similarityWords(source)
				longer := max(len(a), len(b))
				similar := float64(longer-distance(a, b)) / float64(longer)
				if similar > best || similar == best && (want == "" || source < want) {
					want, best = source, similar
				}
			}
			got, similarity := index.closest(s, least)
			switch {
			case got == nil && want != "", got != nil && got.source != want:
				t.Fatalf("closest to %q from %v: %v, want %q of %v", s, least, got, want, best)
			case got != nil:
				if found++; similarity != best {
					t.Fatalf("similarity of %q and %q is %v, want %v", s, want, similarity, best)
				}
			}
		}
	}
	// 17 of 25 words are a similarity of 0.68, which is not rounded to less.
	words := strings.Fields("a b c d e f g h i j k l m n o p q r s t u v w x y")
	index := newMemoryIndex(map[string]string{strings.Join(words[:17], " "): "x"})
	if got, similarity := index.closest(strings.Join(words, " "), 0.68); got == nil || similarity != 0.68 {
		t.Errorf("17 of 25 words: similarity %v of %v, want 0.68", similarity, got)
	}
	if found < 125 {
		t.Errorf("%d found, want at least 125", found)
	}
	if got := similarityWords("Die Katze看见 dog"); strings.Join(got, "|") != "die|katze|看|见|dog" {
		t.Errorf("words %q", got)
	}
}

// Tuning makes the target of the pair more probable, by the weights of the last decoder layer
// alone, and begins with those of the model each time.
func TestTune(t *testing.T) {
	var trainer vocab.Trainer
	trainer.Add(text.Pair{Source: "the red dog sees the cat", Target: "le chien rouge voit le chat"})
	tokenizers, err := trainer.Train(280, true)
	if err != nil {
		t.Fatal(err)
	}
	c, err := model.Preset("demo")
	if err != nil {
		t.Fatal(err)
	}
	c.SrcVocab, c.TgtVocab = tokenizers.Source.Size(), tokenizers.Target.Size()
	m, err := model.New(c)
	if err != nil {
		t.Fatal(err)
	}
	m.AllocWeights()
	m.Init(1)
	before := slices.Clone(m.Params.W)
	tr, err := New(m, tokenizers, Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	a, err := tr.newAdapter()
	if err != nil {
		t.Fatal(err)
	}
	src, tgt := tokenizers.Source.Encode(nil, "the red dog sees the cat"), tokenizers.Target.Encode(nil, "le chien rouge voit le chat")
	var losses [3]float64
	var tuned [3][]float32
	for i := range losses {
		if !a.tune(src, tgt) {
			t.Fatal("the pair cannot be trained on")
		}
		losses[i] = a.tuner.Step().NLL
		for _, p := range a.tuner.Params {
			tuned[i] = append(tuned[i], p.W...)
		}
	}
	a.tuner.Begin(src, tgt)
	var untuned []float32
	for _, p := range a.tuner.Params {
		untuned = append(untuned, p.W...)
	}
	if loss := a.tuner.Step().NLL; !(losses[0] < 0.8*loss) {
		t.Errorf("loss %v, before %v", losses[0], loss)
	}
	if !slices.Equal(tuned[0], tuned[1]) || losses[1] != losses[0] {
		t.Error("the second tuning to a pair gives other weights")
	}
	if slices.Equal(tuned[0], untuned) || !slices.Equal(m.Params.W, before) {
		t.Error("the copy did not change, or the model did")
	}
}

// distance is the edit distance, by its recursive definition with a table of results.
func distance(a, b []string) int {
	table := map[[2]int]int{}
	var of func(i, j int) int // of a[i:] and b[j:]
	of = func(i, j int) int {
		switch {
		case i == len(a) || j == len(b):
			return len(a) - i + len(b) - j
		case a[i] == b[j]:
			return of(i+1, j+1)
		}
		n, ok := table[[2]int{i, j}]
		if !ok {
			n = 1 + min(of(i+1, j), of(i, j+1), of(i+1, j+1))
			table[[2]int{i, j}] = n
		}
		return n
	}
	return of(0, 0)
}
