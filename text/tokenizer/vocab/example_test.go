package vocab_test

import (
	"fmt"

	"tfm/text"
	"tfm/text/tokenizer/vocab"
)

// A model learns its tokenizers from its corpus and stores them in its file.
func Example() {
	var trainer vocab.Trainer
	for range 10 {
		trainer.Add(text.Pair{Source: "a red dog", Target: "ein roter Hund"})
	}
	learned, err := trainer.Train(280, true)
	if err != nil {
		fmt.Println(err)
		return
	}
	files, err := learned.Marshal()
	if err != nil {
		fmt.Println(err)
		return
	}
	read, err := vocab.UnmarshalTokenizers(files)
	if err != nil {
		fmt.Println(err)
		return
	}
	ids := read.Source.Encode(nil, "a red dog")
	fmt.Println(len(files), read.Joint(), len(ids), read.Target.Decode(ids))
	// Output: 1 true 3 a red dog
}
