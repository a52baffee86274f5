package layer

import "tfm/mat"

// Arena is the memory for the activations of one batch or microbatch: one slice, given out from its
// start. The zero Arena is ready for use. It is not safe for concurrent use.
//
// One call of Alloc gives out all memory of an arena, so that its size is known before a step.
type Arena struct {
	buf       []float32
	used      int // elements given out
	measuring bool
}

// Alloc calls f twice: to measure the memory that it requests with Matrix and Slice, then to give
// it that memory. In the first call matrices and slices have no data. Everything that an earlier
// Alloc gave out becomes invalid. The arena grows only if f requests more than any f before it.
func (a *Arena) Alloc(f func()) {
	a.used, a.measuring = 0, true
	f()
	if a.used > len(a.buf) {
		a.buf = nil // the garbage collector may free the old memory first
		a.buf = mat.New(1, a.used).Data
	}
	a.used, a.measuring = 0, false
	f()
}

// Matrix returns a rows × cols matrix with undefined contents.
func (a *Arena) Matrix(rows, cols int) mat.Matrix {
	data := a.Slice(rows * cols)
	if a.measuring {
		return mat.Matrix{}
	}
	return mat.Of(data, rows, cols)
}

// Slice returns a slice of n elements with undefined contents, at the start of a cache line.
func (a *Arena) Slice(n int) []float32 {
	const line = 16 // elements in a cache line
	start := a.used
	a.used += (n + line - 1) / line * line
	if a.measuring {
		return nil
	}
	return a.buf[start : start+n : start+n]
}

// Bytes returns the size of the arena's memory.
func (a *Arena) Bytes() int64 { return int64(len(a.buf)) * 4 }
