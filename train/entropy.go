package train

import (
	"math"

	"tfm/internal/exact"
	"tfm/mat"
	"tfm/model"
)

// Entropy is the distribution of the entropies of an attention head over the queries of the
// validation pairs. A query with the attention weights p has the entropy H = -Σ_j p_j·ln p_j
// nats: 0 if one key has all the weight, ln m if m keys have equal weights. e^H is the effective
// number of keys.
type Entropy struct {
	Attention   string // model.EncoderSelf, DecoderSelf or DecoderCross
	Layer, Head int
	Histogram
}

// Histogram counts values ≥ 0: Counts[i] values are in (i·BucketWidth, (i+1)·BucketWidth]. The
// first bucket includes 0.
type Histogram struct {
	Counts          []int
	Min, Max        float64 // 0 without values
	Sum, SumSquares float64
}

// BucketWidth is the width of a bucket of a Histogram.
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
	h.SumSquares += float64(x * x)
}

// entropies collects the entropies of all heads.
type entropies struct {
	config model.Config
	layers map[string]int // the heads of an attention start at list[layers[attention]·Heads]
	list   []Entropy
}

// reset starts a new list, because events keep the list of the previous validation.
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
	if c.Autoreg == model.SelfAttention {
		add(model.DecoderSelf, c.DecoderLayers)
	}
	add(model.DecoderCross, c.DecoderLayers)
}

// add adds the attention weights [queries × keys] of a sentence.
func (e *entropies) add(attention string, layer, head, _ int, weights mat.Matrix) {
	h := &e.list[(e.layers[attention]+layer)*e.config.Heads+head].Histogram
	for i := range weights.Rows {
		if x := entropy(weights.Row(i)); !math.IsNaN(x) { // NaN: the model diverged
			h.add(x)
		}
	}
}

// entropy returns -Σ p·ln p in nats.
func entropy(p []float32) float64 {
	var sum float64
	for _, p := range p {
		if p != 0 {
			sum -= float64(float64(p) * exact.Log(float64(p)))
		}
	}
	return max(0, sum) // rounding can make a weight exceed 1
}
