package decode

import (
	"slices"
	"unsafe"

	"tfm/layer"
	"tfm/mat"
)

// Form is the form of the matrices of Weights.
type Form uint8

const (
	Float32 Form = iota
	// Int8 rounds matrices to bytes by output and embeddings by piece, and activations by row.
	// Translations differ a little from those of float32, but are the same on every machine.
	Int8
)

func (f Form) String() string { return [...]string{"float32", "int8"}[f] }

// weightMatrix is B [in × out] of y = x·B, in one of the two forms.
type weightMatrix struct {
	param      *layer.Param // B, or Bᵀ if transposed
	transposed bool
	packed     *mat.Packed
	int8       *mat.Int8
}

// linear is y = x·B + b, row by row.
type linear struct {
	*weightMatrix
	bias *layer.Param // nil for y = x·B
}

// bytes returns the size of the matrix in form f.
func (m *weightMatrix) bytes(f Form) int {
	in, out := m.size()
	return matrixBytes(f, in, out)
}

// matrixBytes returns the size of a matrix [in × out] in form f.
func matrixBytes(f Form, in, out int) int {
	if f == Int8 {
		s := mat.LayoutOfInt8(in, out)
		return s[0] * s[1] * s[2] * s[3]
	}
	l := mat.LayoutOf(in, out)
	return 4 * l.Panels * l.Depth * l.Cols
}

// use makes memory, zeros, the matrix in form f.
func (m *weightMatrix) use(memory []byte, f Form) {
	in, out := m.size()
	p := unsafe.Pointer(unsafe.SliceData(memory))
	if f == Int8 {
		m.packed, m.int8 = nil, mat.Int8Of(nil, unsafe.Slice((*int8)(p), len(memory)), make([]float32, out), in, out)
	} else {
		m.packed, m.int8 = mat.PackedOf(nil, unsafe.Slice((*float32)(p), len(memory)/4), in, out, mat.LayoutOf(in, out)), nil
	}
}

// size returns the rows and columns of the matrix.
func (m *weightMatrix) size() (in, out int) {
	if m.transposed {
		return m.param.Shape[1], m.param.Shape[0]
	}
	return m.param.Shape[0], m.param.Shape[1]
}

// source returns the matrix in the Transformer's memory.
func (m *weightMatrix) source() mat.Matrix {
	if m.transposed {
		return m.param.Weights().T()
	}
	return m.param.Weights()
}

// mul sets y [n × out] = f(x·B + b) for x [n × in].
func (l *linear) mul(p *mat.Pool, y, x mat.Matrix, f mat.Activation) {
	l.gemm(p, y, x, mat.GemmOptions{Activation: f})
}

// mulAdd sets y [n × out] = x·B + b + residual for x [n × in].
func (l *linear) mulAdd(p *mat.Pool, y, x, residual mat.Matrix) {
	l.gemm(p, y, x, mat.GemmOptions{Residual: residual})
}

// gemm sets y = x·B + b with the rest of an epilogue.
func (l *linear) gemm(p *mat.Pool, y, x mat.Matrix, o mat.GemmOptions) {
	o.Bias = l.biases()
	if l.int8 != nil {
		mat.GemmInt8(p, y, x, l.int8, o)
	} else {
		mat.GemmPacked(p, y, x, l.packed, o)
	}
}

// mulRounded is mul without an activation function for an x that several linear maps share. In int8
// rounded must hold x, which is then rounded once.
func (l *linear) mulRounded(p *mat.Pool, y, x mat.Matrix, rounded *mat.Int8Rows) {
	if l.int8 != nil {
		mat.GemmInt8Rows(p, y, rounded, l.int8, mat.GemmOptions{Bias: l.biases()})
	} else {
		l.mul(p, y, x, mat.Identity)
	}
}

// biases returns the elements of b, or nil.
func (l *linear) biases() []float32 {
	if l.bias == nil {
		return nil
	}
	return l.bias.W
}

// maxPartFloats is the limit of the elements of a part of a matrix that is read at once: 4 MB, the
// size of the matrices of the paper's base model except the embedding.
const maxPartFloats = 1 << 20

// read sets m, which has memory, from the elements of its parameter: part sets dst to those from lo
// on. A transposed matrix is read in parts, its columns. buf is workspace, which calls for other
// matrices may reuse.
func (m *weightMatrix) read(p *mat.Pool, part func(lo int, dst []float32) error, buf *[]float32) error {
	rows, cols := m.param.Shape[0], m.param.Shape[1]
	n := rows // of a part
	if m.transposed {
		const panel = 32
		n = min(rows, max(1, maxPartFloats/cols/panel)*panel)
	}
	*buf = slices.Grow((*buf)[:0], n*cols)
	for lo := 0; lo < rows; lo += n {
		x := mat.Of((*buf)[:n*cols], n, cols).RowRange(0, min(n, rows-lo))
		if err := part(lo*cols, x.Data); err != nil {
			return err
		}
		if m.transposed {
			x = x.T()
		}
		m.setCols(p, lo, x)
	}
	return nil
}

// setCols sets columns of m, see mat.Packed.SetCols.
func (m *weightMatrix) setCols(p *mat.Pool, j int, b mat.Matrix) {
	if m.int8 != nil {
		m.int8.SetCols(p, j, b)
	} else {
		m.packed.SetCols(p, j, b)
	}
}
