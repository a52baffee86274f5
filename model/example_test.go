package model_test

import (
	"fmt"

	"tfm/mat"
	"tfm/model"
)

// A small Transformer: its parameters with their shapes, and a ragged batch. A matrix that
// multiplies rows is [in × out]; W^Q, W^K and W^V are one matrix [d × 3d].
func ExampleNew() {
	m, err := model.New(model.Config{DModel: 8, Heads: 2, DFF: 32, EncoderLayers: 1, DecoderLayers: 1, LabelSmoothing: 0.1,
		SrcVocab: 20, TgtVocab: 20, Tie: model.TieAll, NormEps: 1e-5, MaxLen: 16})
	if err != nil {
		fmt.Println(err)
		return
	}
	m.AllocWeights()
	m.Init(1)
	for _, p := range m.Params.List {
		fmt.Println(p.Name, p.Shape)
	}
	fmt.Println("parameters:", m.Params.Count())

	var batch model.Batch // two sentence pairs, concatenated without padding
	batch.Append([]int32{5, 6, 7}, []int32{8, 9})
	batch.Append([]int32{10}, []int32{11, 12, 13, 14})
	fmt.Println("sources begin at", batch.SrcStarts, "and targets at", batch.TgtStarts)
	loss := model.NewPass(m, nil).Evaluate(&batch)
	fmt.Println("target tokens of the loss:", loss.Tokens)
	// Output:
	// embedding [20 8]
	// encoder.0.self.qkv.weight [8 24]
	// encoder.0.self.qkv.bias [24]
	// encoder.0.self.out.weight [8 8]
	// encoder.0.self.out.bias [8]
	// encoder.0.norm1.gain [8]
	// encoder.0.norm1.bias [8]
	// encoder.0.ff.inner.weight [8 32]
	// encoder.0.ff.inner.bias [32]
	// encoder.0.ff.outer.weight [32 8]
	// encoder.0.ff.outer.bias [8]
	// encoder.0.norm2.gain [8]
	// encoder.0.norm2.bias [8]
	// decoder.0.self.qkv.weight [8 24]
	// decoder.0.self.qkv.bias [24]
	// decoder.0.self.out.weight [8 8]
	// decoder.0.self.out.bias [8]
	// decoder.0.norm1.gain [8]
	// decoder.0.norm1.bias [8]
	// decoder.0.cross.q.weight [8 8]
	// decoder.0.cross.q.bias [8]
	// decoder.0.cross.kv.weight [8 16]
	// decoder.0.cross.kv.bias [16]
	// decoder.0.cross.out.weight [8 8]
	// decoder.0.cross.out.bias [8]
	// decoder.0.norm2.gain [8]
	// decoder.0.norm2.bias [8]
	// decoder.0.ff.inner.weight [8 32]
	// decoder.0.ff.inner.bias [32]
	// decoder.0.ff.outer.weight [32 8]
	// decoder.0.ff.outer.bias [8]
	// decoder.0.norm3.gain [8]
	// decoder.0.norm3.bias [8]
	// parameters: 2208
	// sources begin at [0 4 6] and targets at [0 3 8]
	// target tokens of the loss: 8
}

// Train adds to the gradients; the update of the weights is the caller's.
func ExamplePass_Train() {
	m, err := model.New(model.Config{DModel: 8, Heads: 2, DFF: 32, EncoderLayers: 2, DecoderLayers: 2,
		SrcVocab: 20, TgtVocab: 20, Tie: model.TieAll, NormEps: 1e-5, MaxLen: 16})
	if err != nil {
		fmt.Println(err)
		return
	}
	m.AllocForTraining()
	m.Init(1)
	pool := mat.NewPool(2)
	defer pool.Close()
	pass := model.NewPass(m, pool)
	var batch model.Batch
	batch.Append([]int32{5, 6, 7}, []int32{8, 9})
	first := pass.Evaluate(&batch)
	for range 100 {
		clear(m.Params.G)
		pass.Train(&batch, 0, 1)
		mat.Axpy(-0.05, m.Params.G, m.Params.W) // plain gradient descent
	}
	last := pass.Evaluate(&batch)
	fmt.Println(first.Tokens, "tokens; loss below a tenth of the first:", last.Sum < first.Sum/10)
	// Output:
	// 3 tokens; loss below a tenth of the first: true
}
