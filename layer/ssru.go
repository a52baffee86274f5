package layer

import "tfm/mat"

// SSRU is the simpler simple recurrent unit with ReLU that takes the place of self-attention in
// fast decoders (Kim et al., 2019, "From Research to Production and Back: Ludicrously Fast Neural
// Machine Translation", section 3.1). For the tokens x_t of a sentence, with c_0 = 0:
//
//	u = x·W   f = σ(x·Wf + bf)   c_t = f_t∘c_{t-1} + (1-f_t)∘u_t   y_t = max(c_t, 0)
//
// Its state after a token is c_t, whatever the number of tokens before.
type SSRU struct {
	Maps     Linear // d → 2d: [W Wf], without bias
	GateBias *Param // bf [d]
}

// NewSSRU declares [W Wf] as name.maps.weight and bf as name.gate.bias.
func NewSSRU(ps *Params, name string, d int) SSRU {
	l := SSRU{NewLinearNoBias(ps, name+".maps", d, 2*d), ps.New(name+".gate.bias", d)}
	l.Maps.W.Maps = []int{d, d}
	return l
}

// In returns l with products in precision r. It shares the weights.
func (l SSRU) In(r Precision) SSRU {
	l.Maps = l.Maps.In(r)
	return l
}

// SSRUAct holds the activations of an SSRU, which Forward sets and Backward reads.
type SSRUAct struct {
	X      mat.Matrix // [n × d] Forward's input, in the caller's memory
	Maps   mat.Matrix // [n × 2d] [u f]
	C      mat.Matrix // [n × d] c
	Out    mat.Matrix // [n × d] max(c, 0), until the residual adds its input in place
	starts []int32
}

// Alloc allocates the activations of n tokens.
func (l SSRU) Alloc(a *Arena, n int) SSRUAct {
	d := l.GateBias.Size()
	return SSRUAct{Maps: a.Matrix(n, 2*d), C: a.Matrix(n, d), Out: a.Matrix(n, d)}
}

// AllocGrad allocates dmaps, the workspace of Backward for n tokens.
func (l SSRU) AllocGrad(a *Arena, n int) mat.Matrix { return a.Matrix(n, 2*l.GateBias.Size()) }

// Forward returns act.Out [n × d] for x [n × d], the tokens of sentences that begin at rows starts,
// followed by n.
func (l SSRU) Forward(pool *mat.Pool, act *SSRUAct, x mat.Matrix, starts []int32) mat.Matrix {
	act.X, act.starts = x, starts
	l.Maps.Forward(pool, act.Maps, x)
	l.Recur(pool, act.Out, act.C, act.Maps, starts)
	return act.Out
}

// Recur sets y and c [n × d] for maps [n × 2d] = x·[W Wf], whose right half it replaces by f.
func (l SSRU) Recur(pool *mat.Pool, y, c, maps mat.Matrix, starts []int32) {
	mat.Each(pool, len(starts)-1, 1, recurSentences{l, y, c, maps, starts})
}

type recurSentences struct {
	SSRU
	y, c, maps mat.Matrix
	starts     []int32
}

func (t *recurSentences) Range(lo, hi int) {
	for s := lo; s < hi; s++ {
		var before []float32
		for i := int(t.starts[s]); i < int(t.starts[s+1]); i++ {
			t.Step(t.y.Row(i), t.c.Row(i), before, t.maps.Row(i))
			before = t.c.Row(i)
		}
	}
}

// Step computes one token: it sets y and c [d] for before [d], the state after the token before, or
// nil for a first token, and the token's maps [2d] = x·[W Wf], whose right half it replaces by f.
// c may be before, and y the left half of maps.
func (l SSRU) Step(y, c, before, maps []float32) {
	u, f := maps[:len(c)], maps[len(c):]
	mat.Add(f, l.GateBias.W)
	mat.Scal(-1, f)
	mat.ExpSum(f, f, 0)
	for j, e := range f {
		f[j] = 1 / (1 + e)
	}
	if before == nil {
		for j, f := range f {
			c[j] = (1 - f) * u[j]
			y[j] = max(c[j], 0)
		}
		return
	}
	for j, f := range f {
		c[j] = float32(f*before[j]) + float32((1-f)*u[j]) // not fused on arm64
		y[j] = max(c[j], 0)
	}
}

// Backward sets or adds to dx [n × d] for dy [n × d], which it overwrites, and the activations of
// Forward. dmaps [n × 2d] is workspace. With mode Set dx may be dy.
//
//	z = x·Wf + bf   f = σ(z)   c_t = f_t∘c_{t-1} + (1-f_t)∘u_t   y = max(c, 0)
//	so   dc_t = [c_t > 0]·dy_t + f_{t+1}∘dc_{t+1}
//	     du = (1-f)∘dc   dz_t = f_t∘(1-f_t)∘(c_{t-1} - u_t)∘dc_t   dbf = Σ_t dz_t
func (l SSRU) Backward(pool *mat.Pool, dx, dy mat.Matrix, act *SSRUAct, dmaps mat.Matrix, mode Mode) {
	d := l.GateBias.Size()
	mat.Each(pool, len(act.starts)-1, 1, recurGradSentences{act, dmaps, dy})
	l.GateBias.AddInOrder(func(int, int) {
		AddRows(pool, l.GateBias.G, dmaps.ColRange(d, 2*d)) // dbf = Σ dz
	})
	// [u z] = x·[W Wf]
	l.Maps.Backward(pool, dx, dmaps, act.X, mode)
}

// recurGradSentences sets dmaps to [du dz]. It replaces dy by dc.
type recurGradSentences struct {
	*SSRUAct
	dmaps, dy mat.Matrix
}

func (t *recurGradSentences) Range(lo, hi int) {
	d := t.C.Cols
	for s := lo; s < hi; s++ {
		first, end := int(t.starts[s]), int(t.starts[s+1])
		for i := end - 1; i >= first; i-- {
			// dc_t = [c_t > 0]·dy_t + f_{t+1}∘dc_{t+1}
			c, dc := t.C.Row(i), t.dy.Row(i)
			for j, c := range c {
				if !(c > 0) {
					dc[j] = 0
				}
			}
			if i+1 < end {
				next, dnext := t.Maps.Row(i + 1)[d:], t.dy.Row(i+1)
				for j := range dc {
					dc[j] += float32(next[j] * dnext[j]) // not fused on arm64
				}
			}
			// du = (1-f)∘dc   dz = f∘(1-f)∘(c_{t-1} - u)∘dc
			u, f := t.Maps.Row(i)[:d], t.Maps.Row(i)[d:]
			du, dz := t.dmaps.Row(i)[:d], t.dmaps.Row(i)[d:]
			for j, dc := range dc {
				du[j] = (1 - f[j]) * dc
				dz[j] = -(f[j] * du[j] * u[j])
			}
			if i > first {
				for j, before := range t.C.Row(i - 1) {
					dz[j] += float32(f[j] * du[j] * before)
				}
			}
		}
	}
}
