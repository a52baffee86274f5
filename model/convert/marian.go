package convert

import (
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"tfm/mat"
	"tfm/model"
	"tfm/model/decode"
)

// marianConfigName is the array with the model's configuration in YAML.
const marianConfigName = "special:model.yml"

const (
	marianFile    = "model.npz"
	marianDecoder = "decoder.yml" // also NAME.decoder.yml
)

// isMarian reports whether path is a model of Marian, or a folder or a zip archive with one.
func isMarian(path string, isDir bool) bool {
	switch filepath.Ext(strings.TrimSuffix(path, ".gz")) {
	case ".npz", ".bin":
		if !isDir {
			f, name, err := folderOf(path)
			return err == nil && (f.isMarianFile(name) || filepath.Ext(path) == ".npz")
		}
	}
	if !isDir {
		return isArchiveWith(path, isNpz)
	}
	f, err := openFolder(path)
	return err == nil && slices.ContainsFunc(slices.Collect(maps.Keys(f.files)), f.isMarianFile)
}

// folderOf returns the folder of a file, and the name of the file, decompressed, in it.
func folderOf(path string) (folder, string, error) {
	f, err := openFolder(filepath.Dir(path))
	return f, strings.TrimSuffix(filepath.Base(path), ".gz"), err
}

// isMarianFile reports whether a file can be a model. One that cannot be read can, so that reading
// it says why.
func (f folder) isMarianFile(name string) bool {
	if path.Ext(name) != ".bin" || strings.HasPrefix(name, "lex") {
		return isNpz(name)
	}
	word, err := f.firstWord(name)
	return err != nil || word == binModel
}

// isNpz reports whether a file can be a model in NumPy's format.
func isNpz(name string) bool {
	return path.Ext(name) == ".npz" && !strings.HasSuffix(name, ".optimizer.npz")
}

// ReadMarian reads a model of Marian of type transformer: an .npz file, or a folder or zip archive
// with one, such as a release of OPUS-MT. Several files with that ending need a decoder.yml that
// names one of them, or one called model.npz. A folder without one can have a .bin, in float32 or
// intgemm8, as those of Firefox; files of a folder may be compressed, as .gz. Integers of intgemm8
// are multiples of model.File.Steps.
//
// Its vocabularies are those that NAME.decoder.yml or decoder.yml beside it lists, in the same
// folder whatever their path, or else the SentencePiece models in it: one *.spm, or two whose names
// begin with "source" or "src" and "target", "trg" or "tgt". Other vocabularies, in YAML or with a
// token in each line, need source.spm and target.spm in the folder. What preprocess.sh does to text
// before SentencePiece is part of the tokenizer. The error names what a model has that tfm's
// Transformer does not, for example average attention.
//
// Dropout and label smoothing are those of the training run, if its configuration, NAME.npz.yml, or
// its log is beside the model. Only training uses them.
//
// Searches of the model give what Marian's give: see decode.SearchShrinking and, for models with
// norms before the sublayers, Decoding.UnnormedKeys. Scores are divided by
// n^normalize of the decoder.yml, 0 without it. Its beam and its limit of the length are kept,
// without it Marian's: 12 hypotheses, and three tokens for each of the source. Those of a .bin
// without settings are Firefox's: greedy search, two tokens, n^1. A lexical shortlist, lex*.bin or
// lex*.s2t, is the model's.
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
	case !isZip(path):
		f, name, err := folderOf(path)
		if err != nil {
			return model.File{}, err
		}
		return readMarian(f, name)
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
		if name, err = findMarianModel(f, d.model); err != nil {
			return model.File{}, err
		}
	}
	t, text, closer, err := openMarian(f, name)
	if err != nil {
		return model.File{}, err
	}
	defer closer.Close()
	settings, err := parseMarianSettings(text)
	if err != nil {
		return model.File{}, t.failFile("%v", err)
	}
	r := &marianReader{tensors: t, settings: settings}
	if err := r.configure(); err != nil {
		return model.File{}, t.fail(marianConfigName, "%v", err)
	}
	if err := readMarianTraining(f, name, &r.config); err != nil {
		return model.File{}, err
	}
	src, tgt, joint, err := marianVocabularies(f, d.vocabs)
	if err != nil {
		return model.File{}, err
	}
	srcLangs, tgtLangs := releaseLanguages(f)
	rules, err := readPreprocess(f, strings.Join(srcLangs[:min(1, len(srcLangs))], ""))
	if err != nil {
		return model.File{}, err
	}
	if err := src.rewrite(rules); err != nil {
		return model.File{}, err
	}
	lists, err := readMarianShortlist(f, d.shortlist, src, tgt)
	if err != nil {
		return model.File{}, err
	}
	r.checkMultipliers()
	file, err := r.read(src, tgt, joint, d, lists)
	if len(srcLangs) == 0 && len(tgtLangs) == 0 {
		srcLangs, tgtLangs = studentLanguages(f, name)
	}
	file.SrcLang, file.TgtLang = onlyLanguage(srcLangs), onlyLanguage(tgtLangs)
	return file, err
}

// findMarianModel returns the name of the model in f: listed, that of a decoder.yml, or if it is ""
// model.npz, the only .npz or, without any, the only .bin.
func findMarianModel(f folder, listed string) (string, error) {
	if listed != "" {
		if !f.has(listed) {
			return "", fmt.Errorf("%s: found no %.100q, expected the model that the %s names", f.path, listed, marianDecoder)
		}
		return listed, nil
	}
	var npz, bin []string
	for name := range f.files {
		switch {
		case isNpz(name):
			npz = append(npz, name)
		case f.isMarianFile(name):
			bin = append(bin, name)
		}
	}
	names := npz
	if len(names) == 0 {
		names = bin
	}
	if slices.Contains(npz, marianFile) {
		return marianFile, nil
	}
	if len(names) != 1 {
		slices.Sort(names)
		return "", fmt.Errorf("%s: found %d models, *.npz or *.bin, %.200q, expected one, or a %s that names one of them", f.path, len(names), names[:min(len(names), 3)], marianDecoder)
	}
	return names[0], nil
}

// openMarian opens the model of the given name in f, and returns its configuration.
func openMarian(f folder, name string) (s *tensors, config []byte, closer io.Closer, err error) {
	if !isNpz(name) {
		b, err := readBin(f, name)
		if err != nil {
			return nil, nil, nil, err
		}
		return b.tensors, b.config, io.NopCloser(nil), nil
	}
	n, err := openNpz(f, name)
	if err != nil {
		return nil, nil, nil, err
	}
	if config, err = n.text(marianConfigName); err != nil {
		n.Close()
	}
	return n.tensors, config, n, err
}

// marianReader reads the arrays of a model.
type marianReader struct {
	*tensors
	settings *marianSettings

	config model.Config
	tied   []int // number of the decoder layer whose weights each decoder layer has, from 1
	tieAll bool  // one matrix for the embeddings of both sides
	tieOut bool  // and for the output projection: that of the target
}

// read returns the model with the given vocabularies.
func (r *marianReader) read(src, tgt *vocabulary, joint bool, decoder marianSearch, lists *marianLists) (model.File, error) {
	a := assembly{names: marianNaming(r.config)}
	a.names.numbers = r.tied
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
	if r.config.Positions == model.Learned {
		t := r.matrix(marianPositions, r.shape(marianPositions, 2)[0], r.config.DModel)
		a.positions = [2]mat.Matrix{t, t}
	}
	a.config = r.config
	f, err := r.assemble(&a)
	if err != nil {
		return model.File{}, err
	}
	f.Info["source"] = "Marian " + filepath.Base(r.path)
	f.Shortlist = lists.shortlist(a.src, a.tgt, src.eos, joint).Tensors()
	d := decode.Settings{
		LengthPenalty: decode.PenaltyPower, Alpha: decoder.normalize, Search: decode.SearchShrinking, UnnormedKeys: r.config.Norm == model.PreNorm,
		Beam: decoder.beam, LengthFactor: decoder.lengthFactor, Shortlist: lists != nil,
	}
	suppressed := tgt.unnamed
	if !decoder.allowUnknown {
		suppressed = append(suppressed, int32(tgt.unknown))
	}
	d.Suppressed = a.tgt.suppressed(suppressed)
	f.Decoding = d.String()
	return f, nil
}

// checkMultipliers takes the factors by which intgemm rounds activations to int8, each that of a
// weight. tfm does not need them, because it rounds each row by its largest element.
func (r *marianReader) checkMultipliers() {
	for _, name := range slices.Sorted(maps.Keys(r.byName)) {
		if t := r.byName[name]; strings.HasSuffix(name, "_QuantMultA") {
			if n, _ := count(t.shape); n != 1 {
				r.fail(name, "found shape %s, expected one element", shapeText(t.shape))
			} else if x := r.values(name, t.shape...); x != nil && !(x[0] > 0 && x[0] <= math.MaxFloat32) {
				r.fail(name, "found %v, expected a positive number", x[0])
			}
		}
	}
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
	return table{r.matrix(name, n, r.config.DModel), -1, r.byName[name].step}, r.err
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
		a.outTable.Matrix, a.outTable.step = r.matrix(name+"W", r.config.DModel, n).T(), r.byName[name+"W"].step
	case r.has(name + "Wt"):
		a.outTable.Matrix, a.outTable.step = r.matrix(name+"Wt", n, r.config.DModel), r.byName[name+"Wt"].step
	default:
		r.fail(name+"Wt", "missing, expected shape %v", []int{n, r.config.DModel})
	}
}

// marianNaming returns the names of the layers.
func marianNaming(c model.Config) *naming {
	kind, end := "_ln_*", ""
	if c.NormKind == model.RMSNorm {
		kind = "_rms_*"
	}
	if c.Norm == model.PreNorm {
		end = "_pre"
	}
	norm := func(name string) string { return name + kind + end }
	first := norm("self_Wo")
	switch {
	case c.Autoreg == model.SSRU && c.Norm == model.PreNorm:
		first = norm("rnn")
	case c.Autoreg == model.SSRU:
		first = norm("rnn_ffn")
	}
	return &naming{
		encoder: "encoder_l#_", decoder: "decoder_l#_", first: 1,
		self:         [4]string{"self_*q", "self_*k", "self_*v", "self_*o"},
		ssru:         [2]string{"rnn_*", "rnn_*f"},
		cross:        [4]string{"context_*q", "context_*k", "context_*v", "context_*o"},
		encoderNorms: [2]string{norm("self_Wo"), norm("ffn_ffn")},
		decoderNorms: [3]string{first, norm("context_Wo"), norm("ffn_ffn")},
		finalNorms:   [2]string{"encoder_top" + kind, "decoder_top" + kind},
		inner:        "ffn_*1", outer: "ffn_*2",
		weight: "W", bias: "b", gain: "scale", normBias: "bias", rows: true,
	}
}
