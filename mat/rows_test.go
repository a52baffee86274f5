package mat

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// Sums over rows are chains in the order of the rows, for any columns and strides.
func TestRowSums(t *testing.T) {
	forEachKernel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(5, 6))
		values := func(n int) []float32 { return ordinaries(r, n) }
		for _, rows := range []int{0, 1, 2, 17, rowsRun + 1} {
			for _, cols := range []int{0, 1, 15, 63, 64, 65, 128, 200} {
				if rows > rowsRun && cols > 65 {
					continue
				}
				dy, x := Of(values(rows*(cols+5)), rows, cols+5).ColRange(3, 3+cols), Of(values(rows*(cols+2)), rows, cols+2).ColRange(0, cols)
				mean, rstd := values(rows), values(rows)
				name := fmt.Sprintf("%d × %d", rows, cols)

				sum := values(cols)
				want := append([]float32(nil), sum...)
				for i := range rows {
					for j := range cols {
						want[j] += dy.At(i, j)
					}
				}
				AddRows(sum, dy)
				compareRows(t, name+" sum", sum, want)

				gain, bias := values(cols), values(cols)
				gainAlone := append([]float32(nil), gain...)
				wantGain, wantBias := append([]float32(nil), gain...), append([]float32(nil), bias...)
				for i := range rows {
					for j := range cols {
						wantGain[j] = fma32(dy.At(i, j), xhat(x.At(i, j), mean[i], rstd[i]), wantGain[j])
						wantBias[j] += dy.At(i, j)
					}
				}
				LayerNormParamGradRows(gain, bias, dy, x, mean, rstd)
				compareRows(t, name+" gain", gain, wantGain)
				compareRows(t, name+" bias", bias, wantBias)

				LayerNormParamGradRows(gainAlone, nil, dy, x, mean, rstd)
				compareRows(t, name+" gain without bias", gainAlone, wantGain)
			}
		}
	})
}

// ordinaries returns n values of ordinary.
func ordinaries(r *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = ordinary(r)
	}
	return x
}

// checkLayerNormRows compares LayerNormRows with the functions on slices. y and x have at least
// rows·(cols+3) elements.
func checkLayerNormRows(t *testing.T, r *rand.Rand, y, x []float32, rows, cols int) {
	t.Helper()
	view := func(data []float32) Matrix {
		stride := cols + r.IntN(4)
		n := max(0, (rows-1)*stride+cols)
		if r.IntN(2) == 0 {
			return Matrix{data[:n], rows, cols, stride, 1}
		}
		return Matrix{data[len(data)-n:], rows, cols, stride, 1}
	}
	to, from := view(y), view(x)
	copy(x, ordinaries(r, len(x)))
	copy(y, ordinaries(r, len(y)))
	if r.IntN(4) == 0 {
		to = from
	}
	gain, bias, eps := ordinaries(r, cols), ordinaries(r, cols), float32(1e-5)
	if r.IntN(3) == 0 {
		bias = nil
	}
	mean, rstd := make([]float32, rows), make([]float32, rows)
	wantMean, wantRStd, want := make([]float32, rows), make([]float32, rows), New(rows, cols)
	if rows > 0 && cols > 0 {
		for i := range rows {
			row := from.Row(i)
			wantMean[i] = Sum(row) / float32(cols)
			wantRStd[i] = float32(1 / math.Sqrt(float64(SumSquaredDiff(row, wantMean[i])/float32(cols)+eps)))
			LayerNorm(want.Row(i), row, wantMean[i], wantRStd[i], gain, bias)
		}
	}
	guards := append([]float32(nil), to.Data...)
	LayerNormRows(to, from, mean, rstd, gain, bias, eps)
	name := fmt.Sprintf("%d × %d, strides %d and %d", rows, cols, to.RowStride, from.RowStride)
	compareRows(t, name+" mean", mean, wantMean)
	compareRows(t, name+" rstd", rstd, wantRStd)
	for i := range rows {
		compareRows(t, name+" row", to.Row(i), want.Row(i))
		copy(guards[i*to.RowStride:], to.Row(i))
	}
	compareRows(t, name+" between rows", to.Data, guards)
}

func TestLayerNormRows(t *testing.T) {
	forEachKernel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(9, 10))
		y, x := make([]float32, 20*300), make([]float32, 20*300)
		for cols := range 70 {
			for range 4 {
				checkLayerNormRows(t, r, y, x, r.IntN(20), cols)
			}
		}
		checkLayerNormRows(t, r, y, x, 17, 256)
		long := [2][]float32{make([]float32, 3*(run+20)), make([]float32, 3*(run+20))}
		checkLayerNormRows(t, r, long[0], long[1], 3, run)
		checkLayerNormRows(t, r, long[0], long[1], 2, run+17)
		wantNoAllocations(t, func() { LayerNormRows(Of(y, 9, 70), Of(x, 9, 70), x[:9], x[9:18], x[:70], nil, 1) })
	})
	m, v := New(3, 4), make([]float32, 3)
	mustPanic(t, "mat: LayerNormRows", map[string]func(){
		"shape": func() { LayerNormRows(m, New(4, 3), v, v, make([]float32, 4), nil, 0) },
		"mean":  func() { LayerNormRows(m, m, v[1:], v, make([]float32, 4), nil, 0) },
		"rstd":  func() { LayerNormRows(m, m, v, v[1:], make([]float32, 4), nil, 0) },
		"gain":  func() { LayerNormRows(m, m, v, v, v, nil, 0) },
		"bias":  func() { LayerNormRows(m, m, v, v, make([]float32, 4), v, 0) },
		"rows":  func() { LayerNormRows(m, New(4, 3).T(), v, v, make([]float32, 4), nil, 0) },
	})
}

// A nil bias is zeros, also in rows of more than one run.
func TestLayerNormWithoutBias(t *testing.T) {
	forEachKernel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(7, 8))
		for _, n := range []int{0, 1, 15, 16, 100, run, run + 7} {
			x, gain, got, want := ordinaries(r, n), ordinaries(r, n), make([]float32, n), make([]float32, n)
			LayerNorm(want, x, 0.5, 1.25, gain, make([]float32, n))
			LayerNorm(got, x, 0.5, 1.25, gain, nil)
			for j := range want {
				if got[j] != want[j] {
					t.Fatalf("%d elements: element %d is %v, want %v", n, j, got[j], want[j])
				}
			}
		}
	})
}

// compareRows requires the same bits from assembly, and nearly the same values from portable Go.
func compareRows(t *testing.T, name string, got, want []float32) {
	t.Helper()
	for j, w := range want {
		if d := float64(got[j] - w); got[j] != w && (kernel != generic || d*d > 1e-6*(1+float64(w)*float64(w))) {
			t.Errorf("%s: column %d is %v, want %v", name, j, got[j], w)
			return
		}
	}
}

func TestRowSumsPanicOnMismatch(t *testing.T) {
	m := New(3, 4)
	mustPanic(t, "mat: ", map[string]func(){
		"AddRows":             func() { AddRows(make([]float32, 3), m) },
		"AddRows, transposed": func() { AddRows(make([]float32, 3), m.T()) },
		"LayerNormParamGradRows": func() {
			LayerNormParamGradRows(make([]float32, 4), make([]float32, 4), m, m, make([]float32, 3), make([]float32, 2))
		},
	})
}
