package bench

import (
	"math/rand/v2"
	"time"

	"tfm/mat"
)

// products are the matrix products that take most of a Transformer's time. The letters of form are
// the storage of A and B: N row-major, T transposed.
var products = []struct {
	name, form string
	m, n, k    int
	bf16, int8 bool
}{
	{"base: queries, keys, values", "NN", 1024, 1536, 512, true, false},
	{"base: feed-forward, inner", "NN", 1024, 2048, 512, true, false},
	{"base: feed-forward, outer", "NN", 1024, 512, 2048, true, false},
	{"base: feed-forward, gradient of weights", "TN", 2048, 512, 1024, true, false},
	{"base: logits, one chunk of rows", "NT", 419, 10000, 512, true, false},
	{"tiny: feed-forward, inner", "NN", 4096, 256, 128, true, false},
	{"decoding: feed-forward, 1 row", "NN", 1, 2048, 512, false, true},
	{"decoding: feed-forward, 32 rows", "NN", 32, 2048, 512, false, true},
	{"decoding: logits, 1 row", "NN", 1, 32000, 512, false, true},
	{"decoding: logits, 32 rows", "NN", 32, 32000, 512, false, true},
}

// ProductSpeed is the speed of a matrix product C [m × n] = A [m × k] · B [k × n].
type ProductSpeed struct {
	Name      string  `json:"name"`
	Form      string  `json:"form"`
	M         int     `json:"m"`
	N         int     `json:"n"`
	K         int     `json:"k"`
	Precision string  `json:"precision"` // float32, bf16 (with conversion), int8 (without)
	Threads   int     `json:"threads"`
	GFLOPS    Figure  `json:"gflops"`
	Limit     Figure  `json:"limit_gflops"` // zero for int8
	Share     float64 `json:"share"`        // of the limit
}

// MeasureProducts measures all products in every precision that they are used in.
func MeasureProducts(threads int, e Effort) (all []ProductSpeed) {
	pool := mat.NewPool(threads)
	defer pool.Close()
	r := rand.New(rand.NewPCG(3, 1))
	random := func(rows, cols int, form byte) mat.Matrix {
		m := mat.New(rows, cols)
		if form == 'T' {
			m = mat.New(cols, rows).T()
		}
		for i := range m.Data {
			m.Data[i] = r.Float32() - 0.5
		}
		return m
	}
	for _, p := range products {
		a, b, c := random(p.m, p.k, p.form[0]), random(p.k, p.n, p.form[1]), mat.New(p.m, p.n)
		add := func(precision string, limit bool, multiply func()) {
			s := ProductSpeed{Name: p.name, Form: p.form, M: p.m, N: p.n, K: p.k, Precision: precision, Threads: threads}
			s.GFLOPS = e.measure(func() float64 { return 2e-9 * float64(p.m) * float64(p.n) * float64(p.k) * rate(multiply) })
			if limit {
				s.Limit = e.measure(func() float64 { return peak(threads, precision == "bf16") })
				s.Share = ratio(s.GFLOPS, s.Limit)
			}
			all = append(all, s)
		}
		add("float32", true, func() { mat.Gemm(pool, c, a, b, mat.GemmOptions{}) })
		if p.bf16 && mat.KernelBF16() != "generic" { // portable Go takes seconds
			add("bf16", true, func() { mat.GemmBF16(pool, c, a, b, mat.GemmOptions{}) })
		}
		if p.int8 {
			weights := mat.QuantizeInt8(nil, b)
			add("int8", false, func() { mat.GemmInt8(pool, c, a, weights, mat.GemmOptions{}) })
		}
	}
	return all
}

// rate returns the calls of f per second, measured over at least 30 ms and one call.
func rate(f func()) float64 {
	calls, start := 0, time.Now()
	for calls == 0 || time.Since(start) < 30*time.Millisecond {
		f()
		calls++
	}
	return float64(calls) / time.Since(start).Seconds()
}
