package layer

import "tfm/mat"

// Precision is what the products with a layer's weights are computed in, forward and backward. Weights, activations, gradients and
// all that is no such product are float32 either way.
type Precision uint8

const (
	Float32 Precision = iota // the same bits on every processor
	// BF16 rounds what is multiplied to bfloat16, see mat.GemmBF16, where that is faster than float32; mat.FasterBF16 tells which
	// products of which processors that are. Micikevicius et al. ("Mixed Precision Training", 2018) train so, with weights that stay
	// float32; Kalamkar et al. ("A Study of BFLOAT16 for Deep Learning Training", 2019) show that it needs no scaling of the loss.
	// Results are the same for any number of threads, but not on every processor.
	BF16
)

// InForce names what computes the products: mat.KernelBF16, or "float32" if r is that or nothing that this processor has for
// BF16 is faster. With the same in force a training ends in the same weights.
func (r Precision) InForce() string {
	if k := mat.KernelBF16(); r == BF16 && k != mat.Kernel() {
		return k
	}
	return "float32"
}

// gemm is mat.Gemm in this precision.
func (r Precision) gemm(p *mat.Pool, c, a, b mat.Matrix, o mat.GemmOptions) {
	if r == BF16 && mat.FasterBF16(c.Rows, c.Cols, a.Cols) {
		mat.GemmBF16(p, c, a, b, o)
	} else {
		mat.Gemm(p, c, a, b, o)
	}
}
