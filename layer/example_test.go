package layer_test

import (
	"fmt"

	"tfm/layer"
	"tfm/mat"
)

// show prints a matrix, a row a line.
func show(m mat.Matrix) {
	for i := range m.Rows {
		fmt.Printf("%.3f\n", m.Row(i))
	}
}

// The mean of 1, 3, 5, 7 is 4 and the sum of squares around it 20: a deviation of sqrt(20/4) = 2.236. Twice the row gives
// the same, but for eps.
func ExampleReferenceLayerNorm() {
	x := mat.Of([]float32{
		1, 3, 5, 7,
		2, 6, 10, 14,
	}, 2, 4)
	show(layer.ReferenceLayerNorm(x, []float32{1, 1, 1, 1}, nil, 1e-5))
	fmt.Println("with gain and bias")
	show(layer.ReferenceLayerNorm(x, []float32{10, 1, 1, 10}, []float32{0, 0, 100, 100}, 1e-5))
	// Output:
	// [-1.342 -0.447 0.447 1.342]
	// [-1.342 -0.447 0.447 1.342]
	// with gain and bias
	// [-13.416 -0.447 100.447 113.416]
	// [-13.416 -0.447 100.447 113.416]
}

// The deviation of 1, 3, 5, 7 is sqrt(20/3) = 2.582 if it is the unbiased one.
func ExampleReferenceUnbiasedNorm() {
	x := mat.Of([]float32{1, 3, 5, 7}, 1, 4)
	show(layer.ReferenceUnbiasedNorm(x, []float32{1, 1, 1, 1}, nil, 1e-6))
	// Output:
	// [-1.162 -0.387 0.387 1.162]
}

// Half of the sublayer's result is dropped, and what is kept doubled. The same key drops the same.
func ExampleReferenceResidual() {
	x, sub := mat.Of([]float32{10, 20, 30, 40}, 1, 4), mat.Of([]float32{1, 1, 1, 1}, 1, 4)
	show(layer.ReferenceResidual(x, sub, mat.Dropout{}))
	show(layer.ReferenceResidual(x, sub, mat.Dropout{Rate: 0.5, Key: 3}))
	show(layer.ReferenceResidual(x, sub, mat.Dropout{Rate: 0.5, Key: 3}))
	// Output:
	// [11.000 21.000 31.000 41.000]
	// [12.000 20.000 32.000 40.000]
	// [12.000 20.000 32.000 40.000]
}

// x + sub is 1, 3, 5, 7; see ReferenceLayerNorm.
func ExampleReferenceAddNorm() {
	x, sub := mat.Of([]float32{1, 2, 3, 4}, 1, 4), mat.Of([]float32{0, 1, 2, 3}, 1, 4)
	show(layer.ReferenceAddNorm(x, sub, mat.Dropout{}, []float32{1, 1, 1, 1}, nil, 1e-5))
	// Output:
	// [-1.342 -0.447 0.447 1.342]
}

// The inner units are x_0, -x_0 and x_0 + x_1 - 5, each or 0; the result is the sum of the first two, |x_0|, and the third.
func ExampleReferenceFeedForward() {
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
	show(layer.ReferenceFeedForward(x, w1, b1, w2, b2))
	// Output:
	// [3.000 102.000]
	// [3.000 100.000]
}

// Position 1 in 4 dimensions: sin 1, cos 1, sin 0.01, cos 0.01, since 10000^(2/4) is 100.
func ExampleReferencePosition() {
	for j := range 4 {
		fmt.Printf("%.5f\n", layer.ReferencePosition(1, j, 4))
	}
	// Output:
	// 0.84147
	// 0.54030
	// 0.01000
	// 0.99995
}

// The table that models use holds the same numbers.
func ExampleSinusoids() {
	show(layer.Sinusoids(2, 4))
	// Output:
	// [0.000 1.000 0.000 1.000]
	// [0.841 0.540 0.010 1.000]
}

// Embeddings of 4 numbers are doubled, and positions added: the same token gives other rows.
func ExampleReferenceEmbedding() {
	e := mat.Of([]float32{
		0, 0, 0, 0,
		1, 2, 3, 4,
	}, 2, 4)
	show(layer.ReferenceEmbedding(e, []int32{1, 1, 0}))
	// Output:
	// [2.000 5.000 6.000 9.000]
	// [2.841 4.540 6.010 9.000]
	// [0.909 -0.416 0.020 1.000]
}
