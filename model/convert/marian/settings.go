package marian

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"tfm/internal/yaml"
	"tfm/model"
	"tfm/model/convert/internal/parts"
	"tfm/model/decode"
)

// settings are the entries of a model's configuration that are not read yet. err is the first
// error of oneOf and integer.
type settings struct {
	values map[string]*yaml.Node
	err    error
}

// parseSettings decodes configName, which ends at a NUL.
func parseSettings(data []byte) (*settings, error) {
	data, _, _ = bytes.Cut(data, []byte{0})
	root, err := parseYAML(configName, data)
	if err != nil {
		return nil, err
	}
	s := &settings{values: map[string]*yaml.Node{}}
	for _, e := range root.Entries {
		s.values[e.Key] = e.Value
	}
	return s, nil
}

// scalarsOf returns the scalars of a list, none of nil.
func scalarsOf(n *yaml.Node) (list []string) {
	if n != nil {
		for _, item := range n.List {
			list = append(list, item.Scalar)
		}
	}
	return list
}

// fail sets s.err, unless there is an earlier one.
func (s *settings) fail(format string, args ...any) {
	if s.err == nil {
		s.err = fmt.Errorf(format, args...)
	}
}

// get returns the value of a key, or def if it has none.
func (s *settings) get(key, def string) string {
	v, ok := s.values[key]
	if !ok {
		return def
	}
	delete(s.values, key)
	if !v.IsScalar() {
		s.fail("%s: found a list, expected one value", key)
	}
	return v.Scalar
}

// oneOf returns the value of a key, which must be one of values. The first is the default.
func (s *settings) oneOf(key string, values ...string) string {
	v := s.get(key, values[0])
	if !slices.Contains(values, v) {
		var quoted []string
		for _, v := range values {
			quoted = append(quoted, strconv.Quote(v))
		}
		s.fail("%s: found %.40q, expected %s: tfm's Transformer has no other", key, v, strings.Join(quoted, " or "))
	}
	return v
}

// isOn returns the value of a switch, which is off by default.
func (s *settings) isOn(key string) bool { return s.oneOf(key, "false", "true") == "true" }

// integer returns the value of a key.
func (s *settings) integer(key string, def int) int {
	v := s.get(key, strconv.Itoa(def))
	n, err := strconv.ParseInt(v, 10, 32)
	if err != nil {
		s.fail("%s: found %.40q, expected a number", key, v)
	}
	return int(n)
}

// unusedSettings have no effect on a Transformer, or none on translations.
var unusedSettings = []string{
	"version", "dim-vocabs", "dim-rnn", "enc-type", "enc-cell", "enc-cell-depth", "dec-cell", "dec-cell-base-depth", "dec-cell-high-depth", "skip",
	"layer-normalization", "lemma-dim-emb", "factors-dim-emb", "factors-combine", "lemma-dependency", "separator-symbol",
	"bert-train-type-embeddings", "bert-type-vocab-size", "transformer-aan-activation", "transformer-aan-depth", "transformer-aan-nogate", "transformer-dim-aan",
	"transformer-depth-scaling", "transformer-guided-alignment-layer", "transformer-rnn-projection", "ulr-dim-emb", "max-length",
	"char-stride", "char-highway", "char-conv-filters-num", "char-conv-filters-widths", "original-type",
}

// rest reports the first setting that is unknown and not off.
func (s *settings) rest() error {
	for _, key := range unusedSettings {
		delete(s.values, key)
	}
	var left []string
	for key, v := range s.values {
		isOff := v.Entries == nil && len(v.List) == 0 && slices.Contains([]string{"", "false", "0", "default"}, v.Scalar)
		if !isOff {
			left = append(left, key)
		}
	}
	if len(left) == 0 {
		return nil
	}
	slices.Sort(left)
	v := s.values[left[0]]
	return fmt.Errorf("%.40s: found %.40q, expected it to be off: tfm's Transformer does not have it", left[0], strings.Join(append(scalarsOf(v), v.Scalar), " "))
}

// reader reads the arrays of a model.
type reader struct {
	*parts.Tensors
	settings *settings

	config model.Config
	tied   []int // number of the decoder layer whose weights each decoder layer has, from 1
	tieAll bool  // one matrix for the embeddings of both sides
	tieOut bool  // and for the output projection: that of the target
}

// configure sets r.config from the settings. Sizes of vocabularies are set later.
func (r *reader) configure() error {
	s, c := r.settings, &r.config
	s.oneOf("type", "transformer")
	c.DModel, c.Heads, c.DFF = s.integer("dim-emb", 512), s.integer("transformer-heads", 8), s.integer("transformer-dim-ffn", 2048)
	c.EncoderLayers, c.DecoderLayers = s.integer("enc-depth", 1), s.integer("dec-depth", 1)
	s.oneOf("transformer-decoder-dim-ffn", "0", strconv.Itoa(c.DFF))
	s.oneOf("transformer-ffn-depth", "2")
	s.oneOf("transformer-decoder-ffn-depth", "0", "2")
	r.configureDecoder()
	trainsPositions := false
	for _, key := range []string{"transformer-train-positions", "transformer-learned-positions", "transformer-train-position-embeddings"} {
		trainsPositions = s.isOn(key) || trainsPositions
	}
	s.oneOf("transformer-postprocess-emb", "d", "")
	c.Activation = map[string]model.Activation{"swish": model.SiLU, "relu": model.ReLU}[s.oneOf("transformer-ffn-activation", "swish", "relu")]
	pre, post := s.oneOf("transformer-preprocess", "", "d", "n", "nd", "r", "rd"), s.oneOf("transformer-postprocess", "dan", "an", "da", "a", "dar", "ar")
	top := s.oneOf("transformer-postprocess-top", "", "d", "n", "nd", "dn", "r", "rd", "dr")
	all, out, src := s.isOn("tied-embeddings-all"), s.isOn("tied-embeddings"), s.isOn("tied-embeddings-src")
	r.tieAll, r.tieOut = all || src, all || out
	c.OutputBias = true
	if s.isOn("output-omit-bias") && r.Has("decoder_ff_logit_out_b") {
		s.fail("output-omit-bias: found true, but also a bias")
	}
	if s.err != nil {
		return s.err
	}
	c.Positions, c.NormEps, c.Biases, c.MaxLen = model.TimingSignal, normEps, model.AllBiases, maxLenOf(c.DModel)
	// Since version 1.8 Marian does not read transformer-train-position-embeddings: such models
	// have sinusoids, and no table. With a table, whose last row is that of all further
	// positions, embeddings have no scale.
	if trainsPositions && r.Has(positionsTable) {
		c.Positions, c.Unscaled = model.Learned, true
		c.MaxLen = max(c.MaxLen, r.Shape(positionsTable, 2)[0])
	}
	if err := r.configureNorms(pre, post, top); err != nil {
		return err
	}
	if err := r.configureTiedLayers(); err != nil {
		return err
	}
	return s.rest()
}

// configureDecoder sets the first sublayer of decoder layers. Without an SSRU the settings of cells
// have no effect.
func (r *reader) configureDecoder() {
	s := r.settings
	if s.oneOf("transformer-decoder-autoreg", "self-attention", "rnn") == "self-attention" {
		return
	}
	r.config.Autoreg = model.SSRU
	s.oneOf("dec-cell", "ssru")
	s.oneOf("dec-cell-base-depth", "2")
	s.oneOf("dec-cell-high-depth", "1")
	s.oneOf("transformer-rnn-projection", "false")
	s.oneOf("layer-normalization", "false") // of cells
}

// normEps is the eps of all norms since version 1.10, 1e-9 before.
const normEps = 1e-6

// maxLenOf returns the length limit of sentences: Marian has none, a table of sinusoids has.
func maxLenOf(d int) int { return min(1024, max(2, 1<<26/max(1, d))) }

// positionsTable is the table of learned positions, of both sides.
const positionsTable = "Wpos"

// configureNorms sets the norms from the operations before and after sublayers, and after stacks:
// 'd' dropout, 'a' the residual, 'n' a norm, 'r' an RMSNorm.
func (r *reader) configureNorms(pre, post, top string) error {
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
		c.Norm = model.PreNorm
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
func (r *reader) configureTiedLayers() error {
	const key = "transformer-tied-layers"
	list := scalarsOf(r.settings.values[key])
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

// readTraining sets the dropout and the smoothing of c to those of the run that trained the
// model in a file of f, if its configuration is beside it. The rest of that file is ignored.
func readTraining(f parts.Folder, file string, c *model.Config) error {
	base, _, _ := strings.Cut(file, ".npz") // also of NAME.npz.best-bleu.npz
	name := base + ".npz.yml"
	if !f.Has(name) {
		name = strings.Replace(base, ".model", ".train", 1) + ".log" // of OPUS-MT
	}
	if !f.Has(name) {
		return nil
	}
	data, err := f.Read(name)
	if err != nil {
		return err
	}
	fields := map[string]*float32{
		"transformer-dropout": &c.Dropout, "transformer-dropout-attention": &c.AttentionDropout, "transformer-dropout-ffn": &c.FFDropout,
		"label-smoothing": &c.LabelSmoothing,
	}
	for line := range strings.Lines(string(data)) {
		if _, setting, ok := strings.Cut(line, "[config] "); ok { // in a log
			line = setting
		}
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		field := fields[key]
		if field == nil {
			continue
		}
		x, err := strconv.ParseFloat(value, 32)
		if err != nil || !(x >= 0 && x < 1) {
			return fmt.Errorf("%s: %s: found %.40q, expected at least 0 and below 1", f.Name(name), key, value)
		}
		*field = float32(x)
	}
	if c.LabelSmoothing > 0 {
		c.Smoothing = model.SmoothAll
	}
	return nil
}

const decoderFile = "decoder.yml" // also NAME.decoder.yml

// search holds the settings of decoderFile.
type search struct {
	model        string // name of its file, or ""
	vocabs       []string
	normalize    float64
	lengthFactor float64
	beam         int
	allowUnknown bool
	shortlist    string // name of its file, or ""
}

// readDecoder reads the settings of a decoder of the named model, or of the folder's for "".
// They are Marian's defaults if the file does not exist, or of a model in .bin those of Firefox and
// Bergamot, whose settings can be in a config*.yml.
func readDecoder(f parts.Folder, file string) (d search, err error) {
	d.beam, d.lengthFactor = 12, 3
	names := slices.Sorted(maps.Keys(f.Files))
	isBin := file != "" && !isNpz(file) || file == "" && !slices.ContainsFunc(names, isNpz)
	if isBin {
		d.beam, d.lengthFactor, d.normalize = 1, 2, 1
	}
	name := file + "." + decoderFile
	if file == "" && f.Has(modelFile) {
		name = modelFile + "." + decoderFile
	}
	if !f.Has(name) {
		name = decoderFile
	}
	if i := slices.IndexFunc(names, func(name string) bool { return strings.HasPrefix(name, "config") && path.Ext(name) == ".yml" }); isBin && i >= 0 && !f.Has(name) {
		name = names[i]
	}
	if !f.Has(name) {
		return d, nil
	}
	data, err := f.Read(name)
	if err != nil {
		return d, err
	}
	settings, err := parseYAML(f.Name(name), data)
	if err != nil {
		return d, err
	}
	if v := settings.Find("vocabs"); v != nil {
		if d.vocabs = scalarsOf(v); len(d.vocabs) != 2 {
			return d, fmt.Errorf("%s: vocabs: found %d, expected 2, of the source and the target", f.Name(name), len(d.vocabs))
		}
	}
	models := scalarsOf(settings.Find("models"))
	if n := len(models); n > 1 {
		return d, fmt.Errorf("%s: models: found %d, expected 1: an ensemble is not one model", f.Name(name), n)
	} else if n == 1 {
		d.model = baseName(models[0])
	}
	beam, wordPenalty := float64(d.beam), 0.0
	for _, x := range []struct {
		key         string
		to          *float64
		least, most float64
		expected    string
	}{
		{"normalize", &d.normalize, 0, 10, "0 to 10"},
		{"beam-size", &beam, 1, decode.MaxBeam, fmt.Sprint("1 to ", decode.MaxBeam)},
		{"max-length-factor", &d.lengthFactor, math.SmallestNonzeroFloat64, decode.MaxLengthFactor, fmt.Sprint("above 0, up to ", decode.MaxLengthFactor)},
		{"word-penalty", &wordPenalty, 0, 0, "0: tfm has no word penalty"},
	} {
		v := settings.Find(x.key)
		if v == nil {
			continue
		}
		if *x.to, err = strconv.ParseFloat(v.Scalar, 64); err != nil || !(*x.to >= x.least && *x.to <= x.most) {
			return d, fmt.Errorf("%s: %s: found %.40q, expected %s", f.Name(name), x.key, v.Scalar, x.expected)
		}
	}
	if d.beam = int(beam); float64(d.beam) != beam {
		return d, fmt.Errorf("%s: beam-size: found %v, expected a whole number", f.Name(name), beam)
	}
	if list := scalarsOf(settings.Find("shortlist")); len(list) > 0 {
		d.shortlist = list[0]
	}
	if v := settings.Find("allow-unk"); v != nil {
		d.allowUnknown = v.Scalar == "true"
	}
	return d, nil
}
