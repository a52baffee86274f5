package score_test

import (
	"fmt"

	"tfm/text/score"
)

func ExampleBLEU() {
	hypotheses := []string{"the red dog sees the tree", "the cat likes the old house"}
	references := []string{"the red dog sees a tree", "the cat likes the old house"}
	bleu := score.BLEU{Tokenizer: score.Auto.For(references)}
	for i, h := range hypotheses {
		bleu.Add(h, references[i])
	}
	b := bleu.Score()
	fmt.Println(b)
	fmt.Println(b.Signature)
	// Output:
	// BLEU = 77.82 91.7/80.0/75.0/66.7 (BP = 1.000 ratio = 1.000 hyp_len = 12 ref_len = 12)
	// nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:tfm-2.6.0
}

// A single sentence often has an order without matches, here that of 4-grams, and then needs
// smoothing.
func ExampleBLEU_sentence() {
	for _, smoothing := range []score.Smoothing{score.Exp, score.Floor, score.AddK, score.NoSmooth} {
		bleu := score.BLEU{Smoothing: smoothing, EffectiveOrder: true, Lowercase: true}
		bleu.Add("The red dog sees it", "the red dog likes it")
		fmt.Printf("%-5v %.1f\n", smoothing, bleu.Score().Score)
	}
	// Output:
	// exp   42.7
	// floor 28.6
	// add-k 53.2
	// none  0.0
}

func ExampleCHRF() {
	plain, plus := score.CHRF{}, score.CHRF{WordOrder: 2}
	for _, c := range []*score.CHRF{&plain, &plus} {
		c.Add("the red dog sees the tree", "the red dog sees a tree")
		fmt.Println(c.Score())
	}
	// Output:
	// chrF2 = 75.25
	// chrF2++ = 74.39
}
