// Package mat is float32 matrices on the CPU: matrix products, the vector kernels of neural networks, and a
// thread pool, in hand-written AVX2, AVX-512 and NEON assembly behind a few Go functions. It imports the standard
// library and golang.org/x/sys/cpu and nothing else, so the folder can be copied into another project as it is.
//
//	p := mat.NewPool(runtime.GOMAXPROCS(0))
//	mat.Gemm(p, c, a, b.T(), mat.Product{Bias: bias, Activation: mat.ReLU}) // C = max(0, A·Bᵀ + bias)
//
// # The same bits everywhere
//
// Every kernel is defined by what an imaginary machine with 16 lanes and fused multiply-add does. Element
// (i, j) of a product is one chain of fused multiply-adds over k in ascending order; a sum has 16 partial
// results that are folded in one fixed tree; exp is one fixed sequence of operations. AVX-512 has those
// lanes in one register, AVX2 in two and NEON in four, and the results are the same bits on all, for any number of
// threads, any blocking, and any rows beside a row. The tests hold every kernel to an exact model of that machine.
// Portable Go, for machines without kernels, is held to a tolerance instead: Kernel says what is in force.
//
// # Int8
//
// GemmInt8 multiplies with weights that are rounded to signed bytes once, a quarter of the memory, and with activations that it
// rounds row by row. Its sums are exact, so its results too are the same bits everywhere, in portable Go as well.
//
//	w := mat.QuantizeInt8(b.T())
//	mat.GemmInt8(p, c, a, w, mat.Product{Bias: bias})
//
// # Bfloat16
//
// GemmBF16 is for training: it rounds both operands to bfloat16 while it packs them, and is several times as fast as Gemm where the
// processor has instructions for it. Its results are the same bits on all kernels but one: see GemmBF16 and KernelBF16.
//
// # Shapes and errors
//
// Shapes that do not fit panic with the shapes in the message, before any address reaches assembly.
//
// # The files
//
// matrix.go, gemm.go (the contract of the product), sgemm.go (that of the BLAS), epilogue.go (what else it does), gemm_block.go (blocks and packing), vec.go (the contract of
// the vector kernels), exp.go, activation.go, dropout.go, transpose.go, pool.go, exact.go (float64 functions with the same bits
// everywhere), cpu.go (which kernels are in force), peak.go (the machine's limit). Assembly: asm_amd64.s,
// asm512_amd64.s and asm_arm64.s multiply matrices, vec_amd64.s, vec512_amd64.s and vec_arm64.s are
// the vector kernels; the files named generic are the portable code.
//
// Int8: int8.go (weights), int8_quantize.go (rounding), int8_gemm.go (the contract of the product), int8_block.go (blocks and
// tiles), and their assembly, int8_amd64.s and int8_arm64.s.
//
// Bfloat16: bf16.go (the contract of the product, and portable code), bf16_block.go (with the kernels of float32), bf16_bands_amd64.go
// (with the instructions for it), amx_linux_amd64.go (leave to use AMX), and their assembly, bf16_amd64.s and bf16_arm64.s.
package mat
