package ref_test

import (
	"fmt"
	"math"

	"tfm/attn"
	"tfm/internal/ref"
	"tfm/mat"
)

// show prints a matrix, one row a line.
func show(name string, m mat.Matrix) {
	fmt.Println(name)
	for i := range m.Rows {
		fmt.Printf("  %.2f\n", m.Row(i))
	}
}

// Two queries and two keys with d_k = 1. The first query's scores are 1·0 and 1·ln 3, their
// exponentials 1 and 3, the weights 1/4 and 3/4. Both scores of the second query are 0.
func ExampleScaledDotProduct() {
	q := mat.Of([]float32{1, 0}, 2, 1)
	k := mat.Of([]float32{0, float32(math.Log(3))}, 2, 1)
	v := mat.Of([]float32{4, 100, 8, 200}, 2, 2)
	out, weights := mat.New(2, 2), mat.New(2, 2)
	ref.ScaledDotProduct(out, weights, q, k, v, nil)
	show("weights", weights)
	show("output", out)

	ref.ScaledDotProduct(out, weights, q, k, v, ref.LookAhead)
	show("weights with LookAhead", weights)

	second := func(query, key int) bool { return query == 1 }
	ref.ScaledDotProduct(out, weights, q, k, v, second)
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
	q := mat.Of([]float32{1}, 1, 1)
	k := mat.Of([]float32{0, float32(math.Log(3))}, 2, 1)
	v := mat.Of([]float32{4, 8}, 2, 1)
	dout := mat.Of([]float32{1}, 1, 1)
	dq, dk, dv := mat.New(1, 1), mat.New(2, 1), mat.New(2, 1)
	ref.ScaledDotProductGrad(dq, dk, dv, dout, q, k, v, nil)
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
	fmt.Println(mask.Shape)
	fmt.Println(mask)
	// Output:
	// [2 1 1 3]
	// 1 1 1
	//
	// 1 0 0
}

func ExampleLookAheadMask() {
	mask := ref.LookAheadMask(3)
	fmt.Println(mask.Shape)
	fmt.Println(mask)
	// Output:
	// [1 1 3 3]
	// 1 0 0
	// 1 1 0
	// 1 1 1
}

// The mask of the decoder's self-attention: no padding and no later positions.
func ExampleBatchMask_And() {
	padding := ref.PaddingMask([][]int32{{7, 6, 9}, {1, 2, 0}}, 0)
	mask := padding.And(ref.LookAheadMask(3))
	fmt.Println(mask.Shape)
	fmt.Println(mask)
	// Output:
	// [2 1 3 3]
	// 1 0 0
	// 1 1 0
	// 1 1 1
	//
	// 1 0 0
	// 1 1 0
	// 1 1 0
}

// firstAndSecond returns a head in which the first element of a token is its query and key and the
// second its value: tokens attend to those with a similar first element. d = 2, d_k = d_v = 1.
func firstAndSecond() ref.Head {
	first := ref.Projection{W: mat.Of([]float32{1, 0}, 2, 1)}
	second := ref.Projection{W: mat.Of([]float32{0, 1}, 2, 1)}
	return ref.Head{Q: first, K: first, V: second}
}

// Self-attention: the tokens attend to each other. The scores of the first are 3·3 and 3·(-3),
// and the ratio of their weights is e^18.
func ExampleHead_Attend_self() {
	x := mat.Of([]float32{
		3, 10,
		-3, 20,
		3, 30,
	}, 3, 2)
	out, weights := firstAndSecond().Attend(x, x, nil)
	show("weights [3 × 3]", weights)
	show("output [3 × 1]", out)
	// Output:
	// weights [3 × 3]
	//   [0.50 0.00 0.50]
	//   [0.00 1.00 0.00]
	//   [0.50 0.00 0.50]
	// output [3 × 1]
	//   [20.00]
	//   [20.00]
	//   [20.00]
}

// Cross-attention: one token of the decoder attends to three of the encoder's output.
func ExampleHead_Attend_cross() {
	x := mat.Of([]float32{3, 0}, 1, 2)
	memory := mat.Of([]float32{
		3, 10,
		-3, 20,
		3, 30,
	}, 3, 2)
	out, weights := firstAndSecond().Attend(x, memory, ref.Padding([]int32{8, 9, 0}, 0))
	show("weights [1 × 3]", weights)
	show("output [1 × 1]", out)
	// Output:
	// weights [1 × 3]
	//   [1.00 0.00 0.00]
	// output [1 × 1]
	//   [10.00]
}

// The paper's heads: d = 4 elements are split among 2 heads, d_k = d_v = 2. All projections are the
// identity, so that head 0 has columns 0 and 1, and head 1 columns 2 and 3.
func ExampleMultiHead_Attend_split() {
	identity := ref.Projection{W: diagonal(4)}
	l := ref.MultiHead{Heads: ref.SplitHeads(identity, identity, identity, 2), Out: identity}
	x := mat.Of([]float32{
		5, 0, 5, 0,
		5, 0, 0, 5,
	}, 2, 4)
	y, weights := l.Attend(x, x, nil)
	show("weights of head 0: both tokens are alike", weights[0])
	show("weights of head 1: each is like itself", weights[1])
	show("output [2 × 4]", y)
	// Output:
	// weights of head 0: both tokens are alike
	//   [0.50 0.50]
	//   [0.50 0.50]
	// weights of head 1: each is like itself
	//   [1.00 0.00]
	//   [0.00 1.00]
	// output [2 × 4]
	//   [5.00 0.00 5.00 0.00]
	//   [5.00 0.00 0.00 5.00]
}

// Heads of size d: each of 2 heads has all d = 2 elements, their outputs side by side are 4, and
// W^O [4 × 2] maps them back to 2. The queries of the second head are negated, so that tokens
// attend to others, and W^O subtracts the heads.
func ExampleMultiHead_Attend_full() {
	same, opposite := ref.Projection{W: diagonal(2)}, ref.Projection{W: diagonal(2)}
	mat.Scal(-1, opposite.W.Data)
	l := ref.MultiHead{
		Heads: []ref.Head{{Q: same, K: same, V: same}, {Q: opposite, K: same, V: same}},
		Out: ref.Projection{W: mat.Of([]float32{
			1, 0,
			0, 1,
			-1, 0,
			0, -1,
		}, 4, 2)},
	}
	x := mat.Of([]float32{
		4, 0,
		0, 4,
	}, 2, 2)
	y, weights := l.Attend(x, x, nil)
	show("weights of head 0", weights[0])
	show("weights of head 1", weights[1])
	show("output [2 × 2]", y)
	// Output:
	// weights of head 0
	//   [1.00 0.00]
	//   [0.00 1.00]
	// weights of head 1
	//   [0.00 1.00]
	//   [1.00 0.00]
	// output [2 × 2]
	//   [4.00 -4.00]
	//   [-4.00 4.00]
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
	show("output", ctx)
	// Output:
	// output
	//   [1.00 1.00]
	//   [1.00 1.00]
	//   [2.00 0.00]
	//   [2.00 0.00]
}

func diagonal(n int) mat.Matrix {
	m := mat.New(n, n)
	for i := range n {
		m.Row(i)[i] = 1
	}
	return m
}

// rows prints a matrix with three decimals, one row a line.
func rows(m mat.Matrix) {
	for i := range m.Rows {
		fmt.Printf("%.3f\n", m.Row(i))
	}
}

// The mean of 1, 3, 5, 7 is 4 and the sum of squared deviations 20, so σ is sqrt(20/4) = 2.236.
// Twice the row has the same norm up to eps.
func ExampleLayerNorm() {
	x := mat.Of([]float32{
		1, 3, 5, 7,
		2, 6, 10, 14,
	}, 2, 4)
	rows(ref.LayerNorm(x, []float32{1, 1, 1, 1}, nil, 1e-5))
	fmt.Println("with gain and bias")
	rows(ref.LayerNorm(x, []float32{10, 1, 1, 10}, []float32{0, 0, 100, 100}, 1e-5))
	// Output:
	// [-1.342 -0.447 0.447 1.342]
	// [-1.342 -0.447 0.447 1.342]
	// with gain and bias
	// [-13.416 -0.447 100.447 113.416]
	// [-13.416 -0.447 100.447 113.416]
}

// The unbiased standard deviation of 1, 3, 5, 7 is sqrt(20/3) = 2.582.
func ExampleUnbiasedNorm() {
	x := mat.Of([]float32{1, 3, 5, 7}, 1, 4)
	rows(ref.UnbiasedNorm(x, []float32{1, 1, 1, 1}, nil, 1e-6))
	// Output:
	// [-1.162 -0.387 0.387 1.162]
}

// Dropout zeroes half of the sublayer's output and doubles the others. The same key has the same
// mask.
func ExampleResidual() {
	x, sub := mat.Of([]float32{10, 20, 30, 40}, 1, 4), mat.Of([]float32{1, 1, 1, 1}, 1, 4)
	rows(ref.Residual(x, sub, mat.Dropout{}))
	rows(ref.Residual(x, sub, mat.Dropout{Rate: 0.5, Key: 3}))
	rows(ref.Residual(x, sub, mat.Dropout{Rate: 0.5, Key: 3}))
	// Output:
	// [11.000 21.000 31.000 41.000]
	// [12.000 20.000 32.000 40.000]
	// [12.000 20.000 32.000 40.000]
}

// x + sub is 1, 3, 5, 7, as in the example of LayerNorm.
func ExampleAddNorm() {
	x, sub := mat.Of([]float32{1, 2, 3, 4}, 1, 4), mat.Of([]float32{0, 1, 2, 3}, 1, 4)
	rows(ref.AddNorm(x, sub, mat.Dropout{}, []float32{1, 1, 1, 1}, nil, 1e-5))
	// Output:
	// [-1.342 -0.447 0.447 1.342]
}

// The hidden units are max(0, ·) of x_0, -x_0 and x_0 + x_1 - 5. The output is the sum of the
// first two, |x_0|, and the third.
func ExampleFeedForward() {
	x := mat.Of([]float32{
		3, 4,
		-3, 4,
	}, 2, 2)
	w1, b1 := mat.Of([]float32{
		1, -1, 1,
		0, 0, 1,
	}, 2, 3), []float32{0, 0, -5}
	w2, b2 := mat.Of([]float32{
		1, 0,
		1, 0,
		0, 1,
	}, 3, 2), []float32{0, 100}
	rows(ref.FeedForward(x, w1, b1, w2, b2))
	// Output:
	// [3.000 102.000]
	// [3.000 100.000]
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
func ExampleEmbedding() {
	e := mat.Of([]float32{
		0, 0, 0, 0,
		1, 2, 3, 4,
	}, 2, 4)
	rows(ref.Embedding(e, []int32{1, 1, 0}))
	// Output:
	// [2.000 5.000 6.000 9.000]
	// [2.841 4.540 6.010 9.000]
	// [0.909 -0.416 0.020 1.000]
}
