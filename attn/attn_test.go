package attn_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"tfm/attn"
	"tfm/internal/ref"
	"tfm/layer"
	"tfm/mat"
)

const d, heads = 12, 3

func random(r *rand.Rand, rows, cols int) mat.Matrix {
	m := mat.New(rows, cols)
	layer.Normal(m.Data, 1, r)
	return m
}

// flat copies m to a matrix whose rows are views into one slice, so that ref.CheckGradient can
// change them.
func flat(m mat.Matrix) ([]float64, ref.Matrix) {
	data := ref.Float64s(m.Data)
	rows := make(ref.Matrix, m.Rows)
	for i := range rows {
		rows[i] = data[i*m.Cols:][:m.Cols]
	}
	return data, rows
}

// weighted returns Σ dy·y, a loss whose gradient with respect to y is dy.
func weighted(dy mat.Matrix, y ref.Matrix) (sum float64) {
	for i := range y {
		for j := range y[i] {
			sum += float64(dy.At(i, j)) * y[i][j]
		}
	}
	return sum
}

// bySentence calls f for the rows of each sentence and concatenates the results.
func bySentence(r attn.Ragged, f func(s int, q0, q1, k0, k1 int32) ref.Matrix) (all ref.Matrix) {
	for s := range r.Sentences() {
		all = append(all, f(s, r.QStarts[s], r.QStarts[s+1], r.KStarts[s], r.KStarts[s+1])...)
	}
	return all
}

func setUp(declare func(*layer.Params)) (*layer.Params, *rand.Rand) {
	ps, r := new(layer.Params), rand.New(rand.NewPCG(3, 2))
	declare(ps)
	ps.AllocForTraining()
	layer.Normal(ps.W, 0.4, r)
	return ps, r
}

// stale fills matrices with NaN, to test that a layer sets every element.
func stale(all ...mat.Matrix) {
	for _, m := range all {
		for i := range m.Rows {
			layer.Fill(m.Row(i), float32(math.NaN()))
		}
	}
}

func arena(alloc func(*layer.Arena)) {
	var a layer.Arena
	a.Alloc(func() { alloc(&a) })
}

// Starts of sentences: in long, one is longer than a block of queries.
var (
	long  = []int32{0, 3, 4, 70, 73}
	short = []int32{0, 3, 4, 9}
)

// paperSizes are those of section 3.2.2: d_k = d_v = d/h, with biases.
func paperSizes(d, heads int) attn.Sizes {
	return attn.Sizes{Model: d, Heads: heads, DK: d / heads, DV: d / heads}
}

// sizes are the paper's and others, with and without dropout of the weights.
var sizes = []struct {
	name string
	attn.Sizes
	drop   mat.Dropout
	starts []int32
}{
	{"paper", paperSizes(d, heads), mat.Dropout{}, long},
	{"dropout", paperSizes(d, heads), mat.Dropout{Rate: 0.3, Key: 5}, long},
	{"no biases", attn.Sizes{Model: d, Heads: heads, DK: 4, DV: 4, NoBias: true}, mat.Dropout{}, short},
	{"one head", paperSizes(d, 1), mat.Dropout{}, short},
	{"every head at full d", attn.Sizes{Model: d, Heads: 2, DK: d, DV: d}, mat.Dropout{}, short},
	{"d_k below d_v", attn.Sizes{Model: d, Heads: 5, DK: 2, DV: 7}, mat.Dropout{Rate: 0.2, Key: 6}, short},
	{"d_k above d_v", attn.Sizes{Model: d, Heads: 2, DK: 9, DV: 1, NoBias: true}, mat.Dropout{}, short},
}

// dropWeights returns a function that multiplies the weights of one head of a sentence by a mask,
// as drop makes it of ones.
func dropWeights(drop mat.Dropout, sentence, heads int) func(int, ref.Matrix) {
	return func(head int, w ref.Matrix) {
		drop := mat.Dropout{Rate: drop.Rate, Key: drop.Key + uint64(sentence*heads+head)}
		for i, row := range w {
			mask, ones := make([]float32, len(row)), make([]float32, len(row))
			layer.Fill(ones, 1)
			drop.Apply(mask, ones, nil, i*len(row))
			for j := range row {
				row[j] *= float64(mask[j])
			}
		}
	}
}

func TestSelf(t *testing.T) {
	for _, v := range sizes {
		for _, causal := range []bool{false, true} {
			var l attn.Self
			ps, r := setUp(func(ps *layer.Params) { l = v.NewSelf(ps, "l") })
			rag := attn.Ragged{QStarts: v.starts, KStarts: v.starts, Causal: causal, Drop: v.drop}
			n := int(v.starts[len(v.starts)-1])
			x, dy := random(r, n, d), random(r, n, d)
			dx := random(r, n, d)
			before := ref.FromFloat32(dx)
			var act attn.SelfAct
			var g attn.SelfGrad
			arena(func(a *layer.Arena) { act, g = l.Alloc(a, n), l.AllocGrad(a, n) })
			w := ref.WeightsOf(ps)
			xs, rows := flat(x)
			want := func() ref.Matrix {
				return bySentence(rag, func(s int, q0, q1, _, _ int32) ref.Matrix {
					return w.Self("l", rows[q0:q1], v.Heads, causal, dropWeights(v.drop, s, v.Heads))
				})
			}
			f := func() float64 { return weighted(dy, want()) }

			stale(act.QKV, act.Ctx, act.Out, g.QKV, g.Ctx)
			ref.CheckClose(t, v.name+" y", l.Forward(nil, &act, x, rag), want(), 1e-5)
			l.Backward(nil, dx, dy, &act, &g, layer.Add)
			for i := range before {
				for j := range before[i] {
					dx.Row(i)[j] -= float32(before[i][j])
				}
			}
			ref.CheckGradient(t, v.name+" dx", dx.Data, xs, 0, f)
			checkParams(t, ps, w, v.Sizes, f)
		}
	}
}

func TestCross(t *testing.T) {
	for _, v := range sizes {
		var l attn.Cross
		ps, r := setUp(func(ps *layer.Params) { l = v.NewCross(ps, "l") })
		queries := v.starts[len(v.starts)-1] // most of them in the second of three sentences
		rag := attn.Ragged{QStarts: []int32{0, 2, queries - 1, queries}, KStarts: []int32{0, 5, 9, 15}, Drop: v.drop}
		n, m := int(rag.QStarts[3]), int(rag.KStarts[3])
		x, dy, dx := random(r, n, d), random(r, n, d), mat.New(n, d)
		memory, dmemory := random(r, m, d), random(r, m, d)
		before := ref.FromFloat32(dmemory)
		var act attn.CrossAct
		var g attn.CrossGrad
		arena(func(a *layer.Arena) { act, g = l.Alloc(a, n, m), l.AllocGrad(a, n, m) })
		g.Memory = dmemory
		w := ref.WeightsOf(ps)
		xs, rows := flat(x)
		ms, mRows := flat(memory)
		want := func() ref.Matrix {
			return bySentence(rag, func(s int, q0, q1, k0, k1 int32) ref.Matrix {
				return w.Cross("l", rows[q0:q1], mRows[k0:k1], v.Heads, dropWeights(v.drop, s, v.Heads))
			})
		}
		f := func() float64 { return weighted(dy, want()) }

		stale(dx, act.Q, act.KV, act.Ctx, act.Out, g.Q, g.KV, g.Ctx)
		ref.CheckClose(t, v.name+" y", l.Forward(nil, &act, x, memory, rag), want(), 1e-5)
		l.Backward(nil, dx, dy, &act, &g, layer.Set)
		for i := range before {
			for j := range before[i] {
				dmemory.Row(i)[j] -= float32(before[i][j])
			}
		}
		ref.CheckGradient(t, v.name+" dx", dx.Data, xs, 0, f)
		ref.CheckGradient(t, v.name+" dmemory", dmemory.Data, ms, 0, f)
		checkParams(t, ps, w, v.Sizes, f)

		if v.drop.Rate > 0 {
			continue // Inputs.Weights has no dropout
		}
		last := v.Heads - 1
		weights := mat.New(int(rag.QStarts[2]-rag.QStarts[1]), int(rag.KStarts[2]-rag.KStarts[1]))
		l.Inputs(&act).Weights(weights, v.Heads, 1, last, rag)
		ctx := mat.New(weights.Rows, v.DV)
		mat.Gemm(nil, ctx, weights, act.KV.Slice(5, 9, act.KV.Cols-v.DV, act.KV.Cols), mat.GemmOptions{})
		ref.CheckClose(t, v.name+" weights times values", act.Ctx.Slice(2, int(rag.QStarts[2]), last*v.DV, v.Heads*v.DV), ref.FromFloat32(ctx), 1e-6)
		for i := range weights.Rows {
			if s := mat.Sum(weights.Row(i)); math.Abs(float64(s)-1) > 1e-6 {
				t.Fatalf("%s: sum of the weights of query %d = %v, want 1", v.name, i, s)
			}
		}
	}
}

func checkParams(t *testing.T, ps *layer.Params, w ref.Weights, s attn.Sizes, f func() float64) {
	t.Helper()
	for _, p := range ps.List {
		if p.Name == "l.qkv.bias" || p.Name == "l.kv.bias" {
			// The keys' bias adds the same value to all scores of a query, which does
			// not change their softmax: its gradient is 0, up to rounding.
			lo, hi := 0, s.Heads*s.DK
			if p.Name == "l.qkv.bias" {
				lo, hi = hi, 2*hi
			}
			for i := lo; i < hi; i++ {
				if math.Abs(float64(p.G[i])) > 1e-5 {
					t.Errorf("gradient of the keys' bias = %v, want 0", p.G[i])
				}
				p.G[i] = 0
			}
		}
		ref.CheckGradient(t, p.Name, p.G, w[p.Name], 0, f)
	}
}

// The gradients of keys and values in a sentence without queries are 0, as are the results and the
// gradients of queries in a sentence without keys.
func TestSentencesWithoutQueriesOrKeys(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 5))
	rag := attn.Ragged{QStarts: []int32{0, 2, 2, 5}, KStarts: []int32{0, 3, 7, 7}}
	in := attn.Inputs{Q: random(r, 5, d), K: random(r, 7, d), V: random(r, 7, d)}
	ctx, g := mat.New(5, d), attn.Inputs{Q: mat.New(5, d), K: mat.New(7, d), V: mat.New(7, d)}
	stale(ctx, g.Q, g.K, g.V)
	attn.ScaledDotProductHeads(nil, ctx, in, heads, rag)
	attn.ScaledDotProductHeadsGrad(nil, g, random(r, 5, d), in, heads, rag)
	for name, m := range map[string]mat.Matrix{
		"dK of the sentence without queries": g.K.RowRange(3, 7), "dV of the sentence without queries": g.V.RowRange(3, 7),
		"results of the sentence without keys": ctx.RowRange(2, 5), "dQ of the sentence without keys": g.Q.RowRange(2, 5),
	} {
		for i := range m.Rows {
			for j, v := range m.Row(i) {
				if v != 0 {
					t.Fatalf("%s: element (%d, %d) = %v, want 0", name, i, j, v)
				}
			}
		}
	}
	for name, m := range map[string]mat.Matrix{"ctx": ctx, "dQ": g.Q, "dK": g.K, "dV": g.V} {
		for i, v := range m.Data {
			if v != v {
				t.Fatalf("%s: element %d was not set", name, i)
			}
		}
	}
}

func TestPanicsOnShapes(t *testing.T) {
	x := mat.New(5, 6)
	in := attn.Inputs{Q: x, K: x, V: x}
	all := []int32{0, 2, 5}
	for name, f := range map[string]func(){
		"4 heads":         func() { attn.ScaledDotProductHeads(nil, x, in, 4, attn.Ragged{QStarts: all, KStarts: all}) },
		"0 heads":         func() { attn.ScaledDotProductHeads(nil, x, in, 0, attn.Ragged{QStarts: all, KStarts: all}) },
		"uncovered rows":  func() { attn.ScaledDotProductHeads(nil, x, in, 2, attn.Ragged{QStarts: all[:2], KStarts: all[:2]}) },
		"other sentences": func() { attn.ScaledDotProductHeads(nil, x, in, 2, attn.Ragged{QStarts: all, KStarts: []int32{0, 5}}) },
		"5 columns of values": func() {
			attn.ScaledDotProductHeads(nil, mat.New(5, 5), attn.Inputs{Q: x, K: x, V: mat.New(5, 5)}, 2, attn.Ragged{QStarts: all, KStarts: all})
		},
		"results of other widths": func() { attn.ScaledDotProductHeads(nil, mat.New(5, 8), in, 2, attn.Ragged{QStarts: all, KStarts: all}) },
		"a gradient of 0 rows": func() {
			attn.ScaledDotProductHeadsGrad(nil, attn.Inputs{}, x, in, 2, attn.Ragged{QStarts: all, KStarts: all})
		},
	} {
		func() {
			defer func() {
				if s, ok := recover().(string); !ok || !strings.HasPrefix(s, "attn: ") {
					t.Errorf("%s: panic %q, want one that begins with \"attn: \"", name, s)
				}
			}()
			f()
		}()
	}
}

// Results have the same bits for any number of threads.
func TestThreadsChangeNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 5))
	starts := []int32{0, 30, 33, 80, 81, 100}
	rag := attn.Ragged{QStarts: starts, KStarts: starts, Causal: true}
	in := attn.Inputs{Q: random(r, 100, d), K: random(r, 100, d), V: random(r, 100, d)}
	dctx := random(r, 100, d)
	var first []float32
	for _, threads := range []int{1, 2, 3, 8} {
		p := mat.NewPool(threads)
		ctx, g := mat.New(100, d), attn.Inputs{Q: mat.New(100, d), K: mat.New(100, d), V: mat.New(100, d)}
		attn.ScaledDotProductHeads(p, ctx, in, heads, rag)
		attn.ScaledDotProductHeadsGrad(p, g, dctx, in, heads, rag)
		p.Close()
		var all []float32
		for _, m := range []mat.Matrix{ctx, g.Q, g.K, g.V} {
			all = append(all, m.Data...)
		}
		if first == nil {
			first = all
		}
		for i := range all {
			if math.Float32bits(all[i]) != math.Float32bits(first[i]) {
				t.Fatalf("%d threads: element %d = %v, want %v as with one thread", threads, i, all[i], first[i])
			}
		}
	}
}
