package model

import (
	"fmt"
	"math"
	"testing"

	"tfm/attn"
	"tfm/internal/ref"
	"tfm/layer"
	"tfm/mat"
)

// padding computes the model as other systems do: on a padded batch, each sentence [tokens × d],
// with masks. It calls the kernels that the layers use, and looks up parameters by name.
type padding struct {
	*Transformer
	params map[string]*layer.Param
}

func (p padding) linear(x mat.Matrix, name string, activation mat.Activation) mat.Matrix {
	w := p.params[name+".weight"].Weights()
	y := mat.New(x.Rows, w.Cols)
	mat.Gemm(nil, y, x, w, mat.GemmOptions{Bias: p.params[name+".bias"].W, Activation: activation})
	return y
}

// addNorm returns LayerNorm(x + sub). It overwrites sub.
func (p padding) addNorm(x, sub mat.Matrix, name string) mat.Matrix {
	y, d := mat.New(x.Rows, x.Cols), float32(x.Cols)
	for i := range x.Rows {
		r := sub.Row(i)
		mat.Add(r, x.Row(i))
		mean := mat.Sum(r) / d
		rstd := float32(1 / math.Sqrt(float64(mat.SumSquaredDiff(r, mean)/d+p.Config.NormEps)))
		mat.LayerNorm(y.Row(i), r, mean, rstd, p.params[name+".gain"].W, p.params[name+".bias"].W)
	}
	return y
}

func (p padding) attention(q, k, v mat.Matrix, masks []ref.Mask, name string) mat.Matrix {
	ctx := mat.New(q.Rows, q.Cols)
	ref.PaddedHeads(ctx, attn.Inputs{Q: q, K: k, V: v}, p.Config.Heads, masks)
	return p.linear(ctx, name+".out", mat.Identity)
}

func (p padding) self(x mat.Matrix, masks []ref.Mask, name string) mat.Matrix {
	qkv, d := p.linear(x, name+".qkv", mat.Identity), x.Cols
	return p.attention(qkv.ColRange(0, d), qkv.ColRange(d, 2*d), qkv.ColRange(2*d, 3*d), masks, name)
}

func (p padding) cross(x, memory mat.Matrix, masks []ref.Mask, name string) mat.Matrix {
	kv, d := p.linear(memory, name+".kv", mat.Identity), x.Cols
	return p.attention(p.linear(x, name+".q", mat.Identity), kv.ColRange(0, d), kv.ColRange(d, 2*d), masks, name)
}

func (p padding) feedForward(x mat.Matrix, name string) mat.Matrix {
	return p.linear(p.linear(x, name+".inner", mat.ReLU), name+".outer", mat.Identity)
}

func (p padding) embed(ids [][]int32) mat.Matrix {
	d := p.Config.DModel
	pe, x := layer.Sinusoids(len(ids[0]), d), mat.New(len(ids)*len(ids[0]), d)
	for i := range x.Rows {
		s, pos := i/len(ids[0]), i%len(ids[0])
		mat.AxpyTo(x.Row(i), float32(math.Sqrt(float64(d))), p.params["embedding"].Weights().Row(int(ids[s][pos])), pe.Row(pos))
	}
	return x
}

// forward returns the outputs of the encoder and of the decoder.
func (p padding) forward(src, tgt [][]int32) (memory, x mat.Matrix) {
	var sources, targets []ref.Mask
	for i := range src {
		sources = append(sources, ref.Padding(src[i], Pad))
		targets = append(targets, ref.And(ref.Padding(tgt[i], Pad), ref.LookAhead))
	}
	memory = p.embed(src)
	for i := range p.Config.EncoderLayers {
		name := fmt.Sprint("encoder.", i)
		memory = p.addNorm(memory, p.self(memory, sources, name+".self"), name+".norm1")
		memory = p.addNorm(memory, p.feedForward(memory, name+".ff"), name+".norm2")
	}
	x = p.embed(tgt)
	for i := range p.Config.DecoderLayers {
		name := fmt.Sprint("decoder.", i)
		x = p.addNorm(x, p.self(x, targets, name+".self"), name+".norm1")
		x = p.addNorm(x, p.cross(x, memory, sources, name+".cross"), name+".norm2")
		x = p.addNorm(x, p.feedForward(x, name+".ff"), name+".norm3")
	}
	return memory, x
}

// padded returns the sentences padded to the length of the longest.
func padded(ids, starts []int32) (rows [][]int32) {
	longest := int32(0)
	for s := range len(starts) - 1 {
		longest = max(longest, starts[s+1]-starts[s])
	}
	for s := range len(starts) - 1 {
		row := make([]int32, longest) // Pad
		copy(row, ids[starts[s]:starts[s+1]])
		rows = append(rows, row)
	}
	return rows
}

// A padded batch with masks gives every token the bits of the ragged batch, through the whole
// model. Package attn compares the bits of the gradients, since only attention depends on
// padding.
func TestRaggedIsPaddedWithMasksBitForBit(t *testing.T) {
	c := toy()
	c.DModel, c.DFF = 48, 80 // not multiples of 32 or 64
	m := newModel(t, c)
	b := randomBatch(c, 12, 0, 7)
	pass := wholeBatch(m, nil, b, true)
	got := pass.forward(b, dropouts{}, dropouts{})
	gotMemory := pass.act.memory

	p := padding{m, map[string]*layer.Param{}}
	for _, param := range m.Params.List {
		p.params[param.Name] = param
	}
	src, tgt := padded(b.Src, b.SrcStarts), padded(b.TgtIn, b.TgtStarts)
	memory, x := p.forward(src, tgt)
	compare := func(name string, got, want mat.Matrix, starts []int32, tokens int) {
		for s := range b.Sentences() {
			for i := starts[s]; i < starts[s+1]; i++ {
				if !bitsEqual(got.Row(int(i)), want.Row(s*tokens+int(i-starts[s]))) {
					t.Fatalf("%s, sentence %d, token %d:\n%v, padded\n%v", name, s, i-starts[s], got.Row(int(i)), want.Row(s*tokens+int(i-starts[s])))
				}
			}
		}
	}
	compare("encoder", gotMemory, memory, b.SrcStarts, len(src[0]))
	compare("decoder", got, x, b.TgtStarts, len(tgt[0]))
}
