package mat

import (
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"
)

// All inputs of the kernels are at a boundary of memory: A, C, the bias, the weights and their
// scales, and A quantized.
func TestGemmInt8AtTheBoundaryOfMemory(t *testing.T) {
	const maxFloats = 40 * 160
	e := newEdges(t, 8, maxFloats)
	forEachInt8(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(31, 32))
		bytes := func(i, n int) []int8 {
			x := unsafe.Slice((*int8)(unsafe.Pointer(&e.sides[i][0][0])), 4*maxFloats)
			return x[4*maxFloats-n:]
		}
		for range 400 {
			m, n, k := 1+r.IntN(40), 1+r.IntN(70), 1+r.IntN(150)
			weights, scales := bytesOf(r, n*k), make([]float32, n)
			b := PackInt8(nil, weights, scales, k, n)
			packed := bytes(0, len(b.packed))
			copy(packed, b.packed)
			b.packed = packed
			b.scales = e.floats(r, 1, len(b.scales))
			start := e.floats(r, 2, len(b.start))
			b.start = unsafe.Slice((*int32)(unsafe.Pointer(&start[0])), len(start))

			o := randomOptions(r)
			if o.Residual.Data = nil; o.Bias != nil {
				o.Bias = e.floats(r, 3, n)
			}
			q := quantization{m: e.matrix(r, 4, m, k, false), form: int8Kernel().form}
			used := b.groups * groupInt8 * q.form.width()
			q.stride = used + r.IntN(9)
			q.q, q.scales = bytes(5, (m-1)*q.stride+used), e.floats(r, 6, m)
			q.Range(0, m)
			rows := &Int8Rows{rows: m, cols: k, form: q.form, q: q.q, stride: q.stride, scales: q.scales}
			x := productInt8{Int8Rows: rows, c: e.matrix(r, 7, m, n, false), b: b, o: o}
			x.block(0, m, 0, n)
		}
	})
}

// Weights are quantized from and to memory at a boundary.
func TestQuantizeInt8AtTheBoundaryOfMemory(t *testing.T) {
	e := newEdges(t, 2, 170*80)
	forEachInt8(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(33, 34))
		for range 200 {
			k, n := 1+r.IntN(160), 1+r.IntN(70)
			b := Of(e.floats(r, 0, k*n), k, n)
			if r.IntN(2) == 0 {
				b = Of(e.floats(r, 0, k*n), n, k).T()
			}
			for i := range b.Data {
				b.Data[i] = normal(r)
			}
			want := QuantizeInt8(nil, b)
			memory := e.floats(r, 1, len(want.packed)/4)
			clear(memory)
			w := Int8Of(nil, unsafe.Slice((*int8)(unsafe.Pointer(&memory[0])), len(want.packed)), make([]float32, n), k, n)
			if w.SetCols(nil, 0, b); !slices.Equal(w.packed, want.packed) {
				t.Fatalf("%d × %d: weights differ from those in other memory", k, n)
			}
			Int8Of(nil, w.packed, w.Scales(), k, n)
		}
	})
}
