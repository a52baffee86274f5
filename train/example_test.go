package train_test

import (
	"context"
	"fmt"
	"log"

	"tfm/model"
	"tfm/model/decode"
	"tfm/train"
)

// A small model learns to reverse two tokens from pairs of ids in memory.
func Example() {
	config, err := model.Preset("demo")
	if err != nil {
		log.Fatal(err)
	}
	config.SrcVocab, config.TgtVocab, config.DModel, config.DFF, config.Dropout = 13, 13, 16, 32, 0
	config.EncoderLayers, config.DecoderLayers = 1, 1
	m, err := model.New(config)
	if err != nil {
		log.Fatal(err)
	}
	m.AllocForTraining()
	m.Init(1)
	var pairs train.Pairs
	for i := range int32(100) { // ids 0 to 2 are special tokens
		pairs.Add([]int32{3 + i/10, 3 + i%10}, []int32{3 + i%10, 3 + i/10})
	}
	o := train.DefaultOptions()
	o.Steps, o.LR, o.Warmup = 60, 1e-2, 20
	result, err := train.Run(context.Background(), m, nil, train.Data{Train: &pairs}, o, nil)
	if err != nil {
		log.Fatal(err)
	}
	best, err := decode.New(decode.NewWeights(m, nil), nil).Translate(context.Background(), [][]int32{{7, 4}}, decode.DefaultOptions())
	fmt.Println(result.Reason, best[0].Tokens, err)
	// Output: all steps are done [4 7] <nil>
}

// The paper's schedule rises linearly for 4000 steps and then falls with the inverse square root of
// the step.
func ExamplePaperSchedule() {
	s := train.PaperSchedule(512, 4000, 1)
	for _, step := range []int{1, 2000, 4000, 16000} {
		fmt.Printf("%.2e\n", s.Rate(step))
	}
	// Output:
	// 1.75e-07
	// 3.49e-04
	// 6.99e-04
	// 3.49e-04
}
