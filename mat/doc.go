// Package mat computes with float32 matrices on the CPU: matrix products, the vector kernels of
// neural networks, and a thread pool, in hand-written AVX-512, AVX2 and NEON assembly with a
// portable fallback in Go.
//
//	package main
//
//	import (
//		"fmt"
//
//		"tfm/mat" // or the path of a copy
//	)
//
//	func main() {
//		p := mat.NewPool(2) // threads
//		defer p.Close()
//		a := mat.Of([]float32{1, 2, 3, 4, 5, 6}, 2, 3) // 2 rows, 3 columns; a view of the slice
//		b := mat.Of([]float32{1, 0, 1, 0, 1, 1}, 2, 3)
//		c := mat.New(2, 2)
//		// C = max(0, A·Bᵀ + bias)
//		mat.Gemm(p, c, a, b.T(), mat.GemmOptions{Bias: []float32{-5, 0}, Activation: mat.ReLU})
//		fmt.Println(c.Row(0), c.Row(1)) // [0 5] [5 11]
//	}
//
// example_test.go has an example for each part of the package.
//
// # Matrices
//
// A [Matrix] is a view of a []float32 that the caller owns. [New] allocates a matrix of zeros, [Of]
// views existing memory, such as a part of a larger allocation. T, Slice, RowRange and ColRange
// return views of the same memory: a transpose, or some rows and columns. Every operand of a
// product may be a view, including one with overlapping rows or with a stride of 0, which repeats a
// row or column. Results must have contiguous rows that do not overlap: a result may be a view of
// rows and columns but not a transpose. Element (i, j) of such a matrix is m.Row(i)[j];
// [Matrix.At] reads an element of any view.
//
// # Products
//
// [Gemm] computes C = A·B. [GemmOptions] selects C += A·B and the epilogue: bias, activation and
// residual, applied while the result is in cache. The transpose of an operand is a view: pass b.T()
// for A·Bᵀ. Large products are divided into blocks that fit the caches, and packed. Products
// with few rows, as in decoding, read B once, in place where that is faster. Small products, as in
// an attention head, run in one thread. Operands that are views of a wide matrix are as fast as
// contiguous ones.
//
// [Sgemm] has the argument list of gonum's Sgemm, and of cblas_sgemm without its first argument,
// the order: row-major slices with leading dimensions, transposes by letter, alpha and beta.
//
// [Pack] packs a B that is used many times, usually weights, and [GemmPacked] multiplies with it.
// The gain is largest for few rows, and the bits are those of Gemm. Many small products, such as
// those of all heads and sentences, are divided by [Each], with a nil pool in each product.
//
//	w := mat.Pack(p, b.T())
//	mat.GemmPacked(p, c, a, w, mat.GemmOptions{Bias: bias})
//
// A program may store the elements of a [Packed], in the [Layout] of the kernels in use, and map
// the file into memory later: [PackedOf] then needs neither time nor memory. On a machine with
// another Layout it packs again.
//
// [Packed.Gather] and [Int8.Gather] copy some columns of weights, for products that need no others:
// their elements are the same bits.
//
// # Int8
//
// [QuantizeInt8] rounds B to signed bytes with one scale for each column, a quarter of the memory.
// [GemmInt8] rounds A row by row and multiplies the two with exact integer sums, so its results are
// the same bits on every machine; in portable Go too, except after GELU, GELUTanh and SiLU.
// [KernelInt8] names its kernel. [PackInt8] makes weights from bytes and scales, [Int8Of] from
// bytes in the order of the kernels, which it does not copy; this order is the same on every
// machine. [Int8Rows] rounds an A once for several products.
//
//	w := mat.QuantizeInt8(p, b.T())
//	mat.GemmInt8(p, c, a, w, mat.GemmOptions{Bias: bias})
//
// # Bfloat16
//
// [GemmBF16] is for training. It rounds both operands to bfloat16 while it packs them and is
// several times as fast as [Gemm] on processors with instructions for that; [KernelBF16] names them
// and [FasterBF16] reports for which sizes. On other processors it is much slower. Its results are
// the same bits on all kernels except "amx".
//
// # Vectors
//
// [Sum], [SumSquaredDiff], [Dot] and [Max] reduce a slice. [Add], [Axpy], [AxpyTo], [Scal],
// [ScaleShift] and [ExpSum] write one. [AddRows] and [Transpose] work on matrices. In their
// formulas fma(x, y, z) is x·y + z with one rounding, and with the kernels "generic" with two. The
// index of the largest element is not computed: [Max] returns only its value.
//
// Dot, Axpy and Scal have the BLAS's order of arguments. In all other functions the slice that is
// written comes first, in AxpyTo too.
//
// Slices of one call must have equal lengths, otherwise it panics with the lengths. Unless the
// documentation says otherwise, an output may be the same slice as an input but must not overlap it
// partly. The functions on slices run on the calling goroutine; [Each] and [Pool.Do] divide rows
// among threads.
//
// A reduction keeps 16 partial results: lane l accumulates the elements j ≡ l (mod 16) in
// ascending order, then the lanes are added in one fixed tree: l with l+8, then l+4, l+2 and l+1.
// Slices of more than 8,192 elements are reduced in runs of 8,192, added in ascending order. The
// error of a sum of n terms is at most (min(n, 8192)/16 + 5 + n/8192)·2^-24·Σ|term| to first
// order, in addition to the errors of the terms.
//
// # Transformers
//
// [Softmax] and [SoftmaxRows] with their derivatives [SoftmaxGrad] and [SoftmaxGradRows];
// [LayerNorm], [LayerNormRows], [LayerNormGradSums], [LayerNormGrad] and [LayerNormParamGradRows]
// for layer norms forward and backward; [Activation], a function and its derivative; [Dropout],
// whose mask is computed again in the backward pass instead of stored; [Adam], one step of the
// optimizer; [ScoreKeys] and [AddValues] for attention in decoding.
//
// # Threads
//
// A [Pool] runs loops on a fixed number of threads, the caller included. Functions that take a pool
// use only the threads that the work justifies; with a nil pool they run on the calling goroutine.
// Idle workers spin for a fraction of a millisecond, then park, so an unused pool costs nothing.
// For the lowest latency of one computation, use one pool of GOMAXPROCS threads. For the highest
// throughput of many goroutines, as in a server, pass a nil pool in each: a pool serves one loop at
// a time, and a caller that finds it busy runs its loop alone. The results are the same in all
// cases.
//
// [Pool.Do] divides the caller's own loop among the threads of a pool. [Each] does so for a loop
// body that is a struct, without allocating. A panic in a loop body is raised on the caller.
//
// # The same bits everywhere
//
// Every float32 kernel in assembly is defined by a machine with 16 lanes and fused multiply-add.
// Element (i, j) of a product is one chain of fused multiply-adds over k in ascending order, a sum
// has 16 lanes and one tree, exp is one fixed sequence of operations. AVX-512 has 16 lanes in a
// register, AVX2 8 and NEON 4, and all perform the same operations. The results are the same bits
// on all three, for any number of threads, any blocking, and any other rows in the same call;
// denormals and infinities included. A NaN is a NaN everywhere, but its sign and payload depend on
// the processor. The tests compare these kernels with an exact model of that machine.
//
// The kernels "generic", in portable Go for other machines, round x·y before they add it, unless
// the compiler fuses the two. Their results differ in the last bits and are tested within a
// tolerance; they too do not depend on the number of threads.
//
// # Kernels
//
// At startup the package selects the best kernels of the processor: "avx512", "avx2", "neon" or, in
// portable Go, "generic". [Kernel] names them, [Features] lists the instruction set extensions and
// which of them are in use. [MeasurePeak] measures the peak rate of the kernels in use, to which
// benchmarks should be compared.
//
// The environment variable MAT_KERNEL selects other kernels by these names, in lower case. Where it
// is not set, TFM_CPU does, the variable of the program tfm. An unknown or unavailable name is
// ignored and the best kernels are used: a library must neither print nor end a program because of
// its environment. Call [CheckKernel] at startup, which returns an error in that case.
//
// GODEBUG=cpu.avx512f=off hides an extension that Features names. For some of them, such as
// avx512bf16, the Go runtime prints "GODEBUG: unknown cpu feature" at startup, because it does not
// use them itself; they are hidden all the same. The build tags purego and noasm leave out all
// assembly.
//
// # Shapes, memory and concurrency
//
// Shapes that do not match panic with the shapes in the message, before any address reaches
// assembly, so no argument makes a kernel access memory outside its operands. The value of such a
// panic is a string, in [Matrix.Row] and [Matrix.At] an error; it begins with "mat: ".
//
// Results must not overlap operands unless the documentation says so. A product panics if C shares
// an element with A, B, the bias or the residual, as in x = x·W; different columns of one matrix
// share none. Functions on slices do not check for overlaps. Functions may be called concurrently
// if no result overlaps a result or an operand of another call.
//
// No function prints or keeps a reference to an operand, except that [PackedOf] and [Int8Of] keep
// their data. [New], [NewPacked], [Pack], [PackedOf], [NewInt8], [QuantizeInt8], [PackInt8],
// [Int8Of], [NewPool], [Features] and the methods Set, Gather, Weights and Scales allocate what
// they return or keep, and [Pool.Do] may allocate its argument. All others allocate only scratch
// memory, which later calls reuse: one set for each thread of each concurrent call, sized for the
// largest so far. The garbage collector may free scratch memory that is not in use; the next call
// allocates it again.
//
// # Vendoring
//
// The folder depends on the standard library and golang.org/x/sys/cpu only. Its code needs Go 1.22,
// its tests Go 1.24. To use it in a module MODULE, say example.org/m:
//
//	cp -r mat MODULE/mat && cd MODULE
//	rm -r mat/peers # programs that compare the package with other libraries
//	sed -i 's|"tfm/mat"|"example.org/m/mat"|' mat/example_test.go # the only import by path
//	go get golang.org/x/sys@v0.30.0 # or newer
//	go vet ./mat && go test -short ./mat # less than a minute
//
// Once a package imports mat, go mod tidy removes the comment "// indirect" that go get leaves in
// go.mod. The licence is MIT: keep the file LICENSE in the folder.
//
// # Terms
//
//   - lane: one of the 16 partial results of a reduction; element j belongs to lane j mod 16
//   - chain: the fused multiply-adds over k that compute one element of a product
//   - kernel: a routine for one instruction set, in assembly, or in portable Go ("generic")
//   - tile: the rows × columns of C that a kernel holds in registers
//   - strip: the rows of one tile across the columns of a block, computed by one kernel call
//   - panel: the columns of one tile over a range of k, packed contiguously
//   - block: a range of rows, columns and k, sized so that an operand fits a cache
//   - pack: to copy a block of an operand into the order in which the kernel reads it
//   - epilogue: bias, activation and residual, applied as a product is stored
//   - plan: the tasks, steps and packing chosen for a product; a task is a block of C for a thread,
//     a step the part of it that one kernel computes
//   - pool, worker: a fixed number of threads that run loops; one goroutine of a pool
//   - range, grain: consecutive indices of a loop for one call of its body; their maximum number
package mat

// The files of the package.
//
// Products: matrix.go, gemm.go (the contract of the product), sgemm.go (that of the BLAS),
// epilogue.go, packed.go, gather.go (some columns of weights), plan.go (the tasks and steps of a
// product, and the limits), cache.go and cache_amd64.s (cache sizes, on which plans depend),
// kernels.go (the table of kernels and their arguments), steps.go (executes plans), step_small.go,
// step_columns.go, step_row.go and step_strips.go (each a family of kernels: its plan and its
// loop), pack.go (packs and copies operands) and walk.go (prefetching). The kernels: asm_amd64.s
// (AVX2: strips and packing), asm_arm64.s, gemm_avx512_amd64.s (strips),
// gemm_avx512_fewrows_amd64.s, gemm_avx512_small_amd64.s, gemm_avx512_columns_amd64.s and
// gemm_avx2_columns_amd64.s (few rows times contiguous columns), gemm_avx2_row_amd64.s (one row
// times long rows). The headers tile512_amd64.h, tile256_amd64.h and tile_arm64.h hold the loops
// over the registers of a tile.
//
// Int8: int8.go (weights and their layout), int8_weights.go (makes them), int8_quantize.go (rounds
// rows), int8_gemm.go (the contract of the product), int8_block.go (blocks and tiles), int8_amd64.s
// and int8_arm64.s.
//
// Bfloat16: bf16.go (the contract of the product, and portable code), bf16_pairs_amd64.go and
// bf16_bands_amd64.go (with VDPBF16PS and with AMX), amx_linux_amd64.go (permission to use AMX) and
// bf16_amd64.s.
//
// Vectors: vec.go, rows.go (sums over the rows of a matrix), transpose.go, vec_amd64.s (AVX2, also
// on processors with AVX-512), rows_amd64.s (AVX-512) and vec_arm64.s. The headers vec_amd64.h and
// vec_arm64.h hold the loops over blocks of elements.
//
// For Transformers: softmax.go, norm.go, activation.go, exp.go (the exponential of both),
// dropout.go, adam.go, transformer_amd64.s (AVX2, also on processors with AVX-512),
// softmax512_amd64.s (short rows of softmax) and transformer_arm64.s. For attention in decoding:
// pages.go, pages_amd64.s and pages_arm64.s.
//
// The rest: pool.go, cpu.go (selects the kernels), peak.go (the peak rate), hugepages_linux.go
// (memory in pages of 2 MB). Files named generic hold the portable code, those named asm declare
// the assembly of all machines. noasm.go replaces it in builds without assembly, noamd64.go and
// noarm64.go what only one architecture has.
