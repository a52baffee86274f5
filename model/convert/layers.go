package convert

import (
	"strconv"
	"strings"

	"tfm/layer"
	"tfm/mat"
	"tfm/model"
	"tfm/model/safetensors"
)

// naming is the table of a system: how it names and stores the layers of a Transformer. It serves
// reading and writing. In a name # is the number of a layer and * a kind of tensor. Maps of one
// input with the same name are one tensor, the outputs of one map after those of another.
type naming struct {
	encoder, decoder string    // prefixes of a layer
	first            int       // number of the first layer
	numbers          []int     // numbers of the decoder's layers, if several share their weights
	self, cross      [4]string // maps of queries, keys, values and output
	ssru             [2]string // maps of an SSRU in its place, the first without bias
	inner, outer     string    // maps of the feed-forward network
	encoderNorms     [2]string // after self-attention and the feed-forward network
	decoderNorms     [3]string // after self-attention, cross-attention and the feed-forward network
	finalNorms       [2]string // after the stacks

	weight, bias   string // kinds of a map
	gain, normBias string // kinds of a norm
	outputsFirst   bool   // weights are [out × in] instead of [in × out]
	rows           bool   // vectors are [1 × n] instead of [n]
	optionalBias   bool   // a map without bias has no tensor for it, instead of zeros
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
func (n *naming) parts(m *model.Transformer) (list []part) {
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
		add(prefix+n.inner, false, allColumns(l.Inner))
		add(prefix+n.outer, true, allColumns(l.Outer))
	}
	for i := range m.Encoder {
		l, prefix := &m.Encoder[i], strings.Replace(n.encoder, "#", strconv.Itoa(n.first+i), 1)
		self(prefix, n.self, l.Self.QKV, l.Self.Out)
		norm(prefix+n.encoderNorms[0], l.Norm1)
		feedForward(prefix, l.FF)
		norm(prefix+n.encoderNorms[1], l.Norm2)
	}
	for i := range m.Decoder {
		number := n.first + i
		if n.numbers != nil {
			number = n.numbers[i]
		}
		l, prefix := &m.Decoder[i], strings.Replace(n.decoder, "#", strconv.Itoa(number), 1)
		if l.SSRU != nil {
			maps, d := l.SSRU.Maps, m.Config.DModel
			list = append(list, part{name: prefix + n.ssru[0], maps: []columns{{maps, 0, d}}, bare: true})
			maps.B = l.SSRU.GateBias
			list = append(list, part{name: prefix + n.ssru[1], maps: []columns{{maps, d, d}}})
		} else {
			self(prefix, n.self, l.Self.QKV, l.Self.Out)
		}
		norm(prefix+n.decoderNorms[0], l.Norm1)
		attention(prefix, n.cross, columns{l.Cross.Q, 0, dk}, columns{l.Cross.KV, 0, dk}, columns{l.Cross.KV, dk, dv}, l.Cross.Out)
		norm(prefix+n.decoderNorms[1], l.Norm2)
		feedForward(prefix, l.FF)
		norm(prefix+n.decoderNorms[2], l.Norm3)
	}
	if m.Config.HasFinalNorm() {
		norm(n.finalNorms[0], m.EncNorm)
		norm(n.finalNorms[1], m.DecNorm)
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
func (n *naming) shape(p *part) []int {
	in, out := p.sizes()
	if n.outputsFirst {
		return []int{out, in}
	}
	return []int{in, out}
}

// vector returns the shape of a vector in the system.
func (n *naming) vector(size int) []int {
	if n.rows {
		return []int{1, size}
	}
	return []int{size}
}

// eachWeight calls f with each weight of a map and its index in the tensor of the system. Element i
// of d_model in the system is element order[i] of the model, unless order is nil.
func (n *naming) eachWeight(p *part, order []int, f func(w *float32, i int)) {
	in, out := p.sizes()
	done := 0
	for _, c := range p.maps {
		w := c.l.W.Weights()
		for i := range in {
			row := w.Row(permuted(order, i, !p.toModel))
			for j := range c.n {
				to := i*out + done + j
				if n.outputsFirst {
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
func (s *tensors) readLayers(m *model.Transformer, n *naming) {
	for _, p := range n.parts(m) {
		if p.maps == nil {
			shape := n.vector(len(p.norm.Gain.W))
			copy(p.norm.Gain.W, s.values(p.kind(n.gain), shape...))
			if p.norm.Bias != nil {
				copy(p.norm.Bias.W, s.values(p.kind(n.normBias), shape...))
			}
			continue
		}
		if w := s.values(p.kind(n.weight), n.shape(&p)...); w != nil {
			n.eachWeight(&p, nil, func(to *float32, i int) { *to = w[i] })
			for _, c := range p.maps {
				s.setSteps(c.l.W.Name, c.l.W.Shape[1], c.first, c.n, s.byName[p.kind(n.weight)].step)
			}
		}
		name := p.kind(n.bias)
		if p.bare || n.optionalBias && (!s.has(name) || p.maps[0].l.B == nil) {
			continue
		}
		_, out := p.sizes()
		if b := s.values(name, n.vector(out)...); b != nil {
			p.eachBias(nil, func(to *float32, i int) { *to = b[i] })
		}
	}
}

// tensorList is the tensors of a model that is written. Element i of d_model of the system is
// element order[i] of the model, unless order is nil.
type tensorList struct {
	list  []safetensors.Tensor
	order []int
}

// add adds a tensor. It keeps data.
func (l *tensorList) add(name string, data []float32, shape ...int) {
	l.list = append(l.list, safetensors.Float32Tensor(name, shape, data))
}

// table adds a matrix whose rows are of d_model.
func (l *tensorList) table(name string, m mat.Matrix) { l.rows(name, m, m.Rows, m.Cols) }

// rows adds a matrix whose rows are of d_model in the given shape.
func (l *tensorList) rows(name string, m mat.Matrix, shape ...int) {
	x := make([]float32, 0, m.Rows*m.Cols)
	for i := range m.Rows {
		row := m.Row(i)
		for j := range row {
			x = append(x, row[permuted(l.order, j, true)])
		}
	}
	l.add(name, x, shape...)
}

// layers adds the layers of m, and the norms after its stacks.
func (l *tensorList) layers(m *model.Transformer, n *naming) {
	for _, p := range n.parts(m) {
		if p.maps == nil {
			d := len(p.norm.Gain.W)
			l.rows(p.kind(n.gain), mat.Of(p.norm.Gain.W, 1, d), n.vector(d)...)
			if p.norm.Bias != nil {
				l.rows(p.kind(n.normBias), mat.Of(p.norm.Bias.W, 1, d), n.vector(d)...)
			}
			continue
		}
		in, out := p.sizes()
		w, b := make([]float32, in*out), make([]float32, out)
		n.eachWeight(&p, l.order, func(from *float32, i int) { w[i] = *from })
		l.add(p.kind(n.weight), w, n.shape(&p)...)
		if p.bare || n.optionalBias && p.maps[0].l.B == nil {
			continue
		}
		p.eachBias(l.order, func(from *float32, i int) { b[i] = *from })
		l.add(p.kind(n.bias), b, n.vector(out)...)
	}
}

// closedBias returns the bias of m's output projection with -Inf for Pad and BOS, which no search
// selects.
func closedBias(m *model.Transformer) []float32 {
	bias := make([]float32, m.Config.TgtVocab)
	if m.Output.Bias != nil {
		copy(bias, m.Output.Bias.W)
	}
	bias[model.Pad], bias[model.BOS] = minusInf, minusInf
	return bias
}
