package layer

import "tfm/mat"

// Arena is the memory of the activations of one batch or microbatch: one slice, handed out from its
// start. The zero Arena is ready for use. It is not safe for concurrent use.
//
// All memory of an arena is given in one call of Alloc, so that its size is known before a step
// begins.
type Arena struct {
	buf       []float32
	used      int
	measuring bool
}

// Alloc calls f twice: to measure what it takes with Matrix and Slice, then to give it that memory.
// In the first call matrices and slices have no data. Everything that an earlier Alloc gave is
// invalid afterwards. The arena grows only if f takes more than any f before.
func (a *Arena) Alloc(f func()) {
	a.used, a.measuring = 0, true
	f()
	if a.used > len(a.buf) {
		a.buf = nil // the garbage collector may free the old memory first
		a.buf = make([]float32, a.used)
	}
	a.used, a.measuring = 0, false
	f()
}

// Matrix takes a rows × cols matrix, its contents undefined.
func (a *Arena) Matrix(rows, cols int) mat.Matrix {
	data := a.Slice(rows * cols)
	if a.measuring {
		return mat.Matrix{}
	}
	return mat.Of(data, rows, cols)
}

// Slice takes n numbers, their values undefined. Each slice starts on a cache line of its own.
func (a *Arena) Slice(n int) []float32 {
	const line = 16 // numbers in a cache line
	start := a.used
	a.used += (n + line - 1) / line * line
	if a.measuring {
		return nil
	}
	return a.buf[start : start+n : start+n]
}

// Bytes returns the size of the arena's memory.
func (a *Arena) Bytes() int64 { return int64(len(a.buf)) * 4 }
