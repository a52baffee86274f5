package mat

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// A panic names the rule that failed, what was found and what was expected.
func TestPanicMessages(t *testing.T) {
	x := make([]float32, 100)
	product := func(c, a, b Matrix, o GemmOptions) func() { return func() { Gemm(nil, c, a, b, o) } }
	result := func(c Matrix) func() { return product(c, New(c.Rows, 3), New(3, c.Cols), GemmOptions{}) }
	for want, f := range map[string]func(){
		// matrices
		"mat: Row of a transpose (3 × 4, strides 1 and 3): rows are not contiguous":  func() { New(4, 3).T().Row(0) },
		"mat: Row of a 2 × 2 matrix with strides 9 and 2: rows are not contiguous":   func() { Matrix{x, 2, 2, 9, 2}.Row(0) },
		"mat: row 3 of a 3 × 4 matrix":                                               func() { New(3, 4).Row(3) },
		"mat: element (1, 4) of a 3 × 4 matrix":                                      func() { New(3, 4).At(1, 4) },
		"mat: 19 elements for a 4 × 5 matrix, which has 20":                          func() { Of(x[:19], 4, 5) },
		"mat: C is 4 × 5 with strides 1 and 4: a transpose; rows must be contiguous": result(New(5, 4).T()),
		"mat: C is 2 × 2 with strides 9 and 2: rows must be contiguous":              result(Matrix{x, 2, 2, 9, 2}),
		"mat: C is 4 × 5 with strides 5 and 1: it needs 20 elements, Data has 19":    result(Matrix{x[:19], 4, 5, 5, 1}),
		"mat: C is 4 × 5 with strides 3 and 1: rows overlap":                         result(Matrix{x, 4, 5, 3, 1}),
		"mat: A is 2 × 3 with strides -3 and 1: a size or stride is negative": product(New(2, 2),
			Matrix{x, 2, 3, -3, 1}, New(3, 2), GemmOptions{}),
		"mat: A is 2 × 3 with strides 9 and 2: one stride must be 1": product(New(2, 2), Matrix{x, 2, 3, 9, 2}, New(3, 2), GemmOptions{}),
		fmt.Sprintf("mat: A is %d × %d with strides 0 and 1: more than %d elements", maxElements, 3, maxElements): product(New(2, 2),
			Matrix{x, maxElements, 3, 0, 1}, New(3, 2), GemmOptions{}),
		fmt.Sprintf("mat: New of a %d × 1 matrix: more than %d elements", maxElements/4+1, maxElements/4): func() { New(maxElements/4+1, 1) },
		"mat: New of a -1 × 1 matrix: a size is negative":                                                 func() { New(-1, 1) },

		// products
		"mat: shapes of a product do not match: C 4 × 5, A 4 × 3, B 5 × 3; expected [m × n], [m × k], [k × n]: B must be transposed": product(
			New(4, 5), New(4, 3), New(5, 3), GemmOptions{}),
		"mat: shapes of a product do not match: C 4 × 5, A 3 × 4, B 3 × 5; expected [m × n], [m × k], [k × n]: A must be transposed": product(
			New(4, 5), New(3, 4), New(3, 5), GemmOptions{}),
		"mat: shapes of a product do not match: C 4 × 5, A 3 × 4, B 5 × 3; expected [m × n], [m × k], [k × n]: A and B must be transposed": product(
			New(4, 5), New(3, 4), New(5, 3), GemmOptions{}),
		"mat: shapes of a product do not match: C 4 × 5, A 3 × 7, B 5 × 3; expected [m × n], [m × k], [k × n]": product(
			New(4, 5), New(3, 7), New(5, 3), GemmOptions{}),
		"mat: bias of 3 elements for C 2 × 2, expected 2": product(New(2, 2), New(2, 2), New(2, 2), GemmOptions{Bias: x[:3]}),
		"mat: unknown activation 5, expected 0 (identity) to 4 (silu)": product(New(2, 2), New(2, 2), New(2, 2),
			GemmOptions{Activation: activations}),
		"mat: GemmPacked with a nil *Packed": func() { GemmPacked(nil, New(2, 2), New(2, 2), nil, GemmOptions{}) },
		"mat: GemmInt8 with a nil *Int8":     func() { GemmInt8(nil, New(2, 2), New(2, 2), nil, GemmOptions{}) },

		// the BLAS
		"mat: Sgemm with transA = 'p' (112), expected 'N', 'T' or 'C'": func() { Sgemm('p', 'N', 2, 3, 4, 1, x, 4, x, 3, 0, x, 3) },

		// vectors
		"mat: Dropout.Apply of slices of unequal lengths [20 3]":         func() { Dropout{}.Apply(x[:20], x[:3], nil, 0) },
		"mat: Dropout.Apply of slices of unequal lengths [20 20 3]":      func() { Dropout{}.Apply(x[:20], x[:20], x[:3], 0) },
		"mat: Softmax with scale 0, expected one above 0":                func() { Softmax(x, x, 0) },
		"mat: SoftmaxRows with scale -1, expected one above 0":           func() { SoftmaxRows(New(2, 2), New(2, 2), 1, -1) },
		"mat: Softmax with scale NaN, expected one above 0":              func() { Softmax(x, x, float32(math.NaN())) },
		"mat: Adam.Step with GradScale 0; it is 1 without clipping":      func() { (&Adam{VScale: 1}).Step(x[:1], x[1:2], x[2:3], x[3:4]) },
		"mat: Adam.Step with VScale 0, expected 1/(1-Beta2^t) in step t": func() { (&Adam{GradScale: 1}).Step(x[:1], x[1:2], x[2:3], x[3:4]) },
	} {
		if got := fmt.Sprint(panicOf(f)); got != want {
			t.Errorf("panic %q,\nwant  %q", got, want)
		}
	}
}

// A result whose first element is that of an operand is found, whatever its shape: it would be
// wrong without an error.
func TestResultIsAnOperand(t *testing.T) {
	forEachKernel(t, func(t *testing.T) {
		for _, n := range []int{1, 4, 64} {
			c, x, y := New(n, n), New(n, n), New(n, n)
			for name, calls := range map[string]map[string]func(){
				"A": {
					"Gemm":       func() { Gemm(nil, c, c, x, GemmOptions{}) },
					"GemmPacked": func() { GemmPacked(nil, c, c, Pack(nil, x), GemmOptions{}) },
					"GemmInt8":   func() { GemmInt8(nil, c, c, QuantizeInt8(nil, x), GemmOptions{}) },
					"GemmBF16":   func() { GemmBF16(nil, c, c, x, GemmOptions{}) },
					"transposed": func() { Gemm(nil, c, c.T(), x, GemmOptions{}) },
				},
				"B": {
					"Gemm":     func() { Gemm(nil, c, x, c, GemmOptions{}) },
					"GemmBF16": func() { GemmBF16(nil, c, x, c, GemmOptions{}) },
				},
				"the bias": {
					"Gemm": func() { Gemm(nil, c, x, y, GemmOptions{Bias: c.Row(0)}) },
				},
				"the residual": {
					"Gemm":       func() { Gemm(nil, c, x, y, GemmOptions{Residual: c}) },
					"GemmPacked": func() { GemmPacked(nil, c, x, Pack(nil, y), GemmOptions{Residual: c}) },
					"GemmInt8":   func() { GemmInt8(nil, c, x, QuantizeInt8(nil, y), GemmOptions{Residual: c}) },
					"GemmBF16":   func() { GemmBF16(nil, c, x, y, GemmOptions{Residual: c}) },
				},
			} {
				for function, f := range calls {
					want := "C and " + name + " share memory"
					if s := fmt.Sprint(panicOf(f)); !strings.HasPrefix(s, "mat: ") || !strings.Contains(s, want) {
						t.Errorf("%s with %s in C, n = %d: panic %q, want %q", function, name, n, s, want)
					}
				}
			}
			for name, f := range map[string]func(){
				"a and c": func() { Sgemm('N', 'N', n, n, n, 2, c.Data, n, x.Data, n, 0.5, c.Data, n) },
				"b and c": func() { Sgemm('N', 'N', n, n, n, 2, x.Data, n, c.Data, n, 0.5, c.Data, n) },
			} {
				if s, want := fmt.Sprint(panicOf(f)), "mat: Sgemm with "+name+" in the same memory"; s != want {
					t.Errorf("n = %d: panic %q, want %q", n, s, want)
				}
			}
			if s := fmt.Sprint(panicOf(func() { Transpose(nil, c, c) })); !strings.HasPrefix(s, "mat: Transpose of a ") {
				t.Errorf("Transpose to its argument, n = %d: panic %q", n, s)
			}
		}

		// elements other than the first are shared
		buffer := New(1, 300).Data
		c, x, y := Of(buffer[40:], 8, 8), New(8, 8), New(8, 8)
		for name, operand := range map[string]Matrix{
			"begins before C": Of(buffer[33:], 8, 8), "begins in C": Of(buffer[103:], 8, 8),
			"transposed": Of(buffer[33:], 8, 8).T(), "wider rows": {buffer[39:], 8, 8, 9, 1},
			"repeated row": {buffer[100:], 8, 8, 0, 1}, "repeated column": {buffer[103:], 8, 8, 1, 0},
		} {
			for role, f := range map[string]func(){
				"A":        func() { Gemm(nil, c, operand, x, GemmOptions{}) },
				"B":        func() { Gemm(nil, c, x, operand, GemmOptions{}) },
				"A, int8":  func() { GemmInt8(nil, c, operand, QuantizeInt8(nil, x), GemmOptions{}) },
				"B, bf16":  func() { GemmBF16(nil, c, x, operand, GemmOptions{}) },
				"bias":     func() { Gemm(nil, c, x, y, GemmOptions{Bias: operand.Data[:8]}) },
				"residual": func() { Gemm(nil, c, x, y, GemmOptions{Residual: Of(operand.Data, 8, 8)}) },
				"BLAS": func() {
					Sgemm('N', 'T', 8, 8, 8, 2, x.Data, 8, operand.Data, 8, 0, c.Data, 8)
				},
			} {
				if s := fmt.Sprint(panicOf(f)); !strings.HasPrefix(s, "mat: ") || !strings.Contains(s, "memory") {
					t.Errorf("%s that %s: panic %q", role, name, s)
				}
			}
		}

		// no element is shared: interleaved columns, an empty A, and a residual before C
		wide := New(8, 32)
		q, k, v := wide.ColRange(0, 8), wide.ColRange(8, 16), wide.ColRange(16, 24)
		Gemm(nil, v, q, k, GemmOptions{Residual: wide.ColRange(24, 32)})
		Gemm(nil, q, Of(q.Data, 8, 0), Of(q.Data, 0, 8), GemmOptions{})
		Sgemm('N', 'N', 2, 2, 0, 1, wide.Data, 1, wide.Data, 2, 1, wide.Data, 2)
		Sgemm('N', 'N', 2, 2, 2, 0, wide.Data, 2, wide.Data, 2, 1, wide.Data, 2)
	})
}

// overlaps finds exactly the matrices that share an element.
func TestOverlaps(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	data := make([]float32, 60)
	draw := func() Matrix {
		for {
			m := Matrix{data[r.IntN(len(data)):], r.IntN(6), r.IntN(6), r.IntN(9), 1}
			if r.IntN(2) == 0 {
				m.RowStride = m.Cols + r.IntN(3)
			}
			if r.IntN(3) == 0 {
				m = m.T()
			}
			if m.valid(reads) {
				return m
			}
		}
	}
	elements := func(m Matrix) map[*float32]bool {
		set := map[*float32]bool{}
		for i := range m.Rows {
			for j := range m.Cols {
				set[&m.Data[i*m.RowStride+j*m.ColStride]] = true
			}
		}
		return set
	}
	var shared, adjacent int
	for range 20000 {
		a, b := draw(), draw()
		if r.IntN(2) == 0 && a.ColStride == 1 {
			// as columns of one matrix
			b = Matrix{b.Data, b.Rows, min(b.Cols, a.RowStride), a.RowStride, 1}
			if !b.valid(reads) {
				continue
			}
		}
		want, inA := false, elements(a)
		for p := range elements(b) {
			want = want || inA[p]
		}
		if got := a.overlaps(&b); got != want {
			offset := len(a.Data) - len(b.Data)
			t.Fatalf("%d × %d with strides %d and %d, and %d elements on %d × %d with strides %d and %d: overlaps = %v, want %v",
				a.Rows, a.Cols, a.RowStride, a.ColStride, offset, b.Rows, b.Cols, b.RowStride, b.ColStride, got, want)
		}
		if want {
			shared++
		} else if a.extent() > 0 && b.extent() > 0 {
			adjacent++
		}
	}
	if shared < 1000 || adjacent < 1000 {
		t.Errorf("%d pairs share elements and %d do not, want 1000 of each", shared, adjacent)
	}
}

// The zero Pool and a closed one run loops on the caller, and say so.
func TestPoolsWithoutWorkers(t *testing.T) {
	closed := NewPool(2)
	closed.Close()
	for name, p := range map[string]*Pool{"nil": nil, "zero": new(Pool), "closed": closed} {
		if n := p.Threads(); n != 1 {
			t.Errorf("%s pool: Threads() = %d, want 1", name, n)
		}
		c := New(200, 300)
		Gemm(p, c, Of(make([]float32, 200*100), 200, 100), New(100, 300), GemmOptions{Bias: make([]float32, 300)})
		GemmInt8(p, c, New(200, 100), QuantizeInt8(nil, New(100, 300)), GemmOptions{})
		GemmPacked(p, c, New(200, 100), Pack(p, New(100, 300)), GemmOptions{})
		f := fill{make([]int32, 9)}
		Each(p, 9, 1, f)
		if f.calls[8] != 1 {
			t.Errorf("%s pool: %d calls of index 8, want 1", name, f.calls[8])
		}
		p.Do(-1, 1, func(lo, hi int) { t.Errorf("%s pool: Do(-1) calls [%d, %d)", name, lo, hi) })
		p.Close()
	}
}

func TestActivationString(t *testing.T) {
	for f, want := range map[Activation]string{Identity: "identity", ReLU: "relu", GELU: "gelu", GELUTanh: "gelu-tanh", SiLU: "silu", 9: "Activation(9)"} {
		if got := f.String(); got != want {
			t.Errorf("String() = %q, want %q", got, want)
		}
	}
	for _, f := range Activations() {
		if f.String() == "" {
			t.Errorf("activation %d has no name", uint8(f))
		}
	}
}

// Names of kernels are lower case, and the error says so.
func TestChooseKernelInUpperCase(t *testing.T) {
	name := strings.ToUpper(supported[0].String())
	if _, err := choose("MAT_KERNEL", name); err == nil || !strings.Contains(err.Error(), "lower case") {
		t.Errorf("choose(%q) = %v, want an error that names lower case", name, err)
	}
}
