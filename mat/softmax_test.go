package mat

import (
	"math/rand/v2"
	"testing"
)

// place returns a rows × cols matrix at the start of data or, if last, at its end, with the given
// row stride. All other elements of data are guards.
func place(data []float32, rows, cols, stride int, last bool) Matrix {
	m := Matrix{nil, rows, cols, stride, 1}
	for i := range data {
		data[i] = guard
	}
	if m.Data = data[:m.extent()]; last {
		m.Data = data[len(data)-m.extent():]
	}
	return m
}

// outside returns the number of elements of data that are not guards, besides those of m.
func outside(data []float32, m Matrix) int {
	n := -m.Rows * m.Cols
	for _, x := range data {
		if x != guard {
			n++
		}
	}
	return n
}

// checkRows compares SoftmaxRows and SoftmaxGradRows with the oracles of their rows, in place and
// not, with matrices at either end of y, p and dp.
func checkRows(t *testing.T, r *rand.Rand, y, p, dp []float32, rows, cols, first int, number func(*rand.Rand) float32) {
	t.Helper()
	last, gap := r.IntN(2) == 0, r.IntN(3)
	ym, pm, dm := place(y, rows, cols, cols+gap, last), place(p, rows, cols, cols+r.IntN(2), last), place(dp, rows, cols, cols+gap, last)
	for i := range rows {
		for j := range cols {
			pm.Row(i)[j], dm.Row(i)[j] = number(r), number(r)
		}
	}
	const scale = 0.3
	want, wantGrad := New(rows, cols), New(rows, cols)
	for i := range rows {
		n := min(first+i, cols)
		softmaxOracle(want.Row(i)[:n], pm.Row(i)[:n], scale)
		dot := dotOracle(pm.Row(i), dm.Row(i)) + 0
		for j := range cols {
			wantGrad.Row(i)[j] = pm.Row(i)[j] * (dm.Row(i)[j] - dot) * scale
		}
	}
	equal := func(what string, data []float32, got, want Matrix) {
		t.Helper()
		for i := range rows {
			for j := range cols {
				g, w := got.At(i, j), want.At(i, j)
				ok := sameNumber(g, w)
				// each sum rounds its products, of terms below 64, as in
				// vecCase.check
				if kernel == generic {
					ok = g == w || abs(g-w) <= 0x1p-18*float32(1+cols)*(1+abs(w))
				}
				if !ok {
					t.Fatalf("%s of %d × %d, first %d: [%d, %d] is %x, want %x", what, rows, cols, first, i, j, g, w)
				}
			}
		}
		if n := outside(data, got); n > 0 {
			t.Fatalf("%s of %d × %d: %d elements written outside", what, rows, cols, n)
		}
	}
	stale := func() {
		for i := range rows {
			for j := range cols {
				ym.Row(i)[j] = 1
			}
		}
	}
	stale()
	SoftmaxRows(ym, pm, first, scale)
	equal("SoftmaxRows", y, ym, want)
	stale()
	SoftmaxGradRows(ym, pm, dm, scale)
	equal("SoftmaxGradRows", y, ym, wantGrad)
	SoftmaxGradRows(dm, pm, dm, scale)
	equal("SoftmaxGradRows in place", dp, dm, wantGrad)
	SoftmaxRows(pm, pm, first, scale)
	equal("SoftmaxRows in place", p, pm, want)
}

func abs(x float32) float32 { return max(x, -x) }

func TestSoftmaxRowsEqualOracle(t *testing.T) {
	const maxFloats = 130 * 132
	alloc := func() []float32 { return make([]float32, maxFloats) }
	forEachKernel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(11, 12))
		y, p, dp := alloc(), alloc(), alloc()
		for round, numbers := range []func(*rand.Rand) float32{ordinary, number, tiny} {
			if kernel == generic && round > 0 {
				continue
			}
			for cols := range 70 {
				for _, first := range []int{0, 1, 1 + r.IntN(cols+1), cols, cols + 5} {
					rows := r.IntN(20)
					checkRows(t, r, y[:rows*(cols+3)+9], p[:rows*(cols+3)+9], dp[:rows*(cols+3)+9], rows, cols, first, numbers)
				}
			}
			checkRows(t, r, y, p, dp, 128, 129, 1, numbers) // several calls of the kernel
		}
	})
}

func TestSoftmaxRowsAllocateNothing(t *testing.T) {
	forEachKernel(t, func(t *testing.T) {
		y, x := New(9, 70), New(9, 70)
		wantNoAllocations(t, func() {
			SoftmaxRows(y, x, 1, 1)
			SoftmaxGradRows(y, x, y, 1)
		})
	})
}

func TestSoftmaxRowsPanicOnMismatch(t *testing.T) {
	x := func(rows, cols int) Matrix { return New(rows, cols) }
	mustPanic(t, "mat: SoftmaxRows", map[string]func(){
		"shape":      func() { SoftmaxRows(x(2, 3), x(3, 2), 1, 1) },
		"first":      func() { SoftmaxRows(x(2, 3), x(2, 3), -1, 1) },
		"transposed": func() { SoftmaxRows(x(3, 2).T(), x(2, 3), 1, 1) },
		"outside":    func() { SoftmaxRows(x(2, 3), Matrix{make([]float32, 5), 2, 3, 3, 1}, 1, 1) },
	})
	mustPanic(t, "mat: SoftmaxGradRows", map[string]func(){
		"p":  func() { SoftmaxGradRows(x(2, 3), x(3, 3), x(2, 3), 1) },
		"dp": func() { SoftmaxGradRows(x(2, 3), x(2, 3), x(2, 4), 1) },
	})
}
