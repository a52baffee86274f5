package parts

import (
	"strconv"
	"strings"

	"tfm/layer"
	"tfm/mat"
	"tfm/model"
	"tfm/model/safetensors"
)

// Naming is the table of a system: how it names and stores the layers of a Transformer. It serves
// reading and writing. In a name # is the number of a layer and * a kind of tensor. Maps of one
// input with the same name are one tensor, the outputs of one map after those of another.
type Naming struct {
	Encoder, Decoder string    // prefixes of a layer
	First            int       // number of the first layer
	Numbers          []int     // numbers of the decoder's layers, if several share their weights
	Self, Cross      [4]string // maps of queries, keys, values and output
	Ssru             [2]string // maps of an SSRU in its place, the first without bias
	Inner, Outer     string    // maps of the feed-forward network
	EncoderNorms     [2]string // after self-attention and the feed-forward network
	DecoderNorms     [3]string // after self-attention, cross-attention and the feed-forward network
	FinalNorms       [2]string // after the stacks

	Weight, Bias   string // kinds of a map
	Gain, NormBias string // kinds of a norm
	OutputsFirst   bool   // weights are [out × in] instead of [in × out]
	Rows           bool   // vectors are [1 × n] instead of [n]
	OptionalBias   bool   // a map without bias has no tensor for it, instead of zeros
}

// part is a linear map with its bias, or a norm.
type part struct {
	name string
	maps []columns  // outputs in order; none in a norm
	norm layer.Norm // of d_model

	toModel bool // the outputs are d_model, and not the inputs
	bare    bool // no system has a bias of it
}

// columns are outputs first to first+n-1 of a linear map.
type columns struct {
	l        layer.Linear
	first, n int
}

func allColumns(l layer.Linear) columns { return columns{l, 0, l.W.Shape[1]} }

// biases returns those of the columns: of an SSRU's second half all, nil without biases.
func (c columns) biases() []float32 {
	if c.l.B == nil {
		return nil
	}
	return c.l.B.W[min(c.first, len(c.l.B.W)-c.n):][:c.n]
}

// parts returns the parts of the layers of m, and the norms after its stacks.
func (n *Naming) parts(m *model.Transformer) (list []part) {
	add := func(name string, toModel bool, maps ...columns) {
		list = append(list, part{name: name, maps: maps, toModel: toModel})
	}
	norm := func(name string, l layer.Norm) { list = append(list, part{name: name, norm: l}) }
	dk, dv := m.Config.HeadSizes()
	dk, dv = dk*m.Config.Heads, dv*m.Config.Heads
	attention := func(prefix string, names [4]string, q, k, v columns, out layer.Linear) {
		for i, c := range []columns{q, k, v} {
			if i > 0 && names[i] == names[i-1] {
				last := &list[len(list)-1]
				last.maps = append(last.maps, c)
			} else {
				add(prefix+names[i], false, c)
			}
		}
		add(prefix+names[3], true, allColumns(out))
	}
	self := func(prefix string, names [4]string, qkv, out layer.Linear) {
		attention(prefix, names, columns{qkv, 0, dk}, columns{qkv, dk, dk}, columns{qkv, 2 * dk, dv}, out)
	}
	feedForward := func(prefix string, l layer.FeedForward) {
		add(prefix+n.Inner, false, allColumns(l.Inner))
		add(prefix+n.Outer, true, allColumns(l.Outer))
	}
	for i := range m.Encoder {
		l, prefix := &m.Encoder[i], strings.Replace(n.Encoder, "#", strconv.Itoa(n.First+i), 1)
		self(prefix, n.Self, l.Self.QKV, l.Self.Out)
		norm(prefix+n.EncoderNorms[0], l.Norm1)
		feedForward(prefix, l.FF)
		norm(prefix+n.EncoderNorms[1], l.Norm2)
	}
	for i := range m.Decoder {
		number := n.First + i
		if n.Numbers != nil {
			number = n.Numbers[i]
		}
		l, prefix := &m.Decoder[i], strings.Replace(n.Decoder, "#", strconv.Itoa(number), 1)
		if l.SSRU != nil {
			maps, d := l.SSRU.Maps, m.Config.DModel
			list = append(list, part{name: prefix + n.Ssru[0], maps: []columns{{maps, 0, d}}, bare: true})
			maps.B = l.SSRU.GateBias
			list = append(list, part{name: prefix + n.Ssru[1], maps: []columns{{maps, d, d}}})
		} else {
			self(prefix, n.Self, l.Self.QKV, l.Self.Out)
		}
		norm(prefix+n.DecoderNorms[0], l.Norm1)
		attention(prefix, n.Cross, columns{l.Cross.Q, 0, dk}, columns{l.Cross.KV, 0, dk}, columns{l.Cross.KV, dk, dv}, l.Cross.Out)
		norm(prefix+n.DecoderNorms[1], l.Norm2)
		feedForward(prefix, l.FF)
		norm(prefix+n.DecoderNorms[2], l.Norm3)
	}
	if m.Config.HasFinalNorm() {
		norm(n.FinalNorms[0], m.EncNorm)
		norm(n.FinalNorms[1], m.DecNorm)
	}
	return list
}

// kind returns the name of a tensor of a part.
func (p *part) kind(kind string) string { return strings.Replace(p.name, "*", kind, 1) }

// sizes returns the inputs and the outputs of a map.
func (p *part) sizes() (in, out int) {
	for _, c := range p.maps {
		out += c.n
	}
	return p.maps[0].l.W.Shape[0], out
}

// shape returns the shape of a map's weights in the system.
func (n *Naming) shape(p *part) []int {
	in, out := p.sizes()
	if n.OutputsFirst {
		return []int{out, in}
	}
	return []int{in, out}
}

// vector returns the shape of a vector in the system.
func (n *Naming) vector(size int) []int {
	if n.Rows {
		return []int{1, size}
	}
	return []int{size}
}

// eachWeight calls f with each weight of a map and its index in the tensor of the system. Element i
// of d_model in the system is element order[i] of the model, unless order is nil.
func (n *Naming) eachWeight(p *part, order []int, f func(w *float32, i int)) {
	in, out := p.sizes()
	done := 0
	for _, c := range p.maps {
		w := c.l.W.Weights()
		for i := range in {
			row := w.Row(permuted(order, i, !p.toModel))
			for j := range c.n {
				to := i*out + done + j
				if n.OutputsFirst {
					to = (done+j)*in + i
				}
				f(&row[c.first+permuted(order, j, p.toModel)], to)
			}
		}
		done += c.n
	}
}

// eachBias calls f with each bias of a map that has some, and its index.
func (p *part) eachBias(order []int, f func(b *float32, i int)) {
	done := 0
	for _, c := range p.maps {
		biases := c.biases()
		for j := range biases {
			f(&biases[permuted(order, j, p.toModel)], done+j)
		}
		done += c.n
	}
}

// permuted returns order[i] if i is an element of d_model and order is not nil, or i.
func permuted(order []int, i int, isModel bool) int {
	if order == nil || !isModel {
		return i
	}
	return order[i]
}

// readLayers sets the layers of m, and the norms after its stacks, to the tensors of a system.
func (s *Tensors) readLayers(m *model.Transformer, n *Naming) {
	for _, p := range n.parts(m) {
		if p.maps == nil {
			shape := n.vector(len(p.norm.Gain.W))
			copy(p.norm.Gain.W, s.Values(p.kind(n.Gain), shape...))
			if p.norm.Bias != nil {
				copy(p.norm.Bias.W, s.Values(p.kind(n.NormBias), shape...))
			}
			continue
		}
		if w := s.Values(p.kind(n.Weight), n.shape(&p)...); w != nil {
			n.eachWeight(&p, nil, func(to *float32, i int) { *to = w[i] })
			for _, c := range p.maps {
				s.setSteps(c.l.W.Name, c.l.W.Shape[1], c.first, c.n, s.ByName[p.kind(n.Weight)].Step)
			}
		}
		name := p.kind(n.Bias)
		if p.bare || n.OptionalBias && (!s.Has(name) || p.maps[0].l.B == nil) {
			continue
		}
		_, out := p.sizes()
		if b := s.Values(name, n.vector(out)...); b != nil {
			p.eachBias(nil, func(to *float32, i int) { *to = b[i] })
		}
	}
}

// TensorList is the tensors of a model that is written. Element i of d_model of the system is
// element order[i] of the model, unless order is nil.
type TensorList struct {
	List  []safetensors.Tensor
	Order []int
}

// Add adds a tensor. It keeps data.
func (l *TensorList) Add(name string, data []float32, shape ...int) {
	l.List = append(l.List, safetensors.Float32Tensor(name, shape, data))
}

// Table adds a matrix whose rows are of d_model.
func (l *TensorList) Table(name string, m mat.Matrix) { l.rows(name, m, m.Rows, m.Cols) }

// rows adds a matrix whose rows are of d_model in the given shape.
func (l *TensorList) rows(name string, m mat.Matrix, shape ...int) {
	x := make([]float32, 0, m.Rows*m.Cols)
	for i := range m.Rows {
		row := m.Row(i)
		for j := range row {
			x = append(x, row[permuted(l.Order, j, true)])
		}
	}
	l.Add(name, x, shape...)
}

// Layers adds the layers of m, and the norms after its stacks.
func (l *TensorList) Layers(m *model.Transformer, n *Naming) {
	for _, p := range n.parts(m) {
		if p.maps == nil {
			d := len(p.norm.Gain.W)
			l.rows(p.kind(n.Gain), mat.Of(p.norm.Gain.W, 1, d), n.vector(d)...)
			if p.norm.Bias != nil {
				l.rows(p.kind(n.NormBias), mat.Of(p.norm.Bias.W, 1, d), n.vector(d)...)
			}
			continue
		}
		in, out := p.sizes()
		w, b := make([]float32, in*out), make([]float32, out)
		n.eachWeight(&p, l.Order, func(from *float32, i int) { w[i] = *from })
		l.Add(p.kind(n.Weight), w, n.shape(&p)...)
		if p.bare || n.OptionalBias && p.maps[0].l.B == nil {
			continue
		}
		p.eachBias(l.Order, func(from *float32, i int) { b[i] = *from })
		l.Add(p.kind(n.Bias), b, n.vector(out)...)
	}
}

// ClosedBias returns the bias of m's output projection with -Inf for Pad and BOS, which no search
// selects.
func ClosedBias(m *model.Transformer) []float32 {
	bias := make([]float32, m.Config.TgtVocab)
	if m.Output.Bias != nil {
		copy(bias, m.Output.Bias.W)
	}
	bias[model.Pad], bias[model.BOS] = MinusInf, MinusInf
	return bias
}
