package layer

import "tfm/mat"

// Precision is the format in which a layer multiplies by its weights, forward and backward.
// Weights, activations, gradients and all other arithmetic are float32 in both.
type Precision uint8

const (
	Float32 Precision = iota // the same bits on every processor
	// BF16 rounds the operands of products to bfloat16 (mat.GemmBF16) where that is faster than
	// float32 (mat.FasterBF16). Weights stay float32, as in Micikevicius et al. ("Mixed
	// Precision Training", 2018), and the loss is not scaled (Kalamkar et al., "A Study of
	// BFLOAT16 for Deep Learning Training", 2019). Results are the same for any number of
	// threads, but not on every processor.
	BF16
)

// Kernel returns the name of the kernel that multiplies: mat.KernelBF16, or "float32" if r is
// Float32 or this processor has no faster kernel for BF16; "portable float32" without assembly.
// Trainings with the same kernel end in the same weights.
func (r Precision) Kernel() string {
	switch k := mat.KernelBF16(); {
	case r == BF16 && k != "generic":
		return k
	case mat.Kernel() == "generic":
		return "portable float32"
	}
	return "float32"
}

// gemm is mat.Gemm in this precision.
func (r Precision) gemm(pool *mat.Pool, c, a, b mat.Matrix, o mat.GemmOptions) {
	if r == BF16 && mat.FasterBF16(c.Rows, c.Cols, a.Cols) {
		mat.GemmBF16(pool, c, a, b, o)
	} else {
		mat.Gemm(pool, c, a, b, o)
	}
}
