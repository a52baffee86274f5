// Package ref is the Transformer written out in float64, sentence by sentence and as close to the paper's
// equations as Go allows. It is slow and has no backward pass: the tests hold the layers' results against it,
// and their derivatives against its central differences.
package ref

import (
	"fmt"
	"math"
)

// Matrix has a slice for each row.
type Matrix [][]float64

// New returns rows × cols zeros.
func New(rows, cols int) Matrix {
	m := make(Matrix, rows)
	for i := range m {
		m[i] = make([]float64, cols)
	}
	return m
}

// Weights are parameters by name, each row-major.
type Weights map[string][]float64

// Drop applies dropout to the rows of x, the first of which is row `first` of the batch, at one of the
// places of the model. Nil means none.
type Drop func(place, first int, x Matrix)

func (d Drop) at(place, first int, x Matrix) Matrix {
	if d != nil {
		d(place, first, x)
	}
	return x
}

// Linear is x·W + b.
func (w Weights) Linear(name string, x Matrix) Matrix {
	weight, bias := w[name+".weight"], w[name+".bias"]
	y := New(len(x), len(bias))
	for i := range x {
		for j := range bias {
			y[i][j] = bias[j]
			for k := range x[i] {
				y[i][j] += x[i][k] * weight[k*len(bias)+j]
			}
		}
	}
	return y
}

// FeedForward is equation 2.
func (w Weights) FeedForward(name string, x Matrix) Matrix {
	hidden := w.Linear(name+".inner", x)
	for _, row := range hidden {
		for j := range row {
			row[j] = max(0, row[j])
		}
	}
	return w.Linear(name+".outer", hidden)
}

// AddNorm is LayerNorm(x + sub), with the biased variance.
func (w Weights) AddNorm(name string, x, sub Matrix, eps float64) Matrix {
	gain, bias := w[name+".gain"], w[name+".bias"]
	y := New(len(x), len(gain))
	for i := range x {
		d := float64(len(gain))
		var mean, variance float64
		for j := range gain {
			mean += (x[i][j] + sub[i][j]) / d
		}
		for j := range gain {
			variance += math.Pow(x[i][j]+sub[i][j]-mean, 2) / d
		}
		for j := range gain {
			y[i][j] = (x[i][j]+sub[i][j]-mean)/math.Sqrt(variance+eps)*gain[j] + bias[j]
		}
	}
	return y
}

// MultiHead is section 3.2.2 on queries, keys and values that are already projected.
func MultiHead(q, k, v Matrix, heads int, causal bool) Matrix {
	d := len(q[0])
	dk := d / heads
	out := New(len(q), d)
	for h0 := 0; h0 < d; h0 += dk {
		for i := range q {
			weights, total := make([]float64, len(k)), 0.0
			for j := range k {
				if causal && j > i {
					continue
				}
				var score float64
				for c := h0; c < h0+dk; c++ {
					score += q[i][c] * k[j][c]
				}
				weights[j] = math.Exp(score / math.Sqrt(float64(dk)))
				total += weights[j]
			}
			for j := range k {
				for c := h0; c < h0+dk; c++ {
					out[i][c] += weights[j] / total * v[j][c]
				}
			}
		}
	}
	return out
}

// Self is self-attention with its projections.
func (w Weights) Self(name string, x Matrix, heads int, causal bool) Matrix {
	qkv := w.Linear(name+".qkv", x)
	d := len(qkv[0]) / 3
	return w.Linear(name+".out", MultiHead(columns(qkv, 0, d), columns(qkv, d, 2*d), columns(qkv, 2*d, 3*d), heads, causal))
}

// Cross is attention from x to memory with its projections.
func (w Weights) Cross(name string, x, memory Matrix, heads int) Matrix {
	q, kv := w.Linear(name+".q", x), w.Linear(name+".kv", memory)
	d := len(q[0])
	return w.Linear(name+".out", MultiHead(q, columns(kv, 0, d), columns(kv, d, 2*d), heads, false))
}

func columns(m Matrix, lo, hi int) Matrix {
	part := make(Matrix, len(m))
	for i := range m {
		part[i] = m[i][lo:hi]
	}
	return part
}

// Embed is E[id]·sqrt(d) plus the sinusoids of section 3.5.
func Embed(e []float64, d int, ids []int32) Matrix {
	x := New(len(ids), d)
	for pos, id := range ids {
		for j := range d {
			angle := float64(pos) / math.Pow(10000, float64(j/2*2)/float64(d))
			wave := math.Sin(angle)
			if j%2 == 1 {
				wave = math.Cos(angle)
			}
			x[pos][j] = e[int(id)*d+j]*math.Sqrt(float64(d)) + wave
		}
	}
	return x
}

// CrossEntropy is the loss of x·Eᵀ for the targets, summed: with label smoothing, and plain.
func CrossEntropy(e []float64, x Matrix, targets []int32, smoothing float64) (smoothed, nll float64) {
	for i, target := range targets {
		d := len(x[i])
		logits, z := make([]float64, len(e)/d), 0.0
		for v := range logits {
			for c := range d {
				logits[v] += x[i][c] * e[v*d+c]
			}
			z += math.Exp(logits[v])
		}
		for v := range logits {
			minusLogP := math.Log(z) - logits[v]
			if v == int(target) {
				nll += minusLogP
				smoothed += (1 - smoothing) * minusLogP
			} else {
				smoothed += smoothing / float64(len(logits)-1) * minusLogP
			}
		}
	}
	return smoothed, nll
}

// Model is what Loss needs to know beside the weights.
type Model struct {
	Weights
	D, Heads, EncoderLayers, DecoderLayers int
	Eps, Smoothing                         float64
	Source, Target, Output                 string // names of the embeddings and the output projection
	Drop                                   Drop
}

// Loss is the loss of one sentence pair, src with EOS, in with BOS, out with EOS; srcFirst and tgtFirst are
// the rows at which they stand in their batch.
func (m Model) Loss(src, in, out []int32, srcFirst, tgtFirst int) (smoothed, nll float64) {
	place := 0
	next := func(first int, x Matrix) Matrix { // each place of dropout in the order of the model
		place++
		return m.Drop.at(place-1, first, x)
	}
	memory := next(srcFirst, Embed(m.Weights[m.Source], m.D, src))
	for i := range m.EncoderLayers {
		name := fmt.Sprint("encoder.", i)
		memory = m.AddNorm(name+".norm1", memory, next(srcFirst, m.Self(name+".self", memory, m.Heads, false)), m.Eps)
		memory = m.AddNorm(name+".norm2", memory, next(srcFirst, m.FeedForward(name+".ff", memory)), m.Eps)
	}
	x := next(tgtFirst, Embed(m.Weights[m.Target], m.D, in))
	for i := range m.DecoderLayers {
		name := fmt.Sprint("decoder.", i)
		x = m.AddNorm(name+".norm1", x, next(tgtFirst, m.Self(name+".self", x, m.Heads, true)), m.Eps)
		x = m.AddNorm(name+".norm2", x, next(tgtFirst, m.Cross(name+".cross", x, memory, m.Heads)), m.Eps)
		x = m.AddNorm(name+".norm3", x, next(tgtFirst, m.FeedForward(name+".ff", x)), m.Eps)
	}
	return CrossEntropy(m.Weights[m.Output], x, out, m.Smoothing)
}
