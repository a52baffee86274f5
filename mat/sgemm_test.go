package mat

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// blas is a call of Sgemm.
type blas struct {
	ta, tb        byte
	m, n, k       int
	alpha, beta   float32
	a, b, c       []float32
	lda, ldb, ldc int
}

func (q *blas) String() string {
	return fmt.Sprintf("%c%c m=%d n=%d k=%d alpha=%v beta=%v lda=%d ldb=%d ldc=%d", q.ta, q.tb, q.m, q.n, q.k, q.alpha, q.beta, q.lda, q.ldb, q.ldc)
}

func (q *blas) run(p *Pool) {
	SgemmOn(p, q.ta, q.tb, q.m, q.n, q.k, q.alpha, q.a, q.lda, q.b, q.ldb, q.beta, q.c, q.ldc)
}

// newBLAS returns a call with random operands. The gaps after the rows of A and B hold NaN, those
// of C hold guards.
func newBLAS(r *rand.Rand, ta, tb byte, m, n, k int, alpha, beta float32, number func(*rand.Rand) float32) *blas {
	q := &blas{ta: ta, tb: tb, m: m, n: n, k: k, alpha: alpha, beta: beta}
	stored := func(rows, cols int, transposed bool, gap float32) ([]float32, int) {
		if transposed {
			rows, cols = cols, rows
		}
		ld := max(1, cols) + r.IntN(4)*r.IntN(2)
		x := make([]float32, max(0, (rows-1)*ld+cols))
		for i := range x {
			if x[i] = gap; i%ld < cols {
				x[i] = number(r)
			}
		}
		return x, ld
	}
	nan := float32(math.NaN())
	q.a, q.lda = stored(m, k, ta|0x20 != 'n', nan)
	q.b, q.ldb = stored(k, n, tb|0x20 != 'n', nan)
	q.c, q.ldc = stored(m, n, false, guard)
	return q
}

// opA returns element (i, l) of op(A), opB element (l, j) of op(B).
func (q *blas) opA(i, l int) float32 {
	if q.ta|0x20 == 'n' {
		return q.a[i*q.lda+l]
	}
	return q.a[l*q.lda+i]
}

func (q *blas) opB(l, j int) float32 {
	if q.tb|0x20 == 'n' {
		return q.b[l*q.ldb+j]
	}
	return q.b[j*q.ldb+l]
}

// oracle returns element (i, j) of the result by the definition of Sgemm.
func (q *blas) oracle(i, j int) float32 {
	var x float32
	if q.beta != 0 {
		x = q.beta * q.c[i*q.ldc+j]
	}
	if q.alpha != 0 {
		for l := range q.k {
			x = fma32(float32(q.alpha*q.opA(i, l)), q.opB(l, j), x)
		}
	}
	return x
}

// float64Oracle returns element (i, j) in float64, and the error bound of Sgemm.
func (q *blas) float64Oracle(i, j int) (x, bound float64) {
	if q.beta != 0 {
		x = float64(q.beta) * float64(q.c[i*q.ldc+j])
	}
	sum, k := math.Abs(x), 0
	if q.alpha != 0 {
		k = q.k
	}
	for l := range k {
		t := float64(q.alpha) * float64(q.opA(i, l)) * float64(q.opB(l, j))
		x, sum = x+t, sum+math.Abs(t)
	}
	roundings := float64(k + 1)
	if kernel == generic {
		roundings++
	}
	return x, 1.001 * roundings * 0x1p-24 * sum // 1.001 for terms of higher order
}

// check compares a call with the oracles: in float64 if the values are ordinary, and bit for bit if
// a kernel is in use.
func (q *blas) check(t *testing.T, p *Pool, ordinary bool) {
	t.Helper()
	want := make([]float32, len(q.c))
	type number struct{ x, bound float64 }
	exact := make([]number, len(q.c))
	for at := range q.c {
		if want[at] = guard; at%q.ldc < q.n {
			want[at] = q.oracle(at/q.ldc, at%q.ldc)
			x, bound := q.float64Oracle(at/q.ldc, at%q.ldc)
			exact[at] = number{x, bound}
		}
	}
	q.run(p)
	for at, got := range q.c {
		gap := at%q.ldc >= q.n
		if (gap || kernel != generic) && !sameNumber(got, want[at]) {
			t.Fatalf("%v: c[%d] = %x, want %x", q, at, got, want[at])
		}
		if e := exact[at]; ordinary && !gap && !(math.Abs(float64(got)-e.x) <= e.bound) {
			t.Fatalf("%v: c[%d] = %v, want %v ± %v", q, at, got, e.x, e.bound)
		}
	}
}

func TestSgemmEqualsOracles(t *testing.T) {
	forEachKernel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 2))
		scalars := []float32{0, 1, -1, 0.5, -1.7, float32(math.NaN())}
		threads := []int{1, 2, 3, 8}
		for _, ta := range []byte("NTC") {
			for _, tb := range []byte("NTC") {
				for _, alpha := range scalars {
					for _, beta := range scalars {
						q := newBLAS(r, ta, tb, r.IntN(15), r.IntN(40), r.IntN(20), alpha, beta, normal)
						q.check(t, pools[threads[r.IntN(4)]], alpha == alpha && beta == beta)
						q = newBLAS(r, ta, tb, r.IntN(15), r.IntN(40), r.IntN(8), alpha, beta, number)
						q.check(t, pools[threads[r.IntN(4)]], false)
					}
				}
			}
		}
		for _, s := range [][3]int{{1, 1, 300}, {1, 300, 1}, {300, 1, 5}, {9000, 1, 1}, {1, 9000, 1}, {1, 300, 100}} {
			for _, form := range []string{"NN", "NT", "TN", "TT"} {
				for _, scalar := range [][2]float32{{1, 0}, {1, 1}, {-0.3, 2.5}} {
					newBLAS(r, form[0], form[1], s[0], s[1], s[2], scalar[0], scalar[1], normal).check(t, pools[threads[r.IntN(4)]], true)
				}
			}
		}
		for _, form := range []string{"NT", "TN"} { // enough work for several threads
			newBLAS(r, form[0], form[1], 90, 85, 80, -0.3, 2.5, normal).check(t, pools[3], true)
		}
	})
}

// A row has the same bits alone and among others, for any alpha and beta.
func TestSgemmOfARowAlone(t *testing.T) {
	forEachKernel(t, func(t *testing.T) {
		if kernel == generic {
			t.Skip("portable kernels: not promised")
		}
		r := rand.New(rand.NewPCG(3, 4))
		const m, n, k = 37, 70, 90
		q := newBLAS(r, 'N', 'T', m, n, k, 0.7, -0.3, normal)
		c := append([]float32(nil), q.c...)
		q.run(pools[3])
		for i := range m {
			alone := *q
			alone.m, alone.a, alone.c = 1, q.a[i*q.lda:][:k], c[i*q.ldc:][:n]
			alone.run(nil)
			for j, x := range alone.c {
				if got := q.c[i*q.ldc+j]; math.Float32bits(got) != math.Float32bits(x) {
					t.Fatalf("element (%d, %d) is %x, want %x as in a row alone", i, j, got, x)
				}
			}
		}
	})
}

func TestSgemmOfSpecialValues(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	isNaN := func(x float32) bool { return x != x }
	is := func(want float32) func(float32) bool { return func(x float32) bool { return x == want } }
	forEachKernel(t, func(t *testing.T) {
		for _, c := range []struct {
			name             string
			alpha, a, b      float32
			beta, c          float32
			want             func(float32) bool
			wantWithoutDepth func(float32) bool
		}{
			{"NaN in A times 0", 1, nan, 0, 0, 5, isNaN, is(0)},
			{"NaN in B times 0", 1, 0, nan, 0, 5, isNaN, is(0)},
			{"infinity times 0", 1, 0, inf, 0, 5, isNaN, is(0)},
			{"infinity", 1, inf, 2, 0, 5, is(inf), is(0)},
			{"-infinity", -1, inf, 2, 0, 5, is(-inf), is(0)},
			{"NaN in C, beta 0", 1, 2, 3, 0, nan, is(6), is(0)},
			{"NaN in C, beta 1", 1, 2, 3, 1, nan, isNaN, isNaN},
			{"NaN in C, beta 2", 1, 2, 3, 2, nan, isNaN, isNaN},
			{"infinity in C, beta 2", 1, 2, 3, 2, inf, is(inf), is(inf)},
			{"alpha 0 reads no A", 0, nan, 3, 2, 5, is(10), is(10)},
			{"alpha 0 reads no B", 0, 2, inf, 1, 5, is(5), is(5)},
			{"alpha 0, beta 0", 0, nan, nan, 0, nan, is(0), is(0)},
			{"alpha NaN", nan, 2, 3, 0, 5, isNaN, is(0)},
			{"alpha infinite", inf, 2, 3, 0, 5, is(inf), is(0)},
			{"alpha infinite times 0", inf, 0, 3, 0, 5, isNaN, is(0)},
			{"beta NaN", 1, 2, 3, nan, 5, isNaN, isNaN},
			{"beta infinite times 0", 1, 2, 3, inf, 0, isNaN, isNaN},
			{"beta -0", 1, 2, 3, float32(math.Copysign(0, -1)), nan, is(6), is(0)},
		} {
			t.Run(c.name, func(t *testing.T) {
				for _, form := range []string{"NN", "NT", "TN", "TT"} {
					x := []float32{c.c}
					Sgemm(form[0], form[1], 1, 1, 1, c.alpha, []float32{c.a}, 1, []float32{c.b}, 1, c.beta, x, 1)
					if !c.want(x[0]) {
						t.Errorf("%s: got %v", form, x[0])
					}
					x[0] = c.c
					Sgemm(form[0], form[1], 1, 1, 0, c.alpha, nil, 1, nil, 1, c.beta, x, 1)
					if !c.wantWithoutDepth(x[0]) {
						t.Errorf("%s, k = 0: got %v", form, x[0])
					}
				}
			})
		}
	})
}

// Operands that are not read, with alpha = 0 or empty sizes, may be nil.
func TestSgemmWithoutOperands(t *testing.T) {
	c := []float32{1, 2, 3, 4}
	Sgemm('N', 'N', 2, 2, 3, 0, nil, 3, nil, 2, 0.5, c, 2)
	if c[0] != 0.5 || c[3] != 2 {
		t.Errorf("C = %v, want [0.5 1 1.5 2]", c)
	}
	for _, s := range [][3]int{{0, 2, 3}, {2, 0, 3}, {0, 0, 0}} {
		Sgemm('N', 'N', s[0], s[1], s[2], 1, nil, 3, nil, 2, 0.5, nil, 2)
	}
}

type gonumTranspose byte // like gonum's blas.Transpose

func TestSgemmTransposeTypes(t *testing.T) {
	const noTrans, trans gonumTranspose = 'N', 'T'
	a, b := []float32{1, 2, 3, 4}, []float32{5, 6, 7, 8}
	c, d := make([]float32, 4), make([]float32, 4)
	Sgemm(noTrans, trans, 2, 2, 2, 1, a, 2, b, 2, 0, c, 2)
	Sgemm('n', 'c', 2, 2, 2, 1, a, 2, b, 2, 0, d, 2)
	if want := [4]float32{17, 23, 39, 53}; [4]float32(c) != want || [4]float32(d) != want {
		t.Errorf("A·Bᵀ = %v and %v, want %v", c, d, want)
	}
}

func TestSgemmAllocatesNothing(t *testing.T) {
	forEachKernel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(5, 6))
		q := newBLAS(r, 'T', 'N', 100, 90, 80, 0.5, -1, normal)
		for _, p := range []*Pool{nil, pools[2], DefaultPool()} {
			wantNoAllocations(t, func() { q.run(p) })
		}
	})
}

func TestSgemmPanicsOnMismatch(t *testing.T) {
	x := func(n int) []float32 { return make([]float32, n) }
	for _, c := range []struct {
		want string
		f    func()
	}{
		{"transA = 'X'", func() { Sgemm('X', 'N', 2, 3, 4, 1, x(8), 4, x(12), 3, 0, x(6), 3) }},
		{"transB = '\\x00'", func() { Sgemm('N', 0, 2, 3, 4, 1, x(8), 4, x(12), 3, 0, x(6), 3) }},
		{"m = -2", func() { Sgemm('N', 'N', -2, 3, 4, 1, x(8), 4, x(12), 3, 0, x(6), 3) }},
		{"n = -3", func() { Sgemm('N', 'N', 2, -3, 4, 1, x(8), 4, x(12), 3, 0, x(6), 3) }},
		{"k = -4", func() { Sgemm('N', 'N', 2, 3, -4, 1, x(8), 4, x(12), 3, 0, x(6), 3) }},
		{"lda = 3, expected at least 4: a is stored as 2 × 4", func() { Sgemm('N', 'N', 2, 3, 4, 1, x(8), 3, x(12), 3, 0, x(6), 3) }},
		{"lda = 1, expected at least 2: a is stored as 4 × 2", func() { Sgemm('T', 'N', 2, 3, 4, 1, x(8), 1, x(12), 3, 0, x(6), 3) }},
		{"lda = 0, expected at least 1: a is stored as 2 × 0", func() { Sgemm('N', 'N', 2, 3, 0, 1, x(8), 0, x(12), 3, 0, x(6), 3) }},
		{"ldb = 2, expected at least 3: b is stored as 4 × 3", func() { Sgemm('N', 'N', 2, 3, 4, 1, x(8), 4, x(12), 2, 0, x(6), 3) }},
		{"ldb = 3, expected at least 4: b is stored as 3 × 4", func() { Sgemm('N', 'T', 2, 3, 4, 1, x(8), 4, x(12), 3, 0, x(6), 3) }},
		{"ldc = 2, expected at least 3: c is stored as 2 × 3", func() { Sgemm('N', 'N', 2, 3, 4, 1, x(8), 4, x(12), 3, 0, x(6), 2) }},
		{"7 elements in a, expected at least 8: a is stored as 2 × 4 with lda = 4", func() { Sgemm('N', 'N', 2, 3, 4, 1, x(7), 4, x(12), 3, 0, x(6), 3) }},
		{"11 elements in b, expected at least 12: b is stored as 3 × 4 with ldb = 4", func() { Sgemm('N', 'T', 2, 3, 4, 1, x(8), 4, x(11), 4, 0, x(6), 3) }},
		{"6 elements in c, expected at least 7: c is stored as 2 × 3 with ldc = 4", func() { Sgemm('N', 'N', 2, 3, 4, 1, x(8), 4, x(12), 3, 0, x(6), 4) }},
		{"2 elements in c", func() { Sgemm('N', 'N', 2, 3, 0, 0, nil, 4, nil, 3, 0, x(2), 3) }},
		{"8 elements in a", func() { Sgemm('N', 'N', 2, 3, 4, 1, x(8), math.MaxInt, x(12), 3, 0, x(6), 3) }},
	} {
		if s := fmt.Sprint(panicOf(c.f)); !strings.HasPrefix(s, "mat: Sgemm with ") || !strings.Contains(s, c.want) {
			t.Errorf("panic %q, want one that contains %q", s, c.want)
		}
	}
}
