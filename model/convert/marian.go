package convert

import (
	"fmt"
	"path/filepath"

	"tfm/mat"
	"tfm/model"
)

// marianConfigName is the array with the model's configuration in YAML.
const marianConfigName = "special:model.yml"

// marianFile is the name of a model of Marian in a folder.
const marianFile = "model.npz"

// isMarian reports whether path is a model of Marian, or a folder with one.
func isMarian(path string, isDir bool) bool {
	return isDir && isFile(path, marianFile) || !isDir && filepath.Ext(path) == ".npz"
}

// ReadMarian reads a model of Marian, an .npz file or a folder with model.npz, of type transformer
// or transformer-new. Its vocabularies are
// those that NAME.decoder.yml beside it lists, in the same folder whatever their path, or else the
// SentencePiece models in it: one *.spm, or two whose names begin with "source" or "src" and
// "target", "trg" or "tgt". Vocabularies in YAML need source.spm and target.spm in the folder. The
// error names what a model has that tfm's Transformer does not, for example average attention.
//
// Dropout and label smoothing are those of NAME.npz.yml, the configuration of the training run, if
// it is beside the model. Only training uses them.
//
// Searches of the model give what Marian's give: see model.SearchShrinking and, for models of type
// transformer with norms before the sublayers, Decoding.UnnormedKeys. Scores are divided by n^normalize of the
// decoder.yml, 0 without it. Its beam and its limit of the length are kept, without it Marian's: 12
// hypotheses, and three tokens for each of the source.
func ReadMarian(path string) (model.File, error) {
	if isMarian(path, true) {
		path = filepath.Join(path, marianFile)
	}
	n, err := openNpz(path)
	if err != nil {
		return model.File{}, err
	}
	defer n.Close()
	text, err := n.text(marianConfigName)
	if err != nil {
		return model.File{}, err
	}
	settings, err := parseMarianSettings(text)
	if err != nil {
		return model.File{}, n.fail(marianConfigName, "%v", err)
	}
	r := &marianReader{npzFile: n, settings: settings}
	if err := r.configure(); err != nil {
		return model.File{}, n.fail(marianConfigName, "%v", err)
	}
	f, err := openFolder(filepath.Dir(path))
	if err != nil {
		return model.File{}, err
	}
	if err := readMarianTraining(f, filepath.Base(path), &r.config); err != nil {
		return model.File{}, err
	}
	decoder, err := readMarianDecoder(f, filepath.Base(path)+".decoder.yml")
	if err != nil {
		return model.File{}, err
	}
	src, tgt, joint, err := marianVocabularies(f, decoder.vocabs)
	if err != nil {
		return model.File{}, err
	}
	return r.read(src, tgt, joint, decoder)
}

// marianReader reads the arrays of a model.
type marianReader struct {
	*npzFile
	settings *marianSettings

	config    model.Config
	isNew     bool      // type transformer-new, whose layers have other names
	positions [2]string // tables of learned positions, of the source and the target
	tied      []int     // number of the decoder layer whose weights each decoder layer has, from 1
	preNorm   bool
	tieAll    bool // one matrix for the embeddings of both sides
	tieOut    bool // and for the output projection: that of the target
}

// readPositions sets learned positions.
func (r *marianReader) readPositions(m *model.Transformer) error {
	if r.config.Positions != model.Learned {
		return nil
	}
	for i, to := range []mat.Matrix{m.SrcEmbed.Learned.Weights(), m.TgtEmbed.Learned.Weights()} {
		shape, err := r.shape(r.positions[i], 2)
		if err != nil {
			return err
		}
		table, err := r.matrix(r.positions[i], shape[0], r.config.DModel)
		if err != nil {
			return err
		}
		if r.isNew && table.Rows != to.Rows {
			return r.fail(r.positions[i], "found %d positions, expected %d as in the encoder", table.Rows, to.Rows)
		}
		for i := range to.Rows {
			copy(to.Row(i), table.Row(min(i, table.Rows-1)))
		}
	}
	return nil
}

// read returns the model with the given vocabularies.
func (r *marianReader) read(src, tgt marianSide, joint bool, decoder marianDecoder) (model.File, error) {
	srcName, tgtName := "encoder_Wemb", "decoder_Wemb"
	if r.tieAll {
		srcName, tgtName = "Wemb", "Wemb"
	}
	tables := map[string]mat.Matrix{}
	for name, v := range map[string]*vocabulary{srcName: src.vocabulary, tgtName: tgt.vocabulary} {
		shape, err := r.shape(name, 2)
		if err != nil {
			return model.File{}, err
		}
		if err := v.checkRows(shape[0], fmt.Sprintf("tensor %q of %s", name, r.path)); err != nil {
			return model.File{}, err
		}
		if tables[name], err = r.matrix(name, shape[0], r.config.DModel); err != nil {
			return model.File{}, err
		}
	}
	s, t, err := pieceSides(src.vocabulary, tgt.vocabulary, src.tokenizer, tgt.tokenizer, joint)
	if err != nil {
		return model.File{}, err
	}
	c := &r.config
	c.SrcVocab, c.TgtVocab = len(s.rows), len(t.rows)
	switch {
	case r.tieAll && r.tieOut && joint:
		c.Tie = model.TieAll
	case r.tieOut:
		c.Tie = model.TieDecoder
	default:
		c.Tie = model.TieNone
	}
	m, err := r.newModel(*c)
	if err != nil {
		return model.File{}, err
	}
	const zeros = -1 // the decoder starts with an embedding of zeros
	s.embed(m.SrcEmbed.E.Weights(), tables[srcName], zeros)
	t.embed(m.TgtEmbed.E.Weights(), tables[tgtName], zeros)
	if err := r.readOutput(m, t, len(tgt.tokens)); err != nil {
		return model.File{}, err
	}
	if err := r.readPositions(m); err != nil {
		return model.File{}, err
	}
	if err := r.readLayers(m, r.naming()); err != nil {
		return model.File{}, err
	}
	if err := r.unused(); err != nil {
		return model.File{}, err
	}
	f := model.File{Model: m, Info: map[string]string{"source": "Marian " + filepath.Base(r.path)}}
	if f.Tokenizers, err = marshalSides(s, t); err != nil {
		return model.File{}, err
	}
	f.Decoding = model.Decoding{
		LengthPenalty: model.PenaltyPower, Alpha: decoder.normalize, Search: model.SearchShrinking, UnnormedKeys: r.preNorm && !r.isNew,
		Beam: decoder.beam, LengthFactor: decoder.lengthFactor,
	}
	if !decoder.allowUnknown {
		f.Decoding.Suppressed = t.suppressed([]int32{int32(tgt.unknown)})
	}
	if err := f.Decoding.Validate(); err != nil {
		return model.File{}, fmt.Errorf("%s.decoder.yml: %w", r.path, err)
	}
	return f, nil
}

// readOutput sets the output projection to n rows.
func (r *marianReader) readOutput(m *model.Transformer, t side, n int) error {
	const name = "decoder_ff_logit_out_"
	d := r.config.DModel
	var bias []float32
	var err error
	if r.has(name + "b") {
		if bias, err = r.values(name+"b", 1, n); err != nil {
			return err
		}
	}
	t.setBias(m.Output.Bias.W, bias, nil)
	if r.tieOut {
		return nil
	}
	var w mat.Matrix
	if r.has(name + "W") { // models of early versions
		w, err = r.matrix(name+"W", d, n)
		w = w.T()
	} else {
		w, err = r.matrix(name+"Wt", n, d)
	}
	if err != nil {
		return err
	}
	t.embed(m.Output.E.Weights(), w, -1)
	return nil
}

// naming returns the names of the layers.
func (r *marianReader) naming() *naming {
	if r.isNew {
		return r.newNaming()
	}
	kind, end := "_ln_*", ""
	if r.config.NormKind == model.RMSNorm {
		kind = "_rms_*"
	}
	if r.preNorm {
		end = "_pre"
	}
	norm := func(name string) string { return name + kind + end }
	return &naming{
		encoder: "encoder_l#_", decoder: "decoder_l#_", first: 1, numbers: r.tied,
		self:         [4]string{"self_*q", "self_*k", "self_*v", "self_*o"},
		cross:        [4]string{"context_*q", "context_*k", "context_*v", "context_*o"},
		encoderNorms: [2]string{norm("self_Wo"), norm("ffn_ffn")},
		decoderNorms: [3]string{norm("self_Wo"), norm("context_Wo"), norm("ffn_ffn")},
		finalNorms:   [2]string{"encoder_top" + kind, "decoder_top" + kind},
		inner:        "ffn_*1", outer: "ffn_*2",
		weight: "W", bias: "b", gain: "scale", normBias: "bias", rows: true,
	}
}

// newNaming returns the names of the layers in type transformer-new.
func (r *marianReader) newNaming() *naming {
	const encoder, decoder = "TransformerBatchEncoder->encoder->", "TransformerBatchDecoder->decoder->"
	norm := "->postprocessor->norm->*"
	if r.preNorm {
		norm = "->preprocessor->norm->*"
	}
	attention := func(name string) [4]string {
		return [4]string{name + "->qProj->*", name + "->kProj->*", name + "->vProj->*", name + "->oProj->*"}
	}
	return &naming{
		encoder:      encoder + "layers->at(#)->as<marian::nn::TransformerEncoderLayer>()->",
		decoder:      decoder + "layers->at(#)->as<marian::nn::TransformerDecoderLayerWithCrossAttention>()->",
		self:         attention("selfAttentionBlock->selfAttention"),
		decoderSelf:  attention("autoRegressiveBlock->selfAttention"),
		cross:        attention("crossAttentionBlock->crossAttention"),
		encoderNorms: [2]string{"selfAttentionBlock" + norm, "filterBlock" + norm},
		decoderNorms: [3]string{"autoRegressiveBlock" + norm, "crossAttentionBlock" + norm, "filterBlock" + norm},
		finalNorms:   [2]string{encoder + "postprocessor->norm->*", decoder + "postprocessor->norm->*"},
		inner:        "filterBlock->layers->at(0)->as<marian::nn::Linear>()->*",
		outer:        "filterBlock->layers->at(3)->as<marian::nn::Linear>()->*",
		weight:       "weight", bias: "bias", gain: "weight", normBias: "bias",
	}
}
