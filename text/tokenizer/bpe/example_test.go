package bpe_test

import (
	"fmt"

	"tfm/text/tokenizer/bpe"
)

func ExampleTrainer() {
	var trainer bpe.Trainer
	for _, line := range []string{"low low low", "lower lowest", "new newer newest"} {
		trainer.Add(line)
	}
	t, err := trainer.Train(bpe.MinSize + 6)
	if err != nil {
		fmt.Println(err)
		return
	}
	show := func(ids []int32) {
		for _, id := range ids {
			fmt.Print(t.Piece(id), " ")
		}
		fmt.Printf("= %s\n", t.Decode(ids))
	}
	show(t.Encode(nil, "new lows"))
	// Output:
	// ▁new ▁low s = new lows
}
