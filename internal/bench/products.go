package bench

import (
	"math/rand/v2"
	"time"

	"tfm/mat"
)

// products are those that take most of a Transformer's time. The letters say how A and B are
// stored: N as they are multiplied, T transposed.
var products = []struct {
	what, form string
	m, n, k    int
	bf16, int8 bool
}{
	{"base: queries, keys, values", "NN", 1024, 1536, 512, true, false},
	{"base: feed-forward, inner", "NN", 1024, 2048, 512, true, false},
	{"base: feed-forward, outer", "NN", 1024, 512, 2048, true, false},
	{"base: gradient of its weights", "TN", 2048, 512, 1024, true, false},
	{"base: logits of a chunk", "NT", 419, 10000, 512, true, false},
	{"tiny: feed-forward, inner", "NN", 4096, 256, 128, true, false},
	{"decoding: feed-forward, 1 row", "NN", 1, 2048, 512, false, true},
	{"decoding: feed-forward, 32 rows", "NN", 32, 2048, 512, false, true},
	{"decoding: logits, 1 row", "NN", 1, 32000, 512, false, true},
	{"decoding: logits, 32 rows", "NN", 32, 32000, 512, false, true},
}

// ProductSpeed is how fast a matrix product C [m × n] = A [m × k] · B [k × n] is.
type ProductSpeed struct {
	What      string  `json:"what"`
	Form      string  `json:"form"`
	M         int     `json:"m"`
	N         int     `json:"n"`
	K         int     `json:"k"`
	Precision string  `json:"precision"` // float32, bf16 with the conversion, or int8 with weights that were converted before
	Threads   int     `json:"threads"`
	GFLOPS    Figure  `json:"gflops"`
	Limit     Figure  `json:"limit_gflops"` // none is measured of int8
	Share     float64 `json:"share"`
}

// MeasureProducts measures all of them.
func MeasureProducts(threads int, e Effort) (all []ProductSpeed) {
	pool := mat.NewPool(threads)
	defer pool.Close()
	r := rand.New(rand.NewPCG(3, 1))
	random := func(rows, cols int, form byte) mat.Matrix {
		if form == 'T' {
			rows, cols = cols, rows
		}
		m := mat.New(rows, cols)
		for i := range m.Data {
			m.Data[i] = r.Float32() - 0.5
		}
		if form == 'T' {
			return m.T()
		}
		return m
	}
	for _, p := range products {
		a, b, c := random(p.m, p.k, p.form[0]), random(p.k, p.n, p.form[1]), mat.New(p.m, p.n)
		add := func(precision string, limit bool, multiply func()) {
			s := ProductSpeed{What: p.what, Form: p.form, M: p.m, N: p.n, K: p.k, Precision: precision, Threads: threads}
			s.GFLOPS = e.measure(func() float64 { return 2e-9 * float64(p.m) * float64(p.n) * float64(p.k) * rate(multiply) })
			if limit {
				s.Limit = e.measure(func() float64 { return peak(threads, precision == "bf16") })
				s.Share = part(s.GFLOPS, s.Limit)
			}
			all = append(all, s)
		}
		add("float32", true, func() { mat.Gemm(pool, c, a, b, mat.GemmOptions{}) })
		if p.bf16 {
			add("bf16", true, func() { mat.GemmBF16(pool, c, a, b, mat.GemmOptions{}) })
		}
		if p.int8 {
			weights := mat.QuantizeInt8(b)
			add("int8", false, func() { mat.GemmInt8(pool, c, a, weights, mat.GemmOptions{}) })
		}
	}
	return all
}

// rate is how often a second f can be called, from calls of 30 ms together, or one.
func rate(f func()) float64 {
	calls, begun := 0, time.Now()
	for calls == 0 || time.Since(begun) < 30*time.Millisecond {
		f()
		calls++
	}
	return float64(calls) / time.Since(begun).Seconds()
}
