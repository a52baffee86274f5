package convert

import (
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"tfm/mat"
	"tfm/model"
)

// marianConfigName is the array with the model's configuration in YAML.
const marianConfigName = "special:model.yml"

const (
	marianFile    = "model.npz"
	marianDecoder = "decoder.yml" // also NAME.decoder.yml
)

// isMarian reports whether path is a model of Marian, or a folder or a zip archive with one.
func isMarian(path string, isDir bool) bool {
	if !isDir {
		return filepath.Ext(path) == ".npz" || isArchiveWith(path, isNpz)
	}
	f, err := openFolder(path)
	return err == nil && slices.ContainsFunc(slices.Collect(maps.Keys(f.files)), isNpz)
}

// isNpz reports whether a file can be a model.
func isNpz(name string) bool {
	return path.Ext(name) == ".npz" && !strings.HasSuffix(name, ".optimizer.npz")
}

// ReadMarian reads a model of Marian of type transformer or transformer-new: an .npz file, or a
// folder or zip archive with one, such as a release of OPUS-MT. Several files with that ending need
// a decoder.yml that names one of them, or one called model.npz.
//
// Its vocabularies are those that NAME.decoder.yml or decoder.yml beside it lists, in the same
// folder whatever their path, or else the SentencePiece models in it: one *.spm, or two whose names
// begin with "source" or "src" and "target", "trg" or "tgt". Other vocabularies, in YAML or with a
// token in each line, need source.spm and target.spm in the folder, or source.bpe and target.bpe of
// subword-nmt. What preprocess.sh does to text before that is part of the tokenizer. The error
// names what a model has that tfm's Transformer does not, for example average attention.
//
// Dropout and label smoothing are those of the training run, if its configuration, NAME.npz.yml, or
// its log is beside the model. Only training uses them.
//
// Searches of the model give what Marian's give: see model.SearchShrinking and, for models of type
// transformer with norms before the sublayers, Decoding.UnnormedKeys. Scores are divided by
// n^normalize of the decoder.yml, 0 without it. Its beam and its limit of the length are kept,
// without it Marian's: 12 hypotheses, and three tokens for each of the source.
func ReadMarian(path string) (file model.File, err error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return model.File{}, err
	case info.IsDir():
		f, err := openFolder(path)
		if err != nil {
			return model.File{}, err
		}
		return readMarian(f, "")
	case filepath.Ext(path) != ".zip":
		f, err := openFolder(filepath.Dir(path))
		if err != nil {
			return model.File{}, err
		}
		return readMarian(f, filepath.Base(path))
	}
	err = openArchive(path, func(f folder) error {
		root, err := f.root("*.npz", isNpz)
		if err != nil {
			return err
		}
		file, err = readMarian(root, "")
		return err
	})
	return file, err
}

// readMarian reads the named model in f, "" for the only one.
func readMarian(f folder, name string) (model.File, error) {
	d, err := readMarianDecoder(f, name)
	if err != nil {
		return model.File{}, err
	}
	if name == "" {
		if name, err = findNpz(f, d.model); err != nil {
			return model.File{}, err
		}
	}
	n, err := openNpz(f, name)
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
	if err := readMarianTraining(f, name, &r.config); err != nil {
		return model.File{}, err
	}
	src, tgt, joint, err := marianVocabularies(f, d.vocabs)
	if err != nil {
		return model.File{}, err
	}
	srcLangs, tgtLangs := releaseLanguages(f)
	if err := applyPreprocess(f, src, tgt, srcLangs, tgtLangs); err != nil {
		return model.File{}, err
	}
	file, err := r.read(src, tgt, joint, d)
	file.SrcLang, file.TgtLang = onlyLanguage(srcLangs), onlyLanguage(tgtLangs)
	return file, err
}

// findNpz returns the name of the model in f: that of decoder.yml, if it is not "", model.npz, or
// the only one.
func findNpz(f folder, listed string) (string, error) {
	var names []string
	for name := range f.files {
		if isNpz(name) {
			names = append(names, name)
		}
	}
	for _, name := range []string{listed, marianFile} {
		if slices.Contains(names, name) {
			return name, nil
		}
	}
	if len(names) != 1 {
		slices.Sort(names)
		return "", fmt.Errorf("%s: found %d models, *.npz, %.200q, expected one, or a %s that names one of them", f.path, len(names), names[:min(len(names), 3)], marianDecoder)
	}
	return names[0], nil
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
func (r *marianReader) read(src, tgt *vocabulary, joint bool, decoder marianSearch) (model.File, error) {
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
	suppressed := tgt.unnamed
	if !decoder.allowUnknown {
		suppressed = append(suppressed, int32(tgt.unknown))
	}
	f.Decoding.Suppressed = a.tgt.suppressed(suppressed)
	return f, nil
}

// readTable reads the embeddings of a vocabulary. The decoder starts with one of zeros.
func (r *marianReader) readTable(name string, v *vocabulary) (table, error) {
	n := r.shape(name, 2)[0]
	if r.err != nil {
		return table{}, r.err
	}
	if err := v.setRows(n, fmt.Sprintf("tensor %q of %s", name, r.path)); err != nil {
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
