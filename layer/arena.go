package layer

import "tfm/mat"

// Arena is the memory of one batch's activations: one slice, handed out from its start. The zero Arena is
// ready; it is not for concurrent use.
//
// A batch's matrices are taken twice by the same code: between Measure and Reserve only their sizes are added
// up (the matrices have no data), after Reserve they are real. So the arena has its size before a step begins.
type Arena struct {
	buf       []float32
	used      int
	measuring bool
}

// Measure begins counting.
func (a *Arena) Measure() { a.used, a.measuring = 0, true }

// Reserve ends counting: what was counted is there to be taken, and more memory is allocated only if there
// was never a larger batch.
func (a *Arena) Reserve() {
	if a.used > len(a.buf) {
		a.buf = nil // let the old one be collected first
		a.buf = make([]float32, a.used)
	}
	a.used, a.measuring = 0, false
}

// Fit has take take its matrices twice, as described, after which they are real.
func (a *Arena) Fit(take func()) {
	a.Measure()
	take()
	a.Reserve()
	take()
}

// Matrix takes a rows × cols matrix, its contents undefined.
func (a *Arena) Matrix(rows, cols int) mat.Matrix {
	data := a.Slice(rows * cols)
	if a.measuring {
		return mat.Matrix{}
	}
	return mat.Of(data, rows, cols)
}

// Slice takes n numbers, their values undefined. Each starts on a cache line of its own.
func (a *Arena) Slice(n int) []float32 {
	const line = 16
	start := a.used
	a.used += (n + line - 1) / line * line
	if a.measuring {
		return nil
	}
	return a.buf[start : start+n : start+n]
}

// Bytes is the memory that the arena holds.
func (a *Arena) Bytes() int64 { return int64(len(a.buf)) * 4 }
