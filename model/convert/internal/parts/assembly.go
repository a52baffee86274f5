package parts

import (
	"cmp"

	"tfm/layer"
	"tfm/mat"
	"tfm/model"
	"tfm/text/tokenizer/vocab"
)

// Assembly is what a reader has found of a model, besides its layers.
type Assembly struct {
	Config   model.Config // without sizes of vocabularies
	Src, Tgt Side

	// The embeddings and, with TieNone, the output projection, by rows of the vocabularies. BOS
	// of a side without a row for it has that of the second element, or for -1 zeros.
	SrcTable, TgtTable, OutTable Table

	Bias       []float32     // of the output projection, by rows; nil for zeros
	Impossible []int32       // rows that no search selects
	Positions  [2]mat.Matrix // learned ones; the last one is that of all further positions
	Names      *Naming
}

// Table is a matrix by rows of a vocabulary.
type Table struct {
	mat.Matrix
	BOS  int     // row of BOS, if the vocabulary has none, or -1
	Step float32 // see tensor
}

// Assemble returns a model file without settings. It takes the layers from s, and fails after an
// error of s, or if a tensor is left.
func (s *Tensors) Assemble(a *Assembly) (model.File, error) {
	if s.Err != nil {
		return model.File{}, s.Err
	}
	c := a.Config
	c.SrcVocab, c.TgtVocab = len(a.Src.Rows), len(a.Tgt.Rows)
	m, err := s.newModel(c)
	if err != nil {
		return model.File{}, err
	}
	embed := func(v Side, to *layer.Param, t Table) {
		v.embed(to.Weights(), t.Matrix, t.BOS)
		s.setSteps(to.Name, len(v.Rows), 0, len(v.Rows), t.Step)
	}
	if c.Tie != model.TieAll {
		embed(a.Src, m.SrcEmbed.E, a.SrcTable)
	}
	embed(a.Tgt, m.TgtEmbed.E, a.TgtTable)
	if c.Tie == model.TieNone {
		embed(a.Tgt, m.Output.E, a.OutTable)
	}
	if c.OutputBias {
		a.Tgt.SetBias(m.Output.Bias.W, a.Bias, a.Impossible)
	}
	if c.Positions == model.Learned {
		for i, to := range []mat.Matrix{m.SrcEmbed.Learned.Weights(), m.TgtEmbed.Learned.Weights()} {
			for k := range to.Rows {
				copy(to.Row(k), a.Positions[i].Row(min(k, a.Positions[i].Rows-1)))
			}
		}
	}
	s.readLayers(m, a.Names)
	if err := cmp.Or(s.Err, s.unused()); err != nil {
		return model.File{}, err
	}
	tokenizers, err := vocab.Tokenizers{Source: a.Src.Tokenizer, Target: a.Tgt.Tokenizer}.Marshal()
	return model.File{Model: m, Steps: s.steps, Tokenizers: tokenizers, Info: map[string]string{}}, err
}
