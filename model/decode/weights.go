package decode

import (
	"math/rand/v2"
	"slices"

	"tfm/attn"
	"tfm/layer"
	"tfm/mat"
	"tfm/model"
)

// Weights are the weights of a model in the form that decoding needs: matrices packed in float32 or
// rounded to int8, see mat.Packed and mat.Int8, and everything else in float32. Any number of
// States and Decoders, on any goroutines, may share them. Load reads them from a file.
type Weights struct {
	model          *model.Transformer // biases, norms and positions; from NewWeights matrices too
	source, target embedding
	encoder        []encoderLayer
	decoder        []decoderLayer
	output         linear          // logits
	matrices       []*weightMatrix // all, in the order of their parameters; of Sharing its own
	form           Form
	unnormedKeys   bool // see SetUnnormedKeys

	bounds *lazyBounds // of output; those of Sharing are shared like it

	release func() error // frees the memory of matrices; nil if it is in Go's heap
}

// embedding turns tokens into rows. Column id of its matrix is that of a piece, because the output
// may have the same matrix.
type embedding struct {
	*weightMatrix
	layer *layer.Embedding // scale and positions
}

// encoderLayer holds the weights of a model.EncoderLayer.
type encoderLayer struct {
	qkv, out     linear
	ff           feedForward
	norm1, norm2 layer.Norm
	residual     layer.Residual
	preNorm      bool
}

// decoderLayer holds the weights of a model.DecoderLayer.
type decoderLayer struct {
	qkv, out            linear // self-attention, or
	maps                linear // of the SSRU
	q, kv, crossOut     linear // cross-attention
	ff                  feedForward
	norm1, norm2, norm3 layer.Norm
	residual            layer.Residual
	preNorm             bool
}

// feedForward holds the weights of a layer.FeedForward.
type feedForward struct {
	inner, outer linear
	activation   mat.Activation
}

// NewWeights returns the Weights of t, whose memory must have been allocated, on the threads of p.
// Matrices are copied; biases, norms and positions alias t. After a change of t's weights the
// caller must call Refresh before the next step. No goroutine may decode during either.
func NewWeights(t *model.Transformer, p *mat.Pool) *Weights { return newWeights(t, Float32, p) }

// NewWeightsIn is NewWeights with matrices in memory, as many as it suffices for; others have new
// memory. It does not write them: Refresh must be called before use. Between a use and the next
// Refresh, memory may be used for other things, such as the gradients of training.
func NewWeightsIn(memory []float32, t *model.Transformer) *Weights {
	w := declare(t, Float32)
	for _, m := range w.matrices {
		in, out := m.size()
		if n := m.bytes(Float32) / 4; n <= len(memory) {
			m.packed = mat.PackedOf(nil, memory[:n:n], in, out, mat.LayoutOf(in, out))
			memory = memory[n:]
		}
	}
	return w
}

// NewWeightsInt8 is NewWeights in int8.
func NewWeightsInt8(t *model.Transformer, p *mat.Pool) *Weights { return newWeights(t, Int8, p) }

func newWeights(t *model.Transformer, f Form, p *mat.Pool) *Weights {
	w := declare(t, f)
	w.Refresh(p)
	return w
}

// Sharing returns the Weights of t, a Transformer that shares the memory of some parameters with
// that of w. Their matrices are those of w, which must not be closed before the last use of the
// result. The others exist after Refresh, which updates only them.
func (w *Weights) Sharing(t *model.Transformer) *Weights {
	s := declare(t, w.form)
	s.unnormedKeys = w.unnormedKeys
	isShared := func(a, b *layer.Param) bool { return &a.W[0] == &b.W[0] }
	own := s.matrices[:0:0]
	for i, m := range s.matrices {
		if of := w.matrices[i]; isShared(m.param, of.param) {
			m.packed, m.int8 = of.packed, of.int8
		} else {
			own = append(own, m)
		}
	}
	s.matrices = own
	if isShared(s.output.param, w.output.param) && (s.output.bias == nil || isShared(s.output.bias, w.output.bias)) {
		s.bounds = w.bounds
	}
	return s
}

// Refresh updates the copies from the Transformer's weights, in the same memory if they are
// float32. Validation calls it because training changes the weights. It panics unless NewWeights or
// Sharing returned w.
func (w *Weights) Refresh(p *mat.Pool) {
	if slices.Contains(w.matrices, w.output.weightMatrix) {
		w.bounds.reset()
	}
	for _, m := range w.matrices {
		if m.param.W == nil {
			panic("decode: Refresh of Weights that NewWeights and Sharing did not return")
		}
		if w.form == Int8 {
			m.int8 = mat.QuantizeInt8(p, m.source())
		} else {
			m.packed.Set(p, m.source())
		}
	}
}

// Random returns Weights with random values. EOS is improbable, so that translations end at the
// limit of their length. It is for benchmarks: memory is that of Weights
// from a file. The error is that of model.New.
func Random(c model.Config, f Form, p *mat.Pool) (*Weights, error) {
	c.OutputBias = true
	t, err := model.New(c)
	if err != nil {
		return nil, err
	}
	w := declare(t, f)
	vectors := w.vectors()
	wait := w.allocVectors(vectors)
	wait()
	for _, v := range vectors {
		layer.Fill(v.W, 1)
	}
	clear(t.Output.Bias.W)
	t.Output.Bias.W[model.EOS] = -1e9
	w.allocMatrices()
	r, buf := rand.New(rand.NewPCG(1, 1)), []float32(nil)
	random := func(_ int, dst []float32) error { // as small as trained weights
		for i := range dst {
			dst[i] = (float32(r.Float32()) - 0.5) / 16 // not fused with the product in Float32
		}
		return nil
	}
	for _, m := range w.matrices {
		if err := m.read(p, random, &buf); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// SetUnnormedKeys selects Settings.UnnormedKeys for all States and Decoders of w, which must
// not be in use. It has an effect in pre-norm models only. LogProbs, Attention and training use the
// model that Marian trains, which has no such exception.
func (w *Weights) SetUnnormedKeys(yes bool) {
	w.unnormedKeys = yes && w.model.Config.Norm == model.PreNorm
}

// Close frees the memory of Weights from Load and Random, which is not in Go's heap, and the file
// that Load may have mapped. w must not be used afterwards. A second Close does nothing.
func (w *Weights) Close() error {
	release := w.release
	if w.release = nil; release == nil {
		return nil
	}
	return release()
}

// Form returns the form of the matrices.
func (w *Weights) Form() Form { return w.form }

// Config returns the configuration of the model.
func (w *Weights) Config() model.Config { return w.model.Config }

// declare returns the Weights of t, which need not have memory, without matrices.
func declare(t *model.Transformer, f Form) *Weights {
	w := &Weights{model: t, form: f, bounds: new(lazyBounds)}
	w.source = embedding{w.table(t.SrcEmbed.E), &t.SrcEmbed}
	w.target = embedding{w.table(t.TgtEmbed.E), &t.TgtEmbed}
	for i := range t.Encoder {
		l := &t.Encoder[i]
		w.encoder = append(w.encoder, encoderLayer{
			qkv: w.linear(l.Self.QKV), out: w.linear(l.Self.Out),
			ff:    w.feedForward(l.FF),
			norm1: l.Norm1, norm2: l.Norm2, residual: l.Residual, preNorm: l.PreNorm,
		})
	}
	for i := range t.Decoder {
		l := &t.Decoder[i]
		var qkv, out, maps linear
		if l.SSRU != nil {
			maps = w.linear(l.SSRU.Maps)
		} else {
			qkv, out = w.linear(l.Self.QKV), w.linear(l.Self.Out)
		}
		w.decoder = append(w.decoder, decoderLayer{
			qkv: qkv, out: out, maps: maps,
			q: w.linear(l.Cross.Q), kv: w.linear(l.Cross.KV), crossOut: w.linear(l.Cross.Out),
			ff:    w.feedForward(l.FF),
			norm1: l.Norm1, norm2: l.Norm2, norm3: l.Norm3, residual: l.Residual, preNorm: l.PreNorm,
		})
	}
	w.output = linear{w.table(t.Output.E), t.Output.Bias}
	return w
}

func (w *Weights) linear(l layer.Linear) linear { return linear{w.newMatrix(l.W, false), l.B} }

func (w *Weights) feedForward(l layer.FeedForward) feedForward {
	return feedForward{w.linear(l.Inner), w.linear(l.Outer), l.Activation}
}

// table returns the matrix of an embedding or of the output: the same one for the same parameter.
func (w *Weights) table(param *layer.Param) *weightMatrix {
	if i := slices.IndexFunc(w.matrices, func(m *weightMatrix) bool { return m.param == param }); i >= 0 {
		return w.matrices[i]
	}
	return w.newMatrix(param, true)
}

func (w *Weights) newMatrix(param *layer.Param, transposed bool) *weightMatrix {
	m := &weightMatrix{param: param, transposed: transposed, packed: new(mat.Packed)}
	w.matrices = append(w.matrices, m)
	return m
}

// vectors returns the parameters that are no matrices of products or embeddings: biases, norms and
// learned positions.
func (w *Weights) vectors() []*layer.Param {
	return slices.DeleteFunc(slices.Clone(w.model.Params.List), func(p *layer.Param) bool {
		return slices.ContainsFunc(w.matrices, func(m *weightMatrix) bool { return m.param == p })
	})
}

// allocVectors allocates the result of vectors, all zeros. It computes the positional encodings on
// another goroutine, because that takes as long as reading some of the matrices. The caller must
// call wait before it uses them.
func (w *Weights) allocVectors(vectors []*layer.Param) (wait func()) {
	layer.AllocWeightsOf(vectors)
	done := make(chan struct{})
	go func() {
		w.model.SetPositions()
		close(done)
	}()
	return func() { <-done }
}

// allocMatrices allocates the matrices, all zeros.
func (w *Weights) allocMatrices() {
	const line = 128 // bytes of two cache lines, which processors fetch together
	size := 0
	for _, m := range w.matrices {
		size += (m.bytes(w.form) + line - 1) / line * line
	}
	memory, free := newMemory(size)
	for _, m := range w.matrices {
		n := m.bytes(w.form)
		m.use(memory[:n:n], w.form)
		memory = memory[(n+line-1)/line*line:]
	}
	w.release = free
}

// sizes returns the sizes of every attention, which all layers share.
func (w *Weights) sizes() attn.Sizes { return w.model.Decoder[0].Cross.Sizes }

// recurrent reports whether the decoder has SSRUs in the place of self-attention.
func (w *Weights) recurrent() bool { return w.model.Config.Autoreg == model.SSRU }
