package model

import (
	"fmt"

	"tfm/layer"
	"tfm/mat"
)

// ClassifierConfig describes a Classifier.
type ClassifierConfig struct {
	// Config describes the layers. Its fields for vocabularies, embeddings and positions are
	// ignored. Dropout applies to each sublayer's output, not to the inputs. DecoderLayers may
	// be 0: no decoder.
	Config

	Rows, Cols int  // shape of an input
	Embed      bool // map Cols to d and add learned positions; otherwise Cols must be d
	Classes    int
}

// Validate reports the first invalid field, as a *FieldError.
func (c ClassifierConfig) Validate() error {
	layers := c.Config
	// Valid values for the fields that are ignored.
	layers.SrcVocab, layers.TgtVocab, layers.Tie, layers.MaxLen = EOS+2, EOS+2, TieNone, 1
	layers.Positions, layers.FirstPosition = Learned, 0
	if layers.DecoderLayers == 0 {
		layers.DecoderLayers = 1
	}
	switch {
	case c.Rows < 1 || c.Rows > 1<<16:
		return &FieldError{"rows", c.Rows, fmt.Sprintf("1 to %d", 1<<16)}
	case c.Cols < 1 || c.Cols > 1<<20:
		return &FieldError{"cols", c.Cols, fmt.Sprintf("1 to %d", 1<<20)}
	case c.Classes < 2 || c.Classes > 1<<24:
		return &FieldError{"classes", c.Classes, fmt.Sprintf("2 to %d", 1<<24)}
	case !c.Embed && c.Cols != c.DModel:
		return &FieldError{"cols", c.Cols, fmt.Sprintf("%d, d_model, without an embedding", c.DModel)}
	case c.Norm == DeepNorm && c.DecoderLayers == 0:
		return &FieldError{"norm", placements[c.Norm], "post or pre without a decoder: the scales of DeepNorm depend on both depths"}
	}
	return layers.Validate()
}

// Classifier is a Transformer over rows of float32 values instead of tokens. It assigns a sequence
// of rows, such as the lines of an image, to one of several classes.
//
//	x = rows, or rows·W + b + positions
//	y = the mean of Encoder(x)'s rows, or Decoder(one row of ones, Encoder(x))
//	logits = y·Eᵀ + b
//
// The mean of a sequence's features in place of a class token follows Beyer et al. ("Better plain
// ViT baselines", 2022). A Classifier holds no activations.
type Classifier struct {
	Config ClassifierConfig
	Params *layer.Params

	embed     layer.Linear // if Config.Embed
	positions *layer.Param // [Rows, d], if Config.Embed
	layers    *Transformer // has no embeddings
}

// NewClassifier returns the model that c describes, without memory for its weights:
// Params.AllocWeights or Params.AllocForTraining must follow. The error is that of
// ClassifierConfig.Validate.
func NewClassifier(c ClassifierConfig) (*Classifier, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	ps := new(layer.Params)
	m := &Classifier{Config: c, Params: ps}
	if c.Embed {
		m.embed, m.positions = layer.NewLinear(ps, "embed", c.Cols, c.DModel), ps.New("source.positions", c.Rows, c.DModel)
	}
	m.layers = &Transformer{Config: c.Config, Params: ps}
	m.layers.declareStacks()
	m.layers.Output = layer.Output{
		E: ps.New("output.weight", c.Classes, c.DModel), Bias: ps.New("output.bias", c.Classes),
		Smoothing: c.LabelSmoothing, SmoothAll: c.Smoothing == SmoothAll,
	}
	return m, nil
}

// Init draws the initial weights as Transformer.Init does. Params must have been allocated.
func (m *Classifier) Init(seed uint64) { m.layers.Init(seed) }

// ClassifierPass takes batches through a Classifier, forward and backward, and owns the
// activations. After its largest batch it allocates nothing. It is not safe for concurrent use.
type ClassifierPass struct {
	*Classifier
	pass     stacks
	losses   layer.Losses
	src, tgt []int32    // index of each sequence's first row in x and in y
	dx       mat.Matrix // [m × Cols] gradient of the inputs, a by-product
}

// NewClassifierPass returns a pass whose loops run on pool. Train needs Params.AllocForTraining.
func NewClassifierPass(m *Classifier, pool *mat.Pool) *ClassifierPass {
	return &ClassifierPass{Classifier: m, pass: newStacks(m.layers, pool, new(layer.Arena))}
}

// alloc checks a batch of x [n·Rows × Cols] and n labels, and allocates the memory of its pass.
func (s *ClassifierPass) alloc(x mat.Matrix, labels []int32, train bool) {
	c, n := s.Config, len(labels)
	if x.Rows != n*c.Rows || x.Cols != c.Cols || x.ColStride != 1 {
		panic(fmt.Sprintf("model: %d labels with x [%d × %d], want x [%d × %d], rows contiguous", n, x.Rows, x.Cols, n*c.Rows, c.Cols))
	}
	for _, l := range labels {
		if l < 0 || int(l) >= c.Classes {
			panic(fmt.Sprintf("model: label %d, want 0 to %d", l, c.Classes-1))
		}
	}
	for i := len(s.src); i <= n; i++ {
		s.src, s.tgt = append(s.src, int32(i*c.Rows)), append(s.tgt, int32(i))
	}
	a := s.pass.arena
	s.pass.alloc(x.Rows, n, train, false, func() {
		s.losses = layer.AllocLosses(a, n)
		if train {
			s.pass.dsrc, s.pass.dtgt = a.Matrix(x.Rows, c.DModel), a.Matrix(n, c.DModel)
		}
		if train && c.Embed {
			s.dx = a.Matrix(x.Rows, c.Cols)
		}
	})
}

// forward returns y [n × d], which Output maps to logits.
func (s *ClassifierPass) forward(x mat.Matrix, n int, enc, dec dropouts) mat.Matrix {
	pool, act := s.pass.pool, &s.pass.act
	encoder, decoder := s.pass.layerArgs(s.src[:n+1], s.tgt[:n+1], enc, dec)
	if s.Config.Embed {
		s.embed.Forward(pool, act.src, x)
		for inputs, i := perInput(act.src, n), 0; i < n; i++ {
			mat.Add(inputs.Row(i), s.positions.W)
		}
		x = act.src
	}
	act.memory = s.pass.encode(encoder, x)
	if len(s.layers.Decoder) > 0 {
		layer.Fill(act.tgt.Data, 1)
		return s.pass.decode(decoder, act.tgt)
	}
	for i := range n {
		y := act.tgt.Row(i)
		copy(y, act.memory.Row(i*s.Config.Rows))
		for j := 1; j < s.Config.Rows; j++ {
			mat.Add(y, act.memory.Row(i*s.Config.Rows+j))
		}
		mat.Scal(1/float32(s.Config.Rows), y)
	}
	return act.tgt
}

// backward adds to the gradients of the parameters, from dtgt, that of forward's result: forward's
// lines in reverse.
//
//	y = Σ_i memory_i/rows   so   dmemory_i = dy/rows
//	src_i = x_i·W + b + P_i, for each input,   so   dP_i = Σ dsrc_i over the inputs
func (s *ClassifierPass) backward(x mat.Matrix, n int) {
	pool, pass := s.pass.pool, &s.pass
	if len(s.layers.Decoder) > 0 {
		pass.decodeBackward()
	} else {
		for i := range pass.dsrc.Rows {
			dx := pass.dsrc.Row(i)
			copy(dx, pass.dtgt.Row(i/s.Config.Rows))
			mat.Scal(1/float32(s.Config.Rows), dx)
		}
	}
	pass.encodeBackward()
	if s.Config.Embed {
		layer.AddRows(pool, s.positions.G, perInput(pass.dsrc, n))
		s.embed.Backward(pool, s.dx, pass.dsrc, x, layer.Set)
	}
}

// Train takes a batch of n inputs, x [n·Rows × Cols], forward, with dropout masks that are a
// function of seed, and backward, adds scale times the derivative of Loss.Sum to the gradients, and
// returns the loss. It panics on other shapes and on labels outside the classes.
func (s *ClassifierPass) Train(x mat.Matrix, labels []int32, seed uint64, scale float32) Loss {
	if s.Params.G == nil {
		panic("model: training a Classifier without gradients; use Params.AllocForTraining")
	}
	s.alloc(x, labels, true)
	enc, dec := s.layers.Config.dropouts(seed)
	y := s.forward(x, len(labels), enc, dec)
	s.layers.Output.ForwardBackward(s.pass.pool, s.pass.dtgt, y, layer.Targets{IDs: labels, Losses: s.losses, Scale: scale}, s.pass.act.loss)
	s.backward(x, len(labels))
	return s.losses.Total()
}

// Evaluate returns the loss of a batch without dropout. It panics as Train does.
func (s *ClassifierPass) Evaluate(x mat.Matrix, labels []int32) Loss {
	s.alloc(x, labels, false)
	y := s.forward(x, len(labels), dropouts{}, dropouts{})
	s.layers.Output.Forward(s.pass.pool, y, layer.Targets{IDs: labels, Losses: s.losses}, s.pass.act.loss)
	return s.losses.Total()
}

// perInput returns a view of x [n·rows × d] as [n × rows·d], a row for each input.
func perInput(x mat.Matrix, n int) mat.Matrix { return mat.Of(x.Data, n, x.Rows/max(n, 1)*x.Cols) }
