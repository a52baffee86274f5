package bpe

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tfm/internal/texttest"
	"tfm/text"
	"tfm/text/tokenizer/internal/tally"
)

// A CorpusTrainer has the tables of three Trainers, whichever of them exceed their limits.
func TestCorpusTrainer(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	latin, chinese := texttest.Lines(1000), clauses(1000)
	var pairs []text.Pair
	for i := range latin {
		p := text.Pair{Source: latin[i], Target: chinese[i]}
		switch rng.IntN(4) {
		case 0:
			p.Target = latin[rng.IntN(len(latin))]
		case 1:
			p.Source = strings.ToUpper(p.Source)
		case 2:
			p.Source += chinese[rng.IntN(len(chinese))]
		}
		pairs = append(pairs, p)
	}
	pairs = append(pairs, text.Pair{}, text.Pair{Source: "only a source"})
	separate := map[bool]bool{}
	for _, limit := range []int{1 << 9, 1 << 12, 1 << 14, 1 << 15, 1 << 16, 0} {
		c := CorpusTrainer{sides: [2]Trainer{{words: tally.Table{Limit: limit}}, {words: tally.Table{Limit: limit}}}}
		source, target, joint := Trainer{words: tally.Table{Limit: limit}}, Trainer{words: tally.Table{Limit: limit}}, Trainer{words: tally.Table{Limit: limit}}
		for _, p := range pairs {
			c.Add(p)
			source.Add(p.Source)
			target.Add(p.Target)
			joint.Add(p.Source)
			joint.Add(p.Target)
		}
		for _, side := range []struct {
			name      string
			got, want *Trainer
		}{{"source", c.Source(), &source}, {"target", c.Target(), &target}, {"joint", c.Joint(), &joint}} {
			if !slices.Equal(side.got.words.Strings, side.want.words.Strings) || !slices.Equal(side.got.words.Counts, side.want.words.Counts) ||
				side.got.words.Size != side.want.words.Size || side.got.Threshold() != side.want.Threshold() {
				t.Errorf("limit %d, %s: %d words, threshold %d; want %d, %d as of a Trainer", limit, side.name,
					len(side.got.words.Strings), side.got.Threshold(), len(side.want.words.Strings), side.want.Threshold())
			}
			got, err := side.got.Train(400)
			if err != nil {
				t.Fatal(err)
			}
			if want, err := side.want.Train(400); err != nil || !slices.Equal(got.merges, want.merges) {
				t.Errorf("limit %d, %s: other merges than of a Trainer, %v", limit, side.name, err)
			}
		}
		if got, want := c.JointThreshold(), joint.Threshold(); got != want {
			t.Errorf("limit %d: JointThreshold %d, want %d", limit, got, want)
		}
		separate[c.separate] = true
	}
	if len(separate) != 2 {
		t.Errorf("the limits were exceeded: %v; want both by some and not by others", separate)
	}
}

// A Trainer of no text has the pieces of single bytes.
func TestCorpusTrainerWithoutPairs(t *testing.T) {
	var c CorpusTrainer
	for _, tr := range []*Trainer{c.Source(), c.Target(), c.Joint()} {
		if b, err := tr.Train(MinSize + 10); err != nil || b.Size() != MinSize {
			t.Errorf("tokenizer %v, error %v; want one of %d pieces", b, err, MinSize)
		}
	}
}
