package train

import (
	"math"

	"tfm/mat"
	"tfm/model"
)

// Entropy is how widely the queries of one attention head look around: for each query, a token of the validation pairs, the entropy
// H = -Σ_j p_j·ln p_j of its weights p over the keys, in nats. 0 is a look at one token only, and e^H the number of tokens
// that a query would look at if it looked at each as much. A head that looks at all of m keys alike has H = ln m.
type Entropy struct {
	Attention   string // model.EncoderSelf, DecoderSelf or DecoderCross
	Layer, Head int
	Histogram
}

// Histogram counts values that are not negative: Counts[i] of them lie in (i·BucketWidth, (i+1)·BucketWidth], and 0 is in the first bucket.
type Histogram struct {
	Counts          []int
	Min, Max        float64 // of the values; 0 if there are none
	Sum, SumSquares float64 // likewise
}

// BucketWidth is that of a Histogram.
const BucketWidth = 0.05

func (h *Histogram) add(x float64) {
	i := max(0, int(math.Ceil(x/BucketWidth))-1)
	if len(h.Counts) == 0 || x < h.Min {
		h.Min = x
	}
	for len(h.Counts) <= i {
		h.Counts = append(h.Counts, 0)
	}
	h.Counts[i]++
	h.Max = max(h.Max, x)
	h.Sum += x
	h.SumSquares += x * x
}

// entropies collects those of all heads.
type entropies struct {
	config model.Config
	layers map[string]int // before those of an attention
	list   []Entropy
}

// reset begins anew, with a list of its own for each validation.
func (e *entropies) reset() {
	c := e.config
	e.layers, e.list = map[string]int{}, nil
	add := func(attention string, layers int) {
		e.layers[attention] = len(e.list) / c.Heads
		for layer := range layers {
			for head := range c.Heads {
				e.list = append(e.list, Entropy{Attention: attention, Layer: layer, Head: head})
			}
		}
	}
	add(model.EncoderSelf, c.EncoderLayers)
	add(model.DecoderSelf, c.DecoderLayers)
	add(model.DecoderCross, c.DecoderLayers)
}

// add takes the weights [queries × keys] of a sentence.
func (e *entropies) add(attention string, layer, head, _ int, weights mat.Matrix) {
	h := &e.list[(e.layers[attention]+layer)*e.config.Heads+head].Histogram
	for i := range weights.Rows {
		if x := entropy(weights.Row(i)); !math.IsNaN(x) { // as those of a model are that has diverged
			h.add(x)
		}
	}
}

func entropy(p []float32) float64 {
	var sum float64
	for _, p := range p {
		if p != 0 {
			sum -= float64(p) * math.Log(float64(p))
		}
	}
	return max(0, sum) // rounding can make a sum of weights, and so a single one, more than 1
}
