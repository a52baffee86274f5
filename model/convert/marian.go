package convert

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"tfm/mat"
	"tfm/model"
	"tfm/text/sentencepiece"
)

// marianConfigName is the array with the model's configuration in YAML.
const marianConfigName = "special:model.yml"

// marianFile is the name of a model of Marian in a folder.
const marianFile = "model.npz"

// isMarian reports whether path is a model of Marian, or a folder with one.
func isMarian(path string, isDir bool) bool {
	return isDir && isFile(path, marianFile) || !isDir && filepath.Ext(path) == ".npz"
}

// ReadMarian reads a model of Marian, an .npz file or a folder with model.npz. Its vocabularies are
// those that NAME.decoder.yml beside it lists, in the same folder whatever their path, or else the
// SentencePiece models in it: one *.spm, or two whose names begin with "source" or "src" and
// "target", "trg" or "tgt". Vocabularies in YAML need source.spm and target.spm in the folder. The
// error names what a model has that tfm's Transformer does not, for example average attention.
//
// Dropout and label smoothing are those of NAME.npz.yml, the configuration of the training run, if
// it is beside the model. Only training uses them.
//
// Searches of the model give what Marian's give: see model.SearchShrinking and, for models with
// norms before the sublayers, Decoding.UnnormedKeys. Scores are divided by n^normalize of the
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
	if err := readMarianTraining(path, &r.config); err != nil {
		return model.File{}, err
	}
	decoder, err := readMarianDecoder(path + ".decoder.yml")
	if err != nil {
		return model.File{}, err
	}
	src, tgt, err := marianVocabularies(path, decoder.vocabs)
	if err != nil {
		return model.File{}, err
	}
	return r.read(src, tgt, decoder)
}

// marianSettings are the entries of a model's configuration that are not read yet.
type marianSettings struct{ values map[string]yamlValue }

func parseMarianSettings(text []byte) (*marianSettings, error) {
	entries, err := parseYAML(text)
	if err != nil {
		return nil, err
	}
	s := &marianSettings{map[string]yamlValue{}}
	for _, e := range entries {
		s.values[e.key] = e.value
	}
	return s, nil
}

// get returns the value of a key, or def if it has none.
func (s *marianSettings) get(key, def string) (string, error) {
	v, ok := s.values[key]
	if !ok {
		return def, nil
	}
	delete(s.values, key)
	if v.isList {
		return "", fmt.Errorf("%s: found a list, expected one value", key)
	}
	return v.scalar, nil
}

// oneOf returns the value of a key, which must be one of values. The first is the default.
func (s *marianSettings) oneOf(key string, values ...string) (string, error) {
	v, err := s.get(key, values[0])
	if err != nil {
		return "", err
	}
	if !slices.Contains(values, v) {
		return "", fmt.Errorf("%s: found %.40q, expected %s: tfm's Transformer has no other", key, v, quotedList(values))
	}
	return v, nil
}

func quotedList(values []string) string {
	var quoted []string
	for _, v := range values {
		quoted = append(quoted, strconv.Quote(v))
	}
	return strings.Join(quoted, " or ")
}

// integer returns the value of a key.
func (s *marianSettings) integer(key string, def int) (int, error) {
	v, err := s.get(key, strconv.Itoa(def))
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(v, 10, 32)
	if err != nil {
		return 0, fmt.Errorf("%s: found %.40q, expected a number", key, v)
	}
	return int(n), nil
}

// unusedMarianSettings have no effect on a Transformer, or none on translations.
var unusedMarianSettings = []string{
	"version", "dim-vocabs", "dim-rnn", "enc-type", "enc-cell", "enc-cell-depth", "dec-cell", "dec-cell-base-depth", "dec-cell-high-depth", "skip",
	"layer-normalization", "lemma-dim-emb", "factors-dim-emb", "factors-combine", "lemma-dependency", "separator-symbol",
	"bert-train-type-embeddings", "bert-type-vocab-size", "transformer-aan-activation", "transformer-aan-depth", "transformer-aan-nogate", "transformer-dim-aan",
	"transformer-depth-scaling", "transformer-guided-alignment-layer", "transformer-rnn-projection", "ulr-dim-emb", "max-length",
	"char-stride", "char-highway", "char-conv-filters-num", "char-conv-filters-widths", "original-type",
}

// rest reports the first setting that is unknown and not off.
func (s *marianSettings) rest() error {
	for _, key := range unusedMarianSettings {
		delete(s.values, key)
	}
	var left []string
	for key, v := range s.values {
		off := v.isList && len(v.list) == 0 || !v.isList && slices.Contains([]string{"", "false", "0", "default", "~", "null"}, v.scalar)
		if !off {
			left = append(left, key)
		}
	}
	if len(left) == 0 {
		return nil
	}
	slices.Sort(left)
	v := s.values[left[0]]
	return fmt.Errorf("%.40s: found %.40q, expected it to be off: tfm's Transformer does not have it", left[0], strings.Join(append(v.list, v.scalar), " "))
}

// marianReader reads the arrays of a model.
type marianReader struct {
	*npzFile
	settings *marianSettings

	config  model.Config
	tied    []int // number of the decoder layer whose weights each decoder layer has, from 1
	preNorm bool
	tieAll  bool // one matrix for the embeddings of both sides
	tieOut  bool // and for the output projection: that of the target
}

// configure sets r.config from the settings. Sizes of vocabularies are set later.
func (r *marianReader) configure() error {
	s, c := r.settings, &r.config
	var err error
	number := func(dst *int, key string, def int) {
		if err == nil {
			*dst, err = s.integer(key, def)
		}
	}
	choice := func(key string, values ...string) (v string) {
		if err == nil {
			v, err = s.oneOf(key, values...)
		}
		return v
	}
	choice("type", "transformer")
	number(&c.DModel, "dim-emb", 512)
	number(&c.Heads, "transformer-heads", 8)
	number(&c.DFF, "transformer-dim-ffn", 2048)
	number(&c.EncoderLayers, "enc-depth", 1)
	number(&c.DecoderLayers, "dec-depth", 1)
	width := strconv.Itoa(c.DFF)
	choice("transformer-decoder-dim-ffn", "0", width)
	choice("transformer-ffn-depth", "2")
	choice("transformer-decoder-ffn-depth", "0", "2")
	choice("transformer-decoder-autoreg", "self-attention")
	trainsPositions := false
	for _, key := range []string{"transformer-train-positions", "transformer-learned-positions", "transformer-train-position-embeddings"} {
		trainsPositions = choice(key, "false", "true") == "true" || trainsPositions
	}
	choice("transformer-postprocess-emb", "d", "")
	c.Activation = map[string]model.Activation{"swish": model.SiLU, "relu": model.ReLU}[choice("transformer-ffn-activation", "swish", "relu")]
	pre, post := choice("transformer-preprocess", "", "d", "n", "nd", "r", "rd"), choice("transformer-postprocess", "dan", "an", "da", "a", "dar", "ar")
	top := choice("transformer-postprocess-top", "", "d", "n", "nd", "dn", "r", "rd", "dr")
	if err != nil {
		return err
	}
	c.Positions, c.NormEps, c.Biases, c.MaxLen = model.TimingSignal, 1e-6, model.AllBiases, marianMaxLen(c.DModel)
	if trainsPositions {
		if err := r.configurePositions(); err != nil {
			return err
		}
	}
	if err := r.configureNorms(pre, post, top); err != nil {
		return err
	}
	r.tieAll = choice("tied-embeddings-all", "false", "true") == "true"
	r.tieOut = choice("tied-embeddings", "false", "true") == "true" || r.tieAll
	if choice("tied-embeddings-src", "false", "true") == "true" && !r.tieAll {
		r.tieAll = true
	}
	c.OutputBias = true
	if omit := choice("output-omit-bias", "false", "true"); omit == "true" && r.has("decoder_ff_logit_out_b") {
		err = errors.New("output-omit-bias: found true, but also a bias")
	}
	if err != nil {
		return err
	}
	if err := r.configureTiedLayers(); err != nil {
		return err
	}
	return s.rest()
}

// marianMaxLen returns the length limit of sentences: Marian has none, a table of sinusoids has.
func marianMaxLen(d int) int { return min(1024, max(2, 1<<26/max(1, d))) }

// marianPositions is the table of learned positions of both sides.
const marianPositions = "Wpos"

// configurePositions sets the positions of a model whose settings ask for learned ones. Since
// version 1.8 Marian's type transformer has an option transformer-train-position-embeddings that it
// does not read: such models have no table, and sinusoids. With a table embeddings have no scale,
// and the last row is that of all further positions.
func (r *marianReader) configurePositions() error {
	if !r.has(marianPositions) {
		return nil
	}
	shape, err := r.shape(marianPositions, 2)
	if err != nil {
		return err
	}
	c := &r.config
	c.Positions, c.Unscaled, c.MaxLen = model.Learned, true, max(c.MaxLen, shape[0])
	return nil
}

// readPositions sets learned positions.
func (r *marianReader) readPositions(m *model.Transformer) error {
	if r.config.Positions != model.Learned {
		return nil
	}
	shape, err := r.shape(marianPositions, 2)
	if err != nil {
		return err
	}
	table, err := r.matrix(marianPositions, shape[0], r.config.DModel)
	if err != nil {
		return err
	}
	for _, side := range []mat.Matrix{m.SrcEmbed.Learned.Weights(), m.TgtEmbed.Learned.Weights()} {
		for i := range side.Rows {
			copy(side.Row(i), table.Row(min(i, table.Rows-1)))
		}
	}
	return nil
}

// marianTraining are the settings of training in the configuration of a run, NAME.npz.yml, with
// their fields.
func marianTraining(c *model.Config) map[string]*float32 {
	return map[string]*float32{
		"transformer-dropout": &c.Dropout, "transformer-dropout-attention": &c.AttentionDropout, "transformer-dropout-ffn": &c.FFDropout,
		"label-smoothing": &c.LabelSmoothing,
	}
}

// readMarianTraining sets the dropout and the smoothing of c to those of the run that trained the
// model at path, if its configuration is beside it. The rest of that file is ignored.
func readMarianTraining(path string, c *model.Config) error {
	base, _, _ := strings.Cut(filepath.Base(path), ".npz") // also of NAME.npz.best-bleu.npz
	name := filepath.Join(filepath.Dir(path), base+".npz.yml")
	data, err := readSmall(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	fields := marianTraining(c)
	for line := range strings.Lines(string(data)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		field := fields[key]
		if field == nil {
			continue
		}
		x, err := strconv.ParseFloat(value, 32)
		if err != nil || !(x >= 0 && x < 1) {
			return fmt.Errorf("%s: %s: found %.40q, expected at least 0 and below 1", name, key, value)
		}
		*field = float32(x)
	}
	if c.LabelSmoothing > 0 {
		c.Smoothing = model.SmoothAll
	}
	return nil
}

// configureNorms sets the norms from the operations before and after sublayers, and after stacks:
// 'd' dropout, 'a' the residual, 'n' a norm, 'r' an RMSNorm.
func (r *marianReader) configureNorms(pre, post, top string) error {
	c := &r.config
	norms := func(ops string) string { return strings.Trim(ops, "da") }
	pre, post, top = norms(pre), norms(post), norms(top)
	if (pre == "") == (post == "") {
		return fmt.Errorf("transformer-preprocess and transformer-postprocess: found norms %q and %q, expected one of them: tfm's Transformer has no other", pre, post)
	}
	if top != "" && top != pre+post {
		return fmt.Errorf("transformer-postprocess-top: found norm %q, expected %q as in the layers", top, pre+post)
	}
	if pre != "" {
		c.Norm, r.preNorm = model.PreNorm, true
	}
	if pre+post == "r" {
		c.NormKind = model.RMSNorm
	}
	c.FinalNorm = model.FinalNormOff
	if top != "" {
		c.FinalNorm = model.FinalNormOn
	}
	return nil
}

// configureTiedLayers reads transformer-tied-layers.
func (r *marianReader) configureTiedLayers() error {
	const key = "transformer-tied-layers"
	list := r.settings.values[key].list
	delete(r.settings.values, key)
	for i := range max(0, min(r.config.DecoderLayers, 1000)) {
		r.tied = append(r.tied, i+1)
	}
	if len(list) == 0 {
		return nil
	}
	if len(list) != r.config.DecoderLayers {
		return fmt.Errorf("%s: found %d layers, expected %d as in dec-depth", key, len(list), r.config.DecoderLayers)
	}
	for i, word := range list {
		n, err := strconv.ParseUint(word, 10, 16)
		if err != nil || n < 1 {
			return fmt.Errorf("%s: found %.40q, expected the number of a layer", key, word)
		}
		r.tied[i] = int(n)
	}
	return nil
}

// read returns the model with the given vocabularies.
func (r *marianReader) read(src, tgt marianSide, decoder marianDecoder) (model.File, error) {
	srcName, tgtName := "encoder_Wemb", "decoder_Wemb"
	if r.tieAll {
		srcName, tgtName = "Wemb", "Wemb"
	}
	tables := map[string]mat.Matrix{}
	for name, v := range map[string]*marianVocab{srcName: src.vocab, tgtName: tgt.vocab} {
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
	s, t, err := joinVocabs(src, tgt)
	if err != nil {
		return model.File{}, err
	}
	c := &r.config
	c.SrcVocab, c.TgtVocab = s.tokenizer.Size(), t.tokenizer.Size()
	switch {
	case r.tieAll && r.tieOut && src.vocab == tgt.vocab:
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
	s.setEmbedding(m.SrcEmbed.E.Weights(), tables[srcName], zeros, src.vocab.unk)
	t.setEmbedding(m.TgtEmbed.E.Weights(), tables[tgtName], zeros, tgt.vocab.unk)
	if err := r.readOutput(m, t, tgt.vocab); err != nil {
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
	if f.Tokenizers, err = marshalRows(s, t); err != nil {
		return model.File{}, err
	}
	f.Decoding = model.Decoding{
		LengthPenalty: model.PenaltyPower, Alpha: decoder.normalize, Search: model.SearchShrinking, UnnormedKeys: r.preNorm,
		Beam: decoder.beam, LengthFactor: decoder.lengthFactor,
	}
	if !decoder.allowUnknown {
		f.Decoding.Suppressed = t.suppressedOf([]int32{tgt.vocab.unk})
	}
	if err := f.Decoding.Validate(); err != nil {
		return model.File{}, fmt.Errorf("%s.decoder.yml: %w", r.path, err)
	}
	return f, nil
}

// readOutput sets the output projection.
func (r *marianReader) readOutput(m *model.Transformer, t *rows, v *marianVocab) error {
	const name = "decoder_ff_logit_out_"
	n, d := len(v.names), r.config.DModel
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
	t.setEmbedding(m.Output.E.Weights(), w, -1, v.unk)
	return nil
}

// naming returns the names of the layers.
func (r *marianReader) naming() *naming {
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

// marianDecoder holds the settings of NAME.decoder.yml.
type marianDecoder struct {
	vocabs       []string
	normalize    float64
	lengthFactor float64
	beam         int
	allowUnknown bool
}

// readMarianDecoder reads the settings of a decoder. They are Marian's defaults if the file does
// not exist.
func readMarianDecoder(path string) (d marianDecoder, err error) {
	d.beam, d.lengthFactor = 12, 3
	data, err := readSmall(path)
	if errors.Is(err, os.ErrNotExist) {
		return d, nil
	} else if err != nil {
		return d, err
	}
	entries, err := parseYAML(data)
	if err != nil {
		return d, fmt.Errorf("%s: %w", path, err)
	}
	for _, e := range entries {
		v := e.value.scalar
		fail := func(expected string) error {
			return fmt.Errorf("%s: %s: found %.40q, expected %s", path, e.key, v, expected)
		}
		switch e.key {
		case "vocabs":
			if d.vocabs = e.value.list; len(d.vocabs) != 2 {
				return d, fmt.Errorf("%s: vocabs: found %d, expected 2, of the source and the target", path, len(d.vocabs))
			}
		case "models":
			if len(e.value.list) > 1 {
				return d, fmt.Errorf("%s: models: found %d, expected 1: an ensemble is not one model", path, len(e.value.list))
			}
		case "normalize":
			if d.normalize, err = strconv.ParseFloat(v, 64); err != nil || !(d.normalize >= 0 && d.normalize <= 10) {
				return d, fail("0 to 10")
			}
		case "beam-size":
			if d.beam, err = strconv.Atoi(v); err != nil || d.beam < 1 || d.beam > model.MaxBeam {
				return d, fail(fmt.Sprint("1 to ", model.MaxBeam))
			}
		case "max-length-factor":
			if d.lengthFactor, err = strconv.ParseFloat(v, 64); err != nil || !(d.lengthFactor > 0 && d.lengthFactor <= model.MaxLengthFactor) {
				return d, fail(fmt.Sprint("above 0, up to ", model.MaxLengthFactor))
			}
		case "word-penalty":
			if x, err := strconv.ParseFloat(v, 64); err != nil || x != 0 {
				return d, fail("0: tfm has no word penalty")
			}
		case "allow-unk":
			d.allowUnknown = v == "true"
		}
	}
	return d, nil
}

// marianVocabularies returns the vocabularies of the model at path.
func marianVocabularies(path string, listed []string) (src, tgt marianSide, err error) {
	dir := filepath.Dir(path)
	if len(listed) == 0 {
		if listed, err = findSentencePiece(dir); err != nil {
			return src, tgt, err
		}
	}
	var paths [2]string
	for i, name := range listed {
		paths[i] = filepath.Join(dir, filepath.Base(strings.ReplaceAll(name, "\\", "/")))
	}
	if src, err = readMarianVocab(paths[0], "source"); err != nil {
		return src, tgt, err
	}
	if tgt, err = readMarianVocab(paths[1], "target"); err != nil {
		return src, tgt, err
	}
	if paths[0] == paths[1] {
		tgt.vocab = src.vocab
		if equalTokenizers(src.tokenizer, tgt.tokenizer) {
			tgt.tokenizer = src.tokenizer
		}
	}
	return src, tgt, nil
}

// findSentencePiece returns the names of the SentencePiece models in dir.
func findSentencePiece(dir string) ([]string, error) {
	paths, err := filepath.Glob(filepath.Join(escapeGlob(dir), "*.spm"))
	if err != nil {
		return nil, err
	}
	var names, src, tgt []string
	for _, path := range paths {
		name := filepath.Base(path)
		names = append(names, name)
		hasPrefix := func(prefix string) bool { return strings.HasPrefix(name, prefix) }
		switch {
		case slices.ContainsFunc([]string{"source", "src"}, hasPrefix):
			src = append(src, name)
		case slices.ContainsFunc([]string{"target", "trg", "tgt"}, hasPrefix):
			tgt = append(tgt, name)
		}
	}
	switch {
	case len(names) == 1:
		return []string{names[0], names[0]}, nil
	case len(names) == 2 && len(src) == 1 && len(tgt) == 1:
		return []string{src[0], tgt[0]}, nil
	}
	return nil, fmt.Errorf("%s: found %d SentencePiece models, *.spm, expected one, or source.spm and target.spm, or a .decoder.yml beside the model that lists vocabs", dir, len(names))
}

// escapeGlob escapes the special characters of filepath.Match.
func escapeGlob(dir string) string {
	return strings.NewReplacer(`*`, `[*]`, `?`, `[?]`, `[`, `[[]`).Replace(dir)
}

// readMarianVocab reads the vocabulary of a side, a SentencePiece model or a YAML file.
func readMarianVocab(path, side string) (marianSide, error) {
	switch filepath.Ext(path) {
	case ".spm":
		m, err := readSentencePiece(path)
		if err != nil {
			return marianSide{}, err
		}
		v, err := ofSentencePiece(path, m.Model())
		return marianSide{v, m}, err
	case ".yml", ".yaml":
		return readYAMLVocab(path, side)
	}
	return marianSide{}, fmt.Errorf("%s: found a vocabulary of another kind, expected a SentencePiece model, .spm, or YAML, .yml", path)
}

// readYAMLVocab reads a vocabulary in YAML, and the SentencePiece model of a side beside it.
func readYAMLVocab(path, side string) (marianSide, error) {
	data, err := readSmall(path)
	if err != nil {
		return marianSide{}, err
	}
	entries, err := parseYAML(data)
	if err != nil {
		return marianSide{}, fmt.Errorf("%s: %w", path, err)
	}
	ids := map[string]int32{}
	for _, e := range entries {
		id, err := strconv.ParseUint(e.value.scalar, 10, 31)
		if err != nil {
			return marianSide{}, fmt.Errorf("%s: found id %.40q of %.40q, expected a number", path, e.value.scalar, e.key)
		}
		ids[e.key] = int32(id)
	}
	v := &marianVocab{path: path, unknownText: sentencepiece.NewTrainerSpec().UnknownSurface}
	if v.names, err = indexNames(path, ids); err != nil {
		return marianSide{}, err
	}
	if err := v.find("</s>", "<unk>"); err != nil {
		return marianSide{}, err
	}
	var m *sentencepiece.Tokenizer
	if m, err = readSentencePiece(filepath.Join(filepath.Dir(path), side+".spm")); err != nil {
		return marianSide{}, fmt.Errorf("%w (a vocabulary in YAML does not split text into pieces)", err)
	}
	return marianSide{v, m}, nil
}
