package convert

import (
	"cmp"

	"tfm/layer"
	"tfm/mat"
	"tfm/model"
	"tfm/text/tokenizer/vocab"
)

// assembly is what a reader has found of a model, besides its layers.
type assembly struct {
	config   model.Config // without sizes of vocabularies
	src, tgt side

	// The embeddings and, with TieNone, the output projection, by rows of the vocabularies. BOS
	// of a side without a row for it has that of the second element, or for -1 zeros.
	srcTable, tgtTable, outTable table

	bias       []float32     // of the output projection, by rows; nil for zeros
	impossible []int32       // rows that no search selects
	positions  [2]mat.Matrix // learned ones; the last one is that of all further positions
	names      *naming
}

// table is a matrix by rows of a vocabulary.
type table struct {
	mat.Matrix
	bos  int     // row of BOS, if the vocabulary has none, or -1
	step float32 // see tensor
}

// assemble returns a model file without settings. It takes the layers from s, and fails after an
// error of s, or if a tensor is left.
func (s *tensors) assemble(a *assembly) (model.File, error) {
	if s.err != nil {
		return model.File{}, s.err
	}
	c := a.config
	c.SrcVocab, c.TgtVocab = len(a.src.rows), len(a.tgt.rows)
	m, err := s.newModel(c)
	if err != nil {
		return model.File{}, err
	}
	embed := func(v side, to *layer.Param, t table) {
		v.embed(to.Weights(), t.Matrix, t.bos)
		s.setSteps(to.Name, len(v.rows), 0, len(v.rows), t.step)
	}
	if c.Tie != model.TieAll {
		embed(a.src, m.SrcEmbed.E, a.srcTable)
	}
	embed(a.tgt, m.TgtEmbed.E, a.tgtTable)
	if c.Tie == model.TieNone {
		embed(a.tgt, m.Output.E, a.outTable)
	}
	if c.OutputBias {
		a.tgt.setBias(m.Output.Bias.W, a.bias, a.impossible)
	}
	if c.Positions == model.Learned {
		for i, to := range []mat.Matrix{m.SrcEmbed.Learned.Weights(), m.TgtEmbed.Learned.Weights()} {
			for k := range to.Rows {
				copy(to.Row(k), a.positions[i].Row(min(k, a.positions[i].Rows-1)))
			}
		}
	}
	s.readLayers(m, a.names)
	if err := cmp.Or(s.err, s.unused()); err != nil {
		return model.File{}, err
	}
	tokenizers, err := vocab.Tokenizers{Source: a.src.tokenizer, Target: a.tgt.tokenizer}.Marshal()
	return model.File{Model: m, Steps: s.steps, Tokenizers: tokenizers, Info: map[string]string{}}, err
}
