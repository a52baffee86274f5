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
// or transformer-new. Its vocabularies are those that NAME.decoder.yml beside it lists, in the same
// folder whatever their path, or else the SentencePiece models in it: one *.spm, or two whose names
// begin with "source" or "src" and "target", "trg" or "tgt". Vocabularies in YAML need source.spm
// and target.spm in the folder. The error names what a model has that tfm's Transformer does not,
// for example average attention.
//
// Dropout and label smoothing are those of NAME.npz.yml, the configuration of the training run, if
// it is beside the model. Only training uses them.
//
// Searches of the model give what Marian's give: see model.SearchShrinking and, for models of type
// transformer with norms before the sublayers, Decoding.UnnormedKeys. Scores are divided by
// n^normalize of the decoder.yml, 0 without it. Its beam and its limit of the length are kept,
// without it Marian's: 12 hypotheses, and three tokens for each of the source.
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

// readPositions returns the tables of learned positions.
func (r *marianReader) readPositions() (tables [2]mat.Matrix) {
	if r.config.Positions != model.Learned {
		return tables
	}
	for i, name := range r.positions {
		n := r.shape(name, 2)[0]
		if r.isNew && n != r.config.MaxLen {
			r.fail(name, "found %d positions, expected %d as in the encoder", n, r.config.MaxLen)
		}
		tables[i] = r.matrix(name, n, r.config.DModel)
	}
	return tables
}

// read returns the model with the given vocabularies.
func (r *marianReader) read(src, tgt *vocabulary, joint bool, decoder marianDecoder) (model.File, error) {
	a := assembly{names: r.naming()}
	srcName, tgtName := "encoder_Wemb", "decoder_Wemb"
	if r.tieAll {
		srcName, tgtName = "Wemb", "Wemb"
	}
	var err error
	if a.srcTable, err = r.readTable(srcName, src); err != nil {
		return model.File{}, err
	}
	if a.tgtTable, err = r.readTable(tgtName, tgt); err != nil {
		return model.File{}, err
	}
	if a.src, a.tgt, err = pieceSides(src, tgt, joint); err != nil {
		return model.File{}, err
	}
	a.src.addTargets(&r.config, src)
	switch {
	case r.tieAll && r.tieOut && joint:
		r.config.Tie = model.TieAll
	case r.tieOut:
		r.config.Tie = model.TieDecoder
	default:
		r.config.Tie = model.TieNone
	}
	r.readOutput(&a, len(tgt.tokens))
	a.positions = r.readPositions()
	a.config = r.config
	f, err := r.assemble(&a)
	if err != nil {
		return model.File{}, err
	}
	f.Info["source"] = "Marian " + filepath.Base(r.path)
	f.Decoding = model.Decoding{
		LengthPenalty: model.PenaltyPower, Alpha: decoder.normalize, Search: model.SearchShrinking, UnnormedKeys: r.preNorm && !r.isNew,
		Beam: decoder.beam, LengthFactor: decoder.lengthFactor,
	}
	if !decoder.allowUnknown {
		f.Decoding.Suppressed = a.tgt.suppressed([]int32{int32(tgt.unknown)})
	}
	return f, nil
}

// readTable reads the embeddings of a vocabulary. The decoder starts with one of zeros.
func (r *marianReader) readTable(name string, v *vocabulary) (table, error) {
	n := r.shape(name, 2)[0]
	if r.err != nil {
		return table{}, r.err
	}
	if err := v.checkRows(n, fmt.Sprintf("tensor %q of %s", name, r.path)); err != nil {
		return table{}, err
	}
	return table{r.matrix(name, n, r.config.DModel), -1}, r.err
}

// readOutput reads the output projection to n rows.
func (r *marianReader) readOutput(a *assembly, n int) {
	const name = "decoder_ff_logit_out_"
	if r.has(name + "b") {
		a.bias = r.values(name+"b", 1, n)
	}
	a.outTable.bos = -1
	switch {
	case r.tieOut:
	case r.has(name + "W"): // models of early versions
		a.outTable.Matrix = r.matrix(name+"W", r.config.DModel, n).T()
	default:
		a.outTable.Matrix = r.matrix(name+"Wt", n, r.config.DModel)
	}
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
