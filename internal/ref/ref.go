package ref

import (
	"fmt"
	"math"
	"slices"
)

// Matrix is a slice of rows.
type Matrix [][]float64

// New returns a rows × cols matrix of zeros.
func New(rows, cols int) Matrix {
	m := make(Matrix, rows)
	for i := range m {
		m[i] = make([]float64, cols)
	}
	return m
}

// Weights are the weights of parameters by name, row-major.
type Weights map[string][]float64

// Drop applies dropout to x, whose first row is row first of the batch. place counts the dropouts
// of the model in the order of the forward pass. A nil Drop does nothing.
type Drop func(place, first int, x Matrix)

func (d Drop) at(place, first int, x Matrix) Matrix {
	if d != nil {
		d(place, first, x)
	}
	return x
}

// Variant selects a variant of the model. The zero value is the paper's.
type Variant struct {
	Pre, FinalNorm     bool    // pre-norm; a norm after the last layer of each stack
	EncAlpha, DecAlpha float64 // α of DeepNorm; 0 means 1
	NormKind           string  // "layer", "unbiased" or "rms"
	Positions          string  // "interleaved", "halves", "tensor2tensor" or a learned parameter
	First              int     // position of the first token
	Unscaled           bool    // embeddings without the factor sqrt(d)
	Activation         string  // "relu", "gelu", "gelu-tanh" or "silu"
	SmoothAll          bool    // label smoothing over all V
	Recurrent          bool    // SSRU, not self-attention, in the decoder; a start of zeros
}

// Linear returns x·W + b, or x·W without b.
func (w Weights) Linear(name string, x Matrix) Matrix {
	weight, bias := w[name+".weight"], w[name+".bias"]
	rows := make(Matrix, len(x[0]))
	for k := range rows {
		rows[k] = weight[k*len(weight)/len(rows):][:len(weight)/len(rows)]
	}
	y := product(x, rows)
	for i := range y {
		for j := range bias {
			y[i][j] += bias[j]
		}
	}
	return y
}

// Activate returns f(x); "" is ReLU.
func Activate(f string, x float64) float64 {
	switch f {
	case "", "relu":
		return max(0, x)
	case "gelu":
		return x * (1 + math.Erf(x/math.Sqrt2)) / 2
	case "gelu-tanh":
		return x * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x))) / 2
	case "silu":
		return x / (1 + math.Exp(-x))
	}
	panic(f)
}

// FeedForward returns equation 2 of each row x, with dropout of the hidden layer if drop is not
// nil.
func (w Weights) FeedForward(name, f string, x Matrix, drop func(Matrix)) Matrix {
	hidden := w.Linear(name+".inner", x)
	for _, row := range hidden {
		for j := range row {
			row[j] = Activate(f, row[j])
		}
	}
	if drop != nil {
		drop(hidden)
	}
	return w.Linear(name+".outer", hidden)
}

// Norm normalizes each row x; a kind of "" is layer norm.
func (w Weights) Norm(name, kind string, x Matrix, eps float64) Matrix {
	gain, bias := w[name+".gain"], w[name+".bias"]
	y := New(len(x), len(gain))
	for i := range x {
		d := float64(len(gain))
		var mean, squares float64
		if kind != "rms" {
			for _, v := range x[i] {
				mean += v / d
			}
		}
		for _, v := range x[i] {
			squares += math.Pow(v-mean, 2)
		}
		divisor := math.Sqrt(squares/d + eps)
		if kind == "unbiased" {
			divisor = math.Sqrt(squares/(d-1)) + eps
		}
		for j := range gain {
			y[i][j] = (x[i][j] - mean) / divisor * gain[j]
			if bias != nil {
				y[i][j] += bias[j]
			}
		}
	}
	return y
}

// Sum returns alpha·x + y.
func Sum(alpha float64, x, y Matrix) Matrix {
	sum := New(len(x), len(x[0]))
	for i := range x {
		for j := range x[i] {
			sum[i][j] = alpha*x[i][j] + y[i][j]
		}
	}
	return sum
}

// AddNorm returns LayerNorm(x + sub), with the biased variance.
func (w Weights) AddNorm(name string, x, sub Matrix, eps float64) Matrix {
	return w.Norm(name, "layer", Sum(1, x, sub), eps)
}

// multiHead returns Concat(head_1 … head_h) of section 3.2.2 for the projected queries, keys and
// values. drop, if it is not nil, applies dropout to the attention weights of each head.
func multiHead(q, k, v Matrix, heads int, mask Mask, drop func(head int, weights Matrix)) Matrix {
	dk, dv := len(q[0])/heads, len(v[0])/heads
	out := New(len(q), len(v[0]))
	for h := range heads {
		weights := weightsOf(columns(q, h*dk, (h+1)*dk), columns(k, h*dk, (h+1)*dk), mask)
		if drop != nil {
			drop(h, weights)
		}
		for i, row := range product(weights, columns(v, h*dv, (h+1)*dv)) {
			copy(out[i][h*dv:], row)
		}
	}
	return out
}

// Self returns the multi-head self-attention of x.
func (w Weights) Self(name string, x Matrix, heads int, causal bool, drop func(head int, weights Matrix)) Matrix {
	qkv := w.Linear(name+".qkv", x)
	n := len(qkv[0])
	values := len(w[name+".out.weight"]) / len(x[0]) // h·d_v, the rows of W^O
	k := (n - values) / 2                            // h·d_k
	var mask Mask
	if causal {
		mask = LookAhead
	}
	return w.Linear(name+".out", multiHead(columns(qkv, 0, k), columns(qkv, k, 2*k), columns(qkv, 2*k, n), heads, mask, drop))
}

// Cross returns the multi-head attention of x to memory.
func (w Weights) Cross(name string, x, memory Matrix, heads int, drop func(head int, weights Matrix)) Matrix {
	q, kv := w.Linear(name+".q", x), w.Linear(name+".kv", memory)
	k := len(q[0])
	return w.Linear(name+".out", multiHead(q, columns(kv, 0, k), columns(kv, k, len(kv[0])), heads, nil, drop))
}

// SSRU returns the output of the simpler simple recurrent unit with ReLU (Kim et al., 2019) for the
// tokens x of a sentence.
func (w Weights) SSRU(name string, x Matrix) Matrix {
	maps, bias := w.Linear(name+".maps", x), w[name+".gate.bias"]
	d := len(bias)
	y, c := New(len(x), d), make([]float64, d)
	for t, row := range maps {
		for j := range c {
			f := 1 / (1 + math.Exp(-row[d+j]-bias[j]))
			c[j] = f*c[j] + (1-f)*row[j]
			y[t][j] = max(c[j], 0)
		}
	}
	return y
}

// columns views columns [lo, hi) of m.
func columns(m Matrix, lo, hi int) Matrix {
	view := make(Matrix, len(m))
	for i := range m {
		view[i] = m[i][lo:hi]
	}
	return view
}

// Position returns element j of the positional encoding [d] of pos.
func Position(kind string, pos, j, d int) float64 {
	exponent, cos := float64(j/2*2)/float64(d), j%2 == 1
	switch kind {
	case "", "interleaved":
	case "halves":
		exponent, cos = float64(j%(d/2)*2)/float64(d), j >= d/2
	case "tensor2tensor":
		exponent, cos = float64(j%(d/2))/float64(d/2-1), j >= d/2
	default:
		panic(kind)
	}
	angle := float64(pos) / math.Pow(10000, exponent)
	if cos {
		return math.Cos(angle)
	}
	return math.Sin(angle)
}

// Embed returns the scaled embeddings of ids plus their positional encodings.
func (r Variant) Embed(w Weights, name string, d int, ids []int32) Matrix {
	x, scale := New(len(ids), d), math.Sqrt(float64(d))
	if r.Unscaled {
		scale = 1
	}
	for i, id := range ids {
		for j := range d {
			x[i][j] = w[name][int(id)*d+j] * scale
			if learned, ok := w[r.Positions]; ok && r.Positions != "" {
				x[i][j] += learned[i*d+j]
			} else {
				x[i][j] += Position(r.Positions, r.First+i, j, d)
			}
		}
	}
	return x
}

// CrossEntropy returns the cross-entropy of softmax(x·Eᵀ + b) and the targets, summed over the
// rows x: with label smoothing over all V or over the others, and without. b may be nil.
func CrossEntropy(e, b []float64, x Matrix, targets []int32, smoothing float64, all bool) (smoothed, nll float64) {
	for i, target := range targets {
		d := len(x[i])
		logits, z := make([]float64, len(e)/d), 0.0
		for v := range logits {
			if b != nil {
				logits[v] = b[v]
			}
			for c := range d {
				logits[v] += x[i][c] * e[v*d+c]
			}
			z += math.Exp(logits[v])
		}
		n := float64(len(logits))
		for v := range logits {
			minusLogP := math.Log(z) - logits[v]
			weight := smoothing / (n - 1)
			if all {
				weight = smoothing / n
			}
			if v == int(target) {
				nll += minusLogP
				if weight = 1 - smoothing; all {
					weight += smoothing / n
				}
			}
			smoothed += weight * minusLogP
		}
	}
	return smoothed, nll
}

// Model is a Transformer in float64: its weights, variant and sizes.
type Model struct {
	Weights
	Variant
	D, Heads, EncoderLayers, DecoderLayers int
	Eps, Smoothing                         float64
	Source, Target, Output                 string // parameters: embeddings, output projection
	SourcePositions, TargetPositions       string // Variant.Positions of the two sides

	Sentence int  // index of the sentence in its batch
	Drop     Drop // of embeddings and sublayers (section 5.4)
	// DropInner is the dropout of the hidden layer of a feed-forward network, DropWeights that
	// of the attention weights.
	DropInner   Drop
	DropWeights func(place, sentence, head int, w Matrix)
}

// sublayer returns the output of sublayer f with its residual connection and norm.
func (m Model) sublayer(norm string, alpha float64, x Matrix, drop func(Matrix) Matrix, f func(Matrix) Matrix) Matrix {
	if m.Pre {
		return Sum(1, x, drop(f(m.Norm(norm, m.NormKind, x, m.Eps))))
	}
	if alpha == 0 {
		alpha = 1
	}
	return m.Norm(norm, m.NormKind, Sum(alpha, x, drop(f(x))), m.Eps)
}

// Loss returns the loss of one pair: src is the source and EOS, in is BOS and the target, and out
// is the target and EOS. srcFirst and tgtFirst are the first rows of src and in in their batch.
func (m Model) Loss(src, in, out []int32, srcFirst, tgtFirst int) (smoothed, nll float64) {
	place := 0
	first := srcFirst
	drop := func(x Matrix) Matrix {
		place++
		return m.Drop.at(place-1, first, x)
	}
	inner := func(x Matrix) { m.DropInner.at(place, first, x) }
	weights := func(head int, w Matrix) {
		if m.DropWeights != nil {
			m.DropWeights(place, m.Sentence, head, w)
		}
	}
	embed := func(name, positions string, ids []int32) Matrix {
		r := m.Variant
		r.Positions = positions
		return drop(r.Embed(m.Weights, name, m.D, ids))
	}
	memory := embed(m.Source, m.SourcePositions, src)
	for i := range m.EncoderLayers {
		name := fmt.Sprint("encoder.", i)
		memory = m.sublayer(name+".norm1", m.EncAlpha, memory, drop, func(x Matrix) Matrix { return m.Self(name+".self", x, m.Heads, false, weights) })
		memory = m.sublayer(name+".norm2", m.EncAlpha, memory, drop, func(x Matrix) Matrix { return m.FeedForward(name+".ff", m.Activation, x, inner) })
	}
	first = tgtFirst
	table := m.Weights[m.Target]
	if m.Recurrent { // in[0], BOS, has an embedding of zeros
		m.Weights[m.Target] = slices.Clone(table)
		clear(m.Weights[m.Target][int(in[0])*m.D:][:m.D])
	}
	x := embed(m.Target, m.TargetPositions, in)
	m.Weights[m.Target] = table
	if m.FinalNorm {
		memory = m.Norm("encoder.norm", m.NormKind, memory, m.Eps)
	}
	for i := range m.DecoderLayers {
		name := fmt.Sprint("decoder.", i)
		x = m.sublayer(name+".norm1", m.DecAlpha, x, drop, func(x Matrix) Matrix {
			if m.Recurrent {
				return m.Weights.SSRU(name+".ssru", x)
			}
			return m.Self(name+".self", x, m.Heads, true, weights)
		})
		x = m.sublayer(name+".norm2", m.DecAlpha, x, drop, func(x Matrix) Matrix { return m.Cross(name+".cross", x, memory, m.Heads, weights) })
		x = m.sublayer(name+".norm3", m.DecAlpha, x, drop, func(x Matrix) Matrix { return m.FeedForward(name+".ff", m.Activation, x, inner) })
	}
	if m.FinalNorm {
		x = m.Norm("decoder.norm", m.NormKind, x, m.Eps)
	}
	return CrossEntropy(m.Weights[m.Output], m.Weights["output.bias"], x, out, m.Smoothing, m.SmoothAll)
}
