package decode

import (
	"unsafe"

	"tfm/attn"
	"tfm/layer"
	"tfm/mat"
)

// scratch is the memory of one thread, or of all that divide each product, for rows of tokens on
// their way through the layers of the encoder or of the decoder.
type scratch struct {
	pool  *mat.Pool
	arena layer.Arena // of act
	act   activations

	ids       []int32      // of the encoder's sources, with marks
	starts    []int32      // index in ids of each source's first token, then len(ids)
	positions []int32      // of the tokens that are embedded
	rounded   mat.Int8Rows // output of the encoder, or input of the output projection
}

// activations are those of all layers of the encoder or of the decoder, for n rows. A layer reads
// its input before it writes its output, so all layers share them.
type activations struct {
	sums   [2]mat.Matrix // [n × d] inputs and outputs of sublayers, see scratch.other
	qkv    mat.Matrix    // [n × (2h·d_k + h·d_v)]
	q      mat.Matrix    // [n × h·d_k] of cross-attention
	kv     mat.Matrix    // [n × (h·d_k + h·d_v)] of cross-attention
	ctx    mat.Matrix    // [n × h·d_v]
	hidden mat.Matrix    // [n × ff]
	norm   layer.NormAct // mean and rstd; Y is one of sums

	maps, cells mat.Matrix // of SSRUs: [n × 2d]; [n × d], which pairPass needs

	unnormed, firstValues mat.Matrix // of unnormKeys: [n × (2h·d_k + h·d_v)], [n × h·d_v]
}

// encode returns the encoder's output [m × d] for sources, and sets s.ids and s.starts.
func (w *Weights) encode(s *scratch, sources [][]int32) mat.Matrix {
	s.ids, s.starts = s.ids[:0], append(s.starts[:0], 0)
	for _, src := range sources {
		s.ids = w.model.Config.Source.Append(s.ids, src)
		s.starts = append(s.starts, int32(len(s.ids)))
	}
	s.alloc(w, len(s.ids), false)
	x := s.embedSentences(&w.source, s.ids, s.starts)
	for i := range w.encoder {
		x = w.encoder[i].forward(s, w.sizes(), x)
	}
	if w.model.Config.HasFinalNorm() {
		x = s.norm(&w.model.EncNorm, x)
	}
	if w.form == Int8 {
		s.rounded.Set(s.pool, x) // for the keys and values of all layers
	}
	return x
}

// forward returns the layer's output [m × d] for x [m × d], sentences that begin at s.starts.
//
//	post-norm, the paper's        pre-norm
//	x = norm1(α·x + self(x))      x = x + self(norm1(x))
//	x = norm2(α·x + ff(x))        x = x + ff(norm2(x))
func (l *encoderLayer) forward(s *scratch, sizes attn.Sizes, x mat.Matrix) mat.Matrix {
	if l.preNorm {
		h := s.norm(&l.norm1, x)
		x = l.self(s, sizes, x, h)

		h = s.norm(&l.norm2, x)
		return l.ff.forward(s, l.residual, x, h)
	}
	h := l.self(s, sizes, x, x)
	x = s.norm(&l.norm1, h)

	h = l.ff.forward(s, l.residual, x, x)
	return s.norm(&l.norm2, h)
}

// self returns α·x + self(h).
func (l *encoderLayer) self(s *scratch, sizes attn.Sizes, x, h mat.Matrix) mat.Matrix {
	l.qkv.mul(s.pool, s.act.qkv, h, mat.Identity)
	attn.ScaledDotProductHeads(s.pool, s.act.ctx, s.selfInputs(sizes), sizes.Heads, attn.Ragged{QStarts: s.starts, KStarts: s.starts})
	return s.add(l.residual, x, s.act.ctx, &l.out)
}

// mixer computes the sublayers of the decoder that mix the tokens of a sentence, with their
// residual connections: from x [n × d] and the input h [n × d] of the sublayer.
type mixer interface {
	self(layer int, x, h mat.Matrix) mat.Matrix  // α·x + self(h), which may be a recurrent cell
	cross(layer int, x, h mat.Matrix) mat.Matrix // α·x + cross(h, memory)
}

// decode returns the decoder's output [n × d] for embedded tokens x [n × d].
func (w *Weights) decode(s *scratch, m mixer, x mat.Matrix) mat.Matrix {
	for i := range w.decoder {
		x = w.decoder[i].forward(s, m, i, x)
	}
	if w.model.Config.HasFinalNorm() {
		x = s.norm(&w.model.DecNorm, x)
	}
	return x
}

// forward returns the output [n × d] of layer i for x [n × d].
//
//	post-norm, the paper's                 pre-norm
//	x = norm1(α·x + self(x))               x = x + self(norm1(x))
//	x = norm2(α·x + cross(x, memory))      x = x + cross(norm2(x), memory)
//	x = norm3(α·x + ff(x))                 x = x + ff(norm3(x))
func (l *decoderLayer) forward(s *scratch, m mixer, i int, x mat.Matrix) mat.Matrix {
	if l.preNorm {
		h := s.norm(&l.norm1, x)
		x = m.self(i, x, h)

		h = s.norm(&l.norm2, x)
		x = m.cross(i, x, h)

		h = s.norm(&l.norm3, x)
		return l.ff.forward(s, l.residual, x, h)
	}
	h := m.self(i, x, x)
	x = s.norm(&l.norm1, h)

	h = m.cross(i, x, x)
	x = s.norm(&l.norm2, h)

	h = l.ff.forward(s, l.residual, x, x)
	return s.norm(&l.norm3, h)
}

// forward returns α·x + ff(h).
func (l *feedForward) forward(s *scratch, r layer.Residual, x, h mat.Matrix) mat.Matrix {
	l.inner.mul(s.pool, s.act.hidden, h, l.activation)
	return s.add(r, x, s.act.hidden, &l.outer)
}

// add returns α·x + out(y), in place of a norm of x.
func (s *scratch) add(r layer.Residual, x, y mat.Matrix, out *linear) mat.Matrix {
	sum := s.other(x)
	if r.Alpha == 1 {
		out.mulAdd(s.pool, sum, y, x)
		return sum
	}
	out.mul(s.pool, sum, y, mat.Identity)
	return r.Forward(s.pool, &layer.ResidualAct{}, x, sum, mat.Dropout{})
}

// norm returns the norm of x.
func (s *scratch) norm(l *layer.Norm, x mat.Matrix) mat.Matrix {
	s.act.norm.Y = s.other(x)
	return l.Forward(s.pool, &s.act.norm, x)
}

// other returns the one of s.act.sums that is not x.
func (s *scratch) other(x mat.Matrix) mat.Matrix {
	if unsafe.SliceData(x.Data) == unsafe.SliceData(s.act.sums[0].Data) {
		return s.act.sums[1]
	}
	return s.act.sums[0]
}

// selfInputs returns the inputs of self-attention in s.act.qkv.
func (s *scratch) selfInputs(sizes attn.Sizes) attn.Inputs {
	qkv, keys := s.act.qkv, sizes.Heads*sizes.DK
	return attn.Inputs{Q: qkv.ColRange(0, keys), K: qkv.ColRange(keys, 2*keys), V: qkv.ColRange(2*keys, qkv.Cols)}
}

// embedSentences returns the embeddings of ids, sentences that begin at starts.
func (s *scratch) embedSentences(e *embedding, ids, starts []int32) mat.Matrix {
	s.positions = s.positions[:0]
	for i, end := range starts[1:] {
		for position := range end - starts[i] {
			s.positions = append(s.positions, position)
		}
	}
	return s.embed(e, ids)
}

// embed returns the embeddings of ids at s.positions.
func (s *scratch) embed(e *embedding, ids []int32) mat.Matrix {
	x := s.act.sums[0]
	mat.Each(s.pool, len(ids), embedGrain, embedRows{e, x, ids, s.positions})
	return x
}

// embedGrain is the number of rows of one call: tens of microseconds, because columns of a large
// matrix are not in the cache.
const embedGrain = 8

// embedRows is the parallel loop that sets row i of y to E[ids[i]]·scale + PE[positions[i]].
type embedRows struct {
	of             *embedding
	y              mat.Matrix
	ids, positions []int32
}

func (t *embedRows) Range(lo, hi int) {
	scale := t.of.layer.Scale()
	for i := lo; i < hi; i++ {
		y := t.y.Row(i)
		if t.positions[i] == 0 && t.of.layer.ZeroStart {
			copy(y, t.of.layer.Positions.Row(0))
			continue
		}
		if t.of.int8 != nil {
			t.of.int8.Col(y, int(t.ids[i]))
		} else {
			t.of.packed.Col(y, int(t.ids[i]))
		}
		mat.AxpyTo(y, scale, y, t.of.layer.Positions.Row(int(t.positions[i])))
	}
}

// alloc allocates the activations for n tokens of the decoder or of the encoder.
func (s *scratch) alloc(w *Weights, n int, decoder bool) {
	c, sizes := &w.model.Config, w.sizes()
	keys, values := sizes.Heads*sizes.DK, sizes.Heads*sizes.DV
	s.arena.Alloc(func() {
		a := &s.arena
		s.act = activations{
			sums: [2]mat.Matrix{a.Matrix(n, c.DModel), a.Matrix(n, c.DModel)}, qkv: a.Matrix(n, 2*keys+values), ctx: a.Matrix(n, values),
			hidden: a.Matrix(n, c.DFF), norm: layer.NormAct{Mean: a.Slice(n), RStd: a.Slice(n)},
		}
		if !decoder {
			s.act.kv = a.Matrix(n, keys+values)
			return
		}
		s.act.q = a.Matrix(n, keys)
		if w.recurrent() {
			s.act.maps, s.act.cells = a.Matrix(n, 2*c.DModel), a.Matrix(n, c.DModel)
		}
		if w.unnormedKeys {
			s.act.unnormed, s.act.firstValues = a.Matrix(n, 2*keys+values), a.Matrix(n, values)
		}
	})
}
