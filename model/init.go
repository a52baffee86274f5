package model

import (
	"math"
	"math/rand/v2"
	"strings"

	"tfm/layer"
	"tfm/mat"
)

// Init draws the initial weights, a function of seed. Gains are 1; weights not listed here are 0.
//
//	xavier    matrices Xavier uniform, W^Q, W^K and W^V separately; embeddings, learned positions
//	          and the output matrix normal(0, d^-0.5)
//	pytorch   as nn.Transformer, nn.Embedding and nn.Linear: matrices Xavier uniform, W^Q, W^K and
//	          W^V of one attention as one matrix; biases of the feed-forward network uniform in
//	          ±in^-0.5; embeddings and learned positions normal(0, 1); an untied output matrix and
//	          its bias uniform in ±d^-0.5
//	zero-output  as xavier, W^O and W2 0: sublayers add nothing at first, as in Fixup (Zhang et
//	          al., 2019). With norms after the sublayers and many layers, learning is faster
//
// With DeepNorm, Init then multiplies W^V, W^O, W1 and W2 by β.
func (t *Transformer) Init(seed uint64) {
	r := rand.New(rand.NewPCG(seed, 0))
	_, encBeta, _, decBeta := t.Config.DeepNormScales()
	for _, p := range t.Params.List {
		switch {
		case strings.HasSuffix(p.Name, ".gain"):
			layer.Fill(p.W, 1)
		case t.Config.Init == PyTorchInit:
			t.pytorchInit(p, r)
		case t.Config.Init == ZeroOutputInit && (strings.HasSuffix(p.Name, ".out.weight") || strings.HasSuffix(p.Name, ".outer.weight")):
			clear(p.W)
		default:
			t.xavierInit(p, r)
		}
		if t.Config.Norm == DeepNorm {
			t.scaleByBeta(p, float32(encBeta), float32(decBeta))
		}
	}
}

func (t *Transformer) xavierInit(p *layer.Param, r *rand.Rand) {
	switch {
	case isTable(p), p.Name == "output.weight":
		layer.Normal(p.W, 1/math.Sqrt(float64(t.Config.DModel)), r)
	case strings.HasSuffix(p.Name, ".weight"):
		for i, w := 0, p.Weights(); i < w.Rows; i++ {
			for _, columns := range projections(p, w.Row(i)) {
				layer.XavierUniform(columns, w.Rows, len(columns), r)
			}
		}
	default:
		clear(p.W)
	}
}

func (t *Transformer) pytorchInit(p *layer.Param, r *rand.Rand) {
	d := t.Config.DModel
	switch {
	case isTable(p):
		layer.Normal(p.W, 1, r)
	case p.Name == "output.weight", p.Name == "output.bias", strings.HasSuffix(p.Name, ".inner.bias"):
		layer.Uniform(p.W, 1/math.Sqrt(float64(d)), r)
	case strings.HasSuffix(p.Name, ".outer.bias"):
		layer.Uniform(p.W, 1/math.Sqrt(float64(t.Config.DFF)), r)
	case strings.HasSuffix(p.Name, "qkv.weight"), strings.HasSuffix(p.Name, ".q.weight"), strings.HasSuffix(p.Name, ".kv.weight"):
		dk, dv := t.Config.HeadSizes()
		layer.XavierUniform(p.W, d, t.Config.Heads*(2*dk+dv), r)
	case strings.HasSuffix(p.Name, ".weight"):
		layer.XavierUniform(p.W, p.Shape[0], p.Shape[1], r)
	default:
		clear(p.W)
	}
}

// scaleByBeta multiplies p by DeepNorm's β if it is W^V, W^O, W1 or W2.
func (t *Transformer) scaleByBeta(p *layer.Param, encBeta, decBeta float32) {
	beta := decBeta
	if strings.HasPrefix(p.Name, "encoder.") {
		beta = encBeta
	}
	switch {
	case strings.HasSuffix(p.Name, ".out.weight"), strings.HasSuffix(p.Name, ".inner.weight"), strings.HasSuffix(p.Name, ".outer.weight"):
		mat.Scal(beta, p.W)
	case strings.HasSuffix(p.Name, "kv.weight"): // .qkv.weight and .kv.weight
		for i, w := 0, p.Weights(); i < w.Rows; i++ {
			rows := projections(p, w.Row(i))
			mat.Scal(beta, rows[len(rows)-1]) // W^V
		}
	}
}

// projections splits a row of a linear map's weights into the rows of the matrices that they
// concatenate, see layer.Param.Maps.
func projections(p *layer.Param, row []float32) (rows [][]float32) {
	for _, columns := range p.Maps {
		rows, row = append(rows, row[:columns]), row[columns:]
	}
	return rows
}

// isTable reports whether p is a table of token embeddings or of learned positions.
func isTable(p *layer.Param) bool {
	return strings.HasSuffix(p.Name, "embedding") || strings.HasSuffix(p.Name, ".positions")
}
