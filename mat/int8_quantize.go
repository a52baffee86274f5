package mat

import "math"

// Quantization of the rows of a matrix to signed bytes, with one scale a row: activations, or
// weights as columns.

// quantization is a loop over the rows of m: row i becomes scales[i] and the quantized elements at
// q[i*stride].
type quantization struct {
	m      Matrix
	form   formInt8
	q      []int8
	stride int
	scales []float32
}

// formInt8 is the form in which a kernel reads quantized activations.
type formInt8 uint8

const (
	signed  formInt8 = iota // bytes
	shifted                 // unsigned bytes, plus 128
	wide                    // 16-bit integers, little-endian
)

const (
	blockInt8    = 32       // elements quantized together
	minScaleInt8 = 0x1p-126 // smaller scales are denormal and too inexact
	infinity     = 0x7F800000
	gatherRows   = 16 // rows of a transpose that are gathered together: elements of a cache line
)

// kernelInt8 describes a kernel of GemmInt8; int8Kernel returns that in use.
type kernelInt8 struct {
	name string
	form formInt8
	rows int // of a tile
}

// KernelInt8 names the kernel of GemmInt8: "avx512vnni", "avx2", "sdot", "neon", or "generic" for
// portable Go. It is selected as for Kernel; avx512vnni and sdot are used if the processor has
// those instructions.
func KernelInt8() string { return int8Kernel().name }

// width returns the bytes of an element.
func (f formInt8) width() int {
	if f == wide {
		return 2
	}
	return 1
}

// Range quantizes rows [lo, hi).
func (t *quantization) Range(lo, hi int) {
	if t.m.ColStride == 1 {
		for i := lo; i < hi; i++ {
			t.row(i, t.m.Row(i))
		}
		return
	}
	w := workspacesInt8.Get().(*workspaceInt8)
	defer workspacesInt8.Put(w)
	k := t.m.Cols
	w.rows = resized(w.rows, gatherRows*k)
	for ; lo < hi; lo += gatherRows {
		n := min(gatherRows, hi-lo)
		for l := range k {
			for i := range n {
				w.rows[i*k+l] = t.m.At(lo+i, l)
			}
		}
		for i := range n {
			t.row(lo+i, w.rows[i*k:][:k])
		}
	}
}

// row quantizes x into row i.
func (t *quantization) row(i int, x []float32) {
	q := t.q[i*t.stride:][:len(x)*t.form.width()]
	top := maxAbsBits(x)
	if top >= infinity {
		t.scales[i] = float32(math.NaN())
		clear(q)
		return
	}
	t.scales[i] = max(math.Float32frombits(top)/127, minScaleInt8)
	t.form.quantize(q, x, 1/t.scales[i])
}

// maxAbsBits returns the largest |x[j]| as the bits of a float32, in which a NaN is above an
// infinity, or 0 for an empty x.
func maxAbsBits(x []float32) uint32 {
	if kernel == generic {
		return maxAbsGeneric(x)
	}
	var top uint32
	for len(x) >= blockInt8 {
		n := min(run, len(x)) &^ (blockInt8 - 1)
		top = max(top, maxAbsAsm(&x[0], n))
		x = x[n:]
	}
	if len(x) > 0 {
		var tail [blockInt8]float32
		copy(tail[:], x)
		top = max(top, maxAbsAsm(&tail[0], blockInt8))
	}
	return top
}

// quantize writes x[j]·r to q in form f, rounded to float32 and then to the nearest integer, ties
// to even, which must be within ±127.
func (f formInt8) quantize(q []int8, x []float32, r float32) {
	if kernel == generic {
		f.quantizeGeneric(q, x, r)
		return
	}
	for len(x) >= blockInt8 {
		n := min(run, len(x)) &^ (blockInt8 - 1)
		f.quantizeAsm(&q[0], &x[0], n, r)
		q, x = q[n*f.width():], x[n:]
	}
	if len(x) > 0 {
		var tail [blockInt8]float32
		var bytes [2 * blockInt8]int8
		copy(tail[:], x)
		f.quantizeAsm(&bytes[0], &tail[0], blockInt8, r)
		copy(q, bytes[:len(x)*f.width()])
	}
}
