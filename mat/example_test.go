package mat_test

import (
	"fmt"
	"log"
	"math"
	"runtime"
	"slices"

	"tfm/mat"
)

// One layer of a network, Y = max(0, X·Wᵀ + bias) + X, on all processors.
func ExampleGemm() {
	p := mat.NewPool(runtime.GOMAXPROCS(0))
	defer p.Close()
	x := mat.Of([]float32{
		1, 2,
		3, 4,
		5, 6}, 3, 2) // 3 rows of 2 inputs
	w := mat.Of([]float32{
		1, -1,
		2, 1}, 2, 2) // weights are stored as outputs × inputs
	y := mat.New(3, 2)
	mat.Gemm(p, y, x, w.T(), mat.GemmOptions{Bias: []float32{0.5, -10}, Activation: mat.ReLU, Residual: x})
	for i := range y.Rows {
		fmt.Println(y.Row(i))
	}
	// Output:
	// [1 2]
	// [3 4]
	// [5 12]
}

// Views copy nothing: the heads of an attention layer are columns of one matrix, and Q·Kᵀ needs
// no transpose in memory. With a nil pool Gemm runs on the calling goroutine.
func ExampleMatrix() {
	const tokens, heads, size = 2, 2, 3
	q := mat.Of([]float32{
		1, 0, 0 /**/, 2, 0, 0,
		0, 1, 0 /**/, 0, 2, 0}, tokens, heads*size)
	k := mat.Of([]float32{
		1, 2, 3 /**/, 1, 1, 1,
		4, 5, 6 /**/, 2, 3, 4}, tokens, heads*size)
	scores := mat.New(tokens, tokens)
	for h := range heads {
		qh, kh := q.ColRange(h*size, (h+1)*size), k.ColRange(h*size, (h+1)*size)
		mat.Gemm(nil, scores, qh, kh.T(), mat.GemmOptions{})
		fmt.Println(scores.Row(0), scores.Row(1))
	}
	// Output:
	// [1 4] [2 5]
	// [2 4] [2 6]
}

// Gradients accumulate: dW += dYᵀ·X.
func ExampleGemm_accumulate() {
	x, dy := mat.Of([]float32{1, 2, 3, 4}, 2, 2), mat.Of([]float32{1, 0, 0, 1}, 2, 2)
	dw := mat.Of([]float32{100, 100, 100, 100}, 2, 2)
	mat.Gemm(nil, dw, dy.T(), x, mat.GemmOptions{Accumulate: true})
	fmt.Println(dw.Data)
	// Output: [101 102 103 104]
}

// Weights that are used many times are packed once.
func ExampleGemmPacked() {
	w := mat.Pack(nil, mat.Of([]float32{
		1, -1,
		2, 1}, 2, 2).T())
	y := mat.New(1, w.Cols())
	for step := range 3 {
		x := mat.Of([]float32{float32(step), 1}, 1, w.Rows())
		mat.GemmPacked(nil, y, x, w, mat.GemmOptions{})
		fmt.Println(y.Data)
	}
	// Output:
	// [-1 1]
	// [0 3]
	// [1 5]
}

// Int8 weights take a quarter of the memory. The error depends on the values.
func ExampleGemmInt8() {
	w := mat.QuantizeInt8(nil, mat.Of([]float32{
		1, -0.5,
		0.25, 2}, 2, 2))
	y := mat.New(1, 2)
	mat.GemmInt8(nil, y, mat.Of([]float32{1, 3}, 1, 2), w, mat.GemmOptions{})
	fmt.Printf("%.3f, exactly [1.750 5.500]\n", y.Data)
	// Output: [1.748 5.500], exactly [1.750 5.500]
}

// Quantized weights are stored as bytes and scales, and loaded from them. A row of bytes is a
// column of B.
func ExamplePackInt8() {
	w := mat.QuantizeInt8(nil, mat.Of([]float32{
		1, -4,
		0.5, 2}, 2, 2))
	weights, scales := w.Weights(), w.Scales()
	fmt.Println(weights)

	loaded := mat.PackInt8(nil, weights, scales, w.Rows(), w.Cols())
	y := mat.New(1, loaded.Cols())
	mat.GemmInt8(nil, y, mat.Of([]float32{1, 1}, 1, loaded.Rows()), loaded, mat.GemmOptions{})
	fmt.Printf("%.2f\n", y.Data)
	// Output:
	// [127 64 -127 64]
	// [1.50 -1.98]
}

// C = 2·A·Bᵀ - C with the argument list of gonum and cblas.
func ExampleSgemm() {
	const m, n, k = 2, 2, 3
	a := []float32{
		1, 2, 3,
		4, 5, 6}
	b := []float32{
		1, 0, 0,
		0, 1, 1}
	c := []float32{
		1, 2,
		3, 4}
	mat.Sgemm('N', 'T', m, n, k, 2, a, k, b, k, -1, c, n)
	fmt.Println(c)
	// Output: [1 8 5 18]
}

// A product on the calling goroutine, as in a server with one goroutine per request.
func ExampleSgemmOn() {
	const m, n, k = 1, 2, 2
	a, b, c := []float32{1, 2}, []float32{1, 0, 0, 1}, make([]float32, m*n)
	mat.SgemmOn(nil, 'N', 'N', m, n, k, 1, a, k, b, n, 0, c, n)
	fmt.Println(c)
	// Output: [1 2]
}

// The attention weights of one query: softmax(scores / √d_k), with -Inf for masked keys.
func ExampleSoftmax() {
	const dk = 4
	scores := []float32{2, 4, float32(math.Inf(-1)), 0}
	mat.Softmax(scores, scores, float32(1/math.Sqrt(dk)))
	fmt.Printf("%.3f\n", scores)
	// Output: [0.245 0.665 0.000 0.090]
}

// The layer norm of one row: one pass each for mean, variance and result.
func ExampleLayerNorm() {
	const eps = 1e-5
	x := []float32{1, 2, 3, 6}
	gain, bias := []float32{1, 1, 1, 2}, []float32{0, 0, 0, 10}
	n := float32(len(x))
	mean := mat.Sum(x) / n
	variance := mat.SumSquaredDiff(x, mean) / n
	rstd := float32(1 / math.Sqrt(float64(variance+eps)))
	y := make([]float32, len(x))
	mat.LayerNorm(y, x, mean, rstd, gain, bias)
	fmt.Printf("%.3f\n", y)
	// Output: [-1.069 -0.535 0.000 13.207]
}

// softmaxRows is a loop body for Each: its arguments, and the work for a range of indices.
type softmaxRows struct{ y, x mat.Matrix }

func (s *softmaxRows) Range(lo, hi int) {
	for i := lo; i < hi; i++ {
		mat.Softmax(s.y.Row(i), s.x.Row(i), 1)
	}
}

// The softmax of every row of a matrix, on two threads, 16 rows at a time. The result does not
// depend on the threads.
func ExampleEach() {
	p := mat.NewPool(2)
	defer p.Close()
	x, y := mat.New(100, 4), mat.New(100, 4)
	mat.Each(p, x.Rows, 16, softmaxRows{y, x})
	fmt.Println(y.Row(0), y.Row(99))
	// Output: [0.25 0.25 0.25 0.25] [0.25 0.25 0.25 0.25]
}

// The length of every row of a matrix, on all processors, 64 rows at a time.
func ExamplePool_Do() {
	x := mat.Of([]float32{3, 4, 5, 12}, 2, 2)
	lengths := make([]float64, x.Rows)
	mat.DefaultPool().Do(x.Rows, 64, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			lengths[i] = math.Sqrt(float64(mat.Dot(x.Row(i), x.Row(i))))
		}
	})
	fmt.Println(lengths)
	// Output: [5 13]
}

// A program reports unavailable kernels at startup.
func ExampleKernel() {
	if err := mat.CheckKernel(); err != nil {
		log.Fatal(err) // MAT_KERNEL names a kernel that is unavailable
	}
	for _, f := range mat.Features() {
		if f.Has && !f.InUse {
			log.Printf("the processor has %s, which the %s kernels do not use", f.Name, mat.Kernel())
		}
	}
	fmt.Println(slices.Contains([]string{"avx512", "avx2", "neon", "generic"}, mat.Kernel()))
	// Output: true
}
