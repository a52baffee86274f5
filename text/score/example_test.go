package score_test

import (
	"fmt"

	"tfm/text/score"
)

func ExampleBLEU() {
	hypotheses := []string{"the red dog sees the tree", "the cat likes the old house"}
	references := []string{"the red dog sees a tree", "the cat likes the old house"}
	s := score.Count(score.BLEU{Tokenizer: score.Auto.For(references)}, hypotheses, references)
	fmt.Println(s)
	fmt.Println(s.Result().Signature)
	// Output:
	// BLEU = 77.82 91.7/80.0/75.0/66.7 (BP = 1.000 ratio = 1.000 hyp_len = 12 ref_len = 12)
	// nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:tfm-2.6.0
}

// A single sentence often has an order without matches, here that of 4-grams, which smoothing
// counts, or is too short for an order.
func ExampleBLEU_sentence() {
	bleu := score.BLEU{EffectiveOrder: true, Lowercase: true}
	s := score.Count(bleu, []string{"The red dog sees it"}, []string{"the red dog likes it"})
	fmt.Printf("%.1f\n", s.Result().Score)
	// Output:
	// 42.7
}

func ExampleCHRF() {
	for _, words := range []int{0, 2} {
		chrf := score.CHRF{WordOrder: words}
		fmt.Println(score.Count(chrf, []string{"the red dog sees the tree"}, []string{"the red dog sees a tree"}))
	}
	// Output:
	// chrF2 = 75.25
	// chrF2++ = 74.39
}
