package decode_test

import (
	"context"
	"fmt"

	"tfm/mat"
	"tfm/model"
	"tfm/model/decode"
)

// memorizer returns a model trained to translate 5 6 7 to 8 9.
func memorizer(pool *mat.Pool) (*model.Transformer, error) {
	m, err := model.New(model.Config{DModel: 8, Heads: 2, DFF: 32, EncoderLayers: 2, DecoderLayers: 2,
		SrcVocab: 20, TgtVocab: 20, Tie: model.TieAll, NormEps: 1e-5, MaxLen: 16})
	if err != nil {
		return nil, err
	}
	m.AllocForTraining()
	m.Init(1)
	var batch model.Batch
	batch.Append([]int32{5, 6, 7}, []int32{8, 9})
	pass := model.NewPass(m, pool)
	for range 100 {
		clear(m.Params.G)
		pass.Train(&batch, 0, 1)
		mat.Axpy(-0.05, m.Params.G, m.Params.W)
	}
	return m, nil
}

// Goroutines share Weights; each has its own Decoder.
func ExampleDecoder_Translate() {
	pool := mat.NewPool(2)
	defer pool.Close()
	m, err := memorizer(pool)
	if err != nil {
		fmt.Println(err)
		return
	}
	weights := decode.NewWeights(m, pool)
	d := decode.New(weights, pool)
	best, err := d.Translate(context.Background(), [][]int32{{5, 6, 7}}, decode.DefaultOptions())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(best[0].Tokens)

	attention, err := d.Attention(context.Background(), [][]int32{{5, 6, 7}}, [][]int32{best[0].Tokens}, decode.AlignHeads{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(attention[0]), "×", len(attention[0][0]), "weights, with EOS on both sides")
	// Output:
	// [8 9]
	// 3 × 4 weights, with EOS on both sides
}

// A greedy search written on State, as a start for other search algorithms.
func ExampleState() {
	m, err := memorizer(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	s := decode.NewState(decode.NewWeights(m, nil), nil)
	source := s.Add(nil, []int32{5, 6, 7})[0]
	row := decode.Row{Source: source, Token: model.BOS, Parent: -1}
	for range 8 {
		logits := s.Step([]decode.Row{row}).Row(0)
		best := model.EOS
		for id := range logits {
			if logits[id] > logits[best] {
				best = id
			}
		}
		if best == model.EOS {
			break
		}
		fmt.Println(best)
		row = decode.Row{Source: source, Token: int32(best), Parent: 0}
	}
	// Output:
	// 8
	// 9
}
