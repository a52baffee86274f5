// Package mat is float32 matrices on the CPU: matrix products, the vector kernels of neural
// networks, and a thread pool, in hand-written AVX-512, AVX2 and NEON assembly behind a few Go
// functions. It imports the standard library and golang.org/x/sys/cpu and nothing else, so the
// folder can be copied into another project as it is.
//
//	p := mat.NewPool(runtime.GOMAXPROCS(0))
//	// C = max(0, A·Bᵀ + bias)
//	mat.Gemm(p, c, a, b.T(), mat.GemmOptions{Bias: bias, Activation: mat.ReLU})
//
// # Matrices
//
// A [Matrix] is a view of a []float32 that the caller owns: [New] makes one of zeros, [Of] views
// numbers that are there, T, Slice, RowRange and ColRange view a transpose or a part of another
// without copying. Every operand of a product may be such a view, with rows that overlap or a
// stride of 0 that repeats one; only results must have contiguous rows that do not overlap.
//
// # Products
//
// [Gemm] multiplies. What else it does while the result is in cache, a [GemmOptions] says:
// accumulate, add a bias, apply an activation, add a residual. Large problems are cut into blocks
// that fit the caches, whose sizes the processor tells on amd64, and are packed; a few rows, as in
// decoding one token after another, read the matrix that they meet once and where it is; small
// ones, as those of an attention head, are left to one thread, and views into a wide matrix do as
// well as copies.
//
// [Sgemm] is the product with the argument list of the BLAS, for code that comes from gonum or
// cblas: row-major slices with leading dimensions, transposes by letter, alpha and beta, NaN and
// infinity as the BLAS has them.
//
// [Pack] arranges weights that are multiplied many times as the kernels read them, so that
// [GemmPacked] need not do so in each call: most of the gain is where rows are few. [GemmBatch]
// shares many small products, those of all heads and sentences, among threads that one alone would
// not occupy. Both give the bits that Gemm gives.
//
//	w := mat.Pack(p, b.T())
//	mat.GemmPacked(p, c, a, w, mat.GemmOptions{Bias: bias})
//
// # Int8
//
// [GemmInt8] multiplies with weights that are rounded to signed bytes once, a quarter of the
// memory, and with activations that it rounds row by row. Its sums are exact, so its results too
// are the same bits everywhere, in portable Go as well. [KernelInt8] names what it multiplies with.
//
//	w := mat.QuantizeInt8(b.T())
//	mat.GemmInt8(p, c, a, w, mat.GemmOptions{Bias: bias})
//
// # Vectors
//
// [Sum], [Dot], [Max], [Add], [Axpy], [Scale] and their kin work on slices, [AddRows] and
// [Transpose] on matrices, [Exp], [Log], [Pow] and [Sincos] on float64 numbers with the same bits
// everywhere. Those on slices run on the calling goroutine: the unit of parallelism is a row, and
// [Each] divides rows among threads.
//
// # For Transformers
//
// What neural networks, and Transformers above all, do with the results of products: [Softmax] and
// [SoftmaxRows] with their derivatives, [Normalize] and its derivatives for layer norms, an
// [Activation] and its derivative for whatever a product did not finish, [Adam] for parameters, and
// [Dropout], which computes its mask again where others store it. They are kernels because a step
// of training would otherwise wait for them.
//
// # Threads
//
// A [Pool] is a number of threads, the caller's among them. Functions that take one use as many as
// their work is worth; a nil pool is the calling goroutine alone. Workers wait for the next loop
// for a fraction of a millisecond and then park, so a pool that nobody uses costs nothing. For the
// shortest time of one computation give it one pool of GOMAXPROCS threads; for the most work done
// by many goroutines, as in a server, give each a nil pool, because a pool serves one loop at a
// time and whoever finds it busy computes alone. Results do not depend on any of this.
//
// [Pool.Do] divides a loop of one's own among the threads of a pool, and so does [Each] one whose
// arguments are a struct, without allocating. A panic in such a loop is raised on the caller.
//
// # The same bits everywhere
//
// Every kernel is defined by what an imaginary machine with 16 lanes and fused multiply-add does.
// Element (i, j) of a product is one chain of fused multiply-adds over k in ascending order; a sum
// has 16 partial results that are folded in one fixed tree; exp is one fixed sequence of
// operations. AVX-512 has those lanes in one register, AVX2 in two and NEON in four, and the
// results are the same bits on all, for any number of threads, any blocking, and any rows beside a
// row. Denormals and infinities are among those bits. A NaN is a NaN everywhere, but its sign and
// payload are the processor's and may differ from kernel to kernel. The tests hold every kernel to
// an exact model of that machine. Portable Go, for machines without kernels, is held to a tolerance
// instead.
//
// # Bfloat16
//
// [GemmBF16] is for training: it rounds both operands to bfloat16 while it packs them, and is
// several times as fast as [Gemm] where the processor has instructions that are made for it, as
// [KernelBF16] tells. Its results are the same bits on all kernels but one.
//
// # Kernels
//
// The best kernels that the processor can run are chosen when the program starts. [Kernel] names
// them, [Features] lists what the processor has and which of it is in force. The environment
// variable TFM_CPU=avx512, avx2, neon or generic chooses others, and [CheckKernel] reports
// that they cannot be had; GODEBUG=cpu.avx512f=off and the like hide a feature. The build tags
// purego and noasm leave the assembly out of the program. [MeasurePeak] measures what the kernels
// in force could do at best, which is what benchmarks are to be compared with.
//
// # Shapes and errors
//
// Shapes that do not fit panic with the shapes in the message, before any address reaches assembly:
// no argument makes a kernel read or write outside its operands. Results must not overlap operands,
// but where a function says so. Nothing here allocates once it has run on problems as large,
// prints, or keeps an operand.
//
// # The files
//
// Products: matrix.go, gemm.go (the contract of the product), sgemm.go (that of the BLAS),
// epilogue.go (what else a product does), packed.go (weights arranged once), plan.go (which blocks,
// what is packed and shared), cache.go and cache_amd64.s (the sizes of caches, on which that
// depends), gemm_block.go (blocks and packing), gemm_small_amd64.go (neither, for small products),
// and asm_amd64.s (AVX2), asm512_amd64.s, asm512few_amd64.s (few rows), asm512small_amd64.s,
// asmt_amd64.s and asm512t_amd64.s (few rows times contiguous columns) and asm_arm64.s. The headers
// tile512_amd64.h, tile256_amd64.h and tile_arm64.h have their loops over the registers of a tile.
//
// Int8: int8.go (weights), int8_quantize.go (rounding), int8_gemm.go (the contract of the product),
// int8_block.go (blocks and tiles), int8_amd64.s and int8_arm64.s.
//
// Bfloat16: bf16.go (the contract of the product, and portable code), bf16_block.go (with the
// kernels of float32), bf16_bands_amd64.go (with the instructions for it), amx_linux_amd64.go
// (leave to use AMX), bf16_amd64.s and bf16_arm64.s.
//
// Vectors: vec.go (the contract of the vector kernels), rows.go (sums down the rows of a matrix),
// transpose.go, exact.go (float64 functions with the same bits everywhere), vec_amd64.s (AVX2),
// vec512_amd64.s, rows_amd64.s (AVX-512 too) and vec_arm64.s. The headers vec_amd64.h,
// vec512_amd64.h and vec_arm64.h have the loops over blocks of elements.
//
// For Transformers: softmax.go, norm.go, activation.go, exp.go (the exponential of both),
// dropout.go, adam.go, transformer_amd64.s, transformer512_amd64.s and transformer_arm64.s.
//
// The rest: pool.go, cpu.go (which kernels are in force), peak.go (the machine's limit). The files
// named generic are the portable code, those named asm declare the assembly of all machines, those
// named noasm stand in where no assembly is built in.
package mat
