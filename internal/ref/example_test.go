package ref_test

import (
	"fmt"
	"math"

	"tfm/attn"
	"tfm/internal/ref"
	"tfm/mat"
)

// show prints a matrix, one row a line.
func show(name string, m ref.Matrix) {
	fmt.Println(name)
	for _, row := range m {
		fmt.Printf("  %.2f\n", row)
	}
}

// Two queries and two keys with d_k = 1. The first query's scores are 1·0 and 1·ln 3, their
// exponentials 1 and 3, the weights 1/4 and 3/4. Both scores of the second query are 0.
func ExampleScaledDotProduct() {
	q, k, v := ref.Matrix{{1}, {0}}, ref.Matrix{{0}, {math.Log(3)}}, ref.Matrix{{4, 100}, {8, 200}}
	out, weights := ref.ScaledDotProduct(q, k, v, nil)
	show("weights", weights)
	show("output", out)

	_, weights = ref.ScaledDotProduct(q, k, v, ref.LookAhead)
	show("weights with LookAhead", weights)

	second := func(query, key int) bool { return query == 1 }
	out, _ = ref.ScaledDotProduct(q, k, v, second)
	show("output, the first query without keys", out)
	// Output:
	// weights
	//   [0.25 0.75]
	//   [0.50 0.50]
	// output
	//   [7.00 175.00]
	//   [6.00 150.00]
	// weights with LookAhead
	//   [1.00 0.00]
	//   [0.50 0.50]
	// output, the first query without keys
	//   [0.00 0.00]
	//   [6.00 150.00]
}

// The first query of the example of ScaledDotProduct: P = (1/4, 3/4) and out = 1/4·4 + 3/4·8 = 7.
// With dout = 1, dP = (4, 8) and dS = (1/4·(4-7), 3/4·(8-7)) = (-3/4, 3/4); dq is dS·k = 3/4·ln
// 3.
func ExampleScaledDotProductGrad() {
	q, k, v := ref.Matrix{{1}}, ref.Matrix{{0}, {math.Log(3)}}, ref.Matrix{{4}, {8}}
	dq, dk, dv := ref.ScaledDotProductGrad(ref.Matrix{{1}}, q, k, v, nil)
	show("dq", dq)
	show("dk", dk)
	show("dv", dv)
	// Output:
	// dq
	//   [0.82]
	// dk
	//   [-0.75]
	//   [0.75]
	// dv
	//   [0.25]
	//   [0.75]
}

// A batch of two sentences, padded with id 0 to three tokens: [batch, 1, 1, keys].
func ExamplePaddingMask() {
	mask := ref.PaddingMask([][]int32{{7, 6, 9}, {1, 0, 0}}, 0)
	fmt.Println(mask.Shape, mask.Allowed)
	// Output: [2 1 1 3] [true true true true false false]
}

func ExampleLookAheadMask() {
	mask := ref.LookAheadMask(3)
	fmt.Println(mask.Shape)
	fmt.Println(mask.Allowed)
	// Output:
	// [1 1 3 3]
	// [true false false true true false true true true]
}

// The mask of the decoder's self-attention: no padding and no later positions.
func ExampleBatchMask_And() {
	padding := ref.PaddingMask([][]int32{{7, 6, 9}, {1, 2, 0}}, 0)
	mask := padding.And(ref.LookAheadMask(3))
	fmt.Println(mask.Shape)
	fmt.Println(mask.Allowed[:9])
	fmt.Println(mask.Allowed[9:])
	// Output:
	// [2 1 3 3]
	// [true false false true true false true true true]
	// [true false false true true false true true false]
}

// A batch of two sentences of one and two tokens, padded to two, and one head. The second row is
// padding, which no query attends to.
func ExamplePaddedHeads() {
	x := mat.Of([]float32{
		1, 1,
		9, 9, // padding
		2, 0,
		2, 0,
	}, 4, 2)
	ctx := mat.New(4, 2)
	ref.PaddedHeads(ctx, attn.Inputs{Q: x, K: x, V: x}, 1, ref.PaddingMask([][]int32{{4, 0}, {5, 5}}, 0))
	show("output", ref.FromFloat32(ctx))
	// Output:
	// output
	//   [1.00 1.00]
	//   [1.00 1.00]
	//   [2.00 0.00]
	//   [2.00 0.00]
}

// Position 1 in 4 dimensions: sin 1, cos 1, sin 0.01, cos 0.01, because 10000^(2/4) is 100.
func ExamplePosition() {
	for j := range 4 {
		fmt.Printf("%.5f\n", ref.Position("interleaved", 1, j, 4))
	}
	// Output:
	// 0.84147
	// 0.54030
	// 0.01000
	// 0.99995
}

// Embeddings with d = 4 are multiplied by 2 before positions are added, so that the rows of one id
// differ.
func ExampleVariant_Embed() {
	w := ref.Weights{"e": {
		0, 0, 0, 0,
		1, 2, 3, 4,
	}}
	rows(ref.Variant{}.Embed(w, "e", 4, []int32{1, 1, 0}))
	// Output:
	// [2.000 5.000 6.000 9.000]
	// [2.841 4.540 6.010 9.000]
	// [0.909 -0.416 0.020 1.000]
}

// rows prints a matrix with three decimals, one row a line.
func rows(m ref.Matrix) {
	for _, row := range m {
		fmt.Printf("%.3f\n", row)
	}
}

// The mean of 1, 3, 5, 7 is 4 and the sum of squared deviations 20, so σ is sqrt(20/4) = 2.236, and
// the unbiased standard deviation is sqrt(20/3) = 2.582.
func ExampleWeights_Norm() {
	x := ref.Matrix{{1, 3, 5, 7}}
	rows(ref.Weights{"l.gain": {1, 1, 1, 1}}.Norm("l", "layer", x, 1e-5))
	rows(ref.Weights{"l.gain": {10, 1, 1, 10}, "l.bias": {0, 0, 100, 100}}.Norm("l", "layer", x, 1e-5))
	rows(ref.Weights{"l.gain": {1, 1, 1, 1}}.Norm("l", "unbiased", x, 1e-6))
	// Output:
	// [-1.342 -0.447 0.447 1.342]
	// [-13.416 -0.447 100.447 113.416]
	// [-1.162 -0.387 0.387 1.162]
}

// The hidden units are max(0, ·) of x_0, -x_0 and x_0 + x_1 - 5. The output is the sum of the
// first two, |x_0|, and the third.
func ExampleWeights_FeedForward() {
	w := ref.Weights{
		"l.inner.weight": {
			1, -1, 1,
			0, 0, 1,
		},
		"l.inner.bias": {0, 0, -5},
		"l.outer.weight": {
			1, 0,
			1, 0,
			0, 1,
		},
		"l.outer.bias": {0, 100},
	}
	rows(w.FeedForward("l", "relu", ref.Matrix{{3, 4}, {-3, 4}}, nil))
	// Output:
	// [3.000 102.000]
	// [3.000 100.000]
}
