package marian

import (
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tfm/mat"
	"tfm/model"
	"tfm/model/convert/internal/parts"
	"tfm/model/decode"
)

// Is reports whether path is a model of Marian, or a folder or a zip archive with one.
func Is(path string, isDir bool) bool {
	switch filepath.Ext(strings.TrimSuffix(path, ".gz")) {
	case ".npz", ".bin":
		if !isDir {
			f, name, err := folderOf(path)
			return err == nil && (isModelFile(f, name) || filepath.Ext(path) == ".npz")
		}
	}
	if !isDir {
		return parts.IsArchiveWith(path, isNpz)
	}
	f, err := parts.OpenFolder(path)
	return err == nil && slices.ContainsFunc(slices.Collect(maps.Keys(f.Files)), func(name string) bool { return isModelFile(f, name) })
}

// folderOf returns the folder of a file, and the name of the file, decompressed, in it.
func folderOf(path string) (parts.Folder, string, error) {
	f, err := parts.OpenFolder(filepath.Dir(path))
	return f, strings.TrimSuffix(filepath.Base(path), ".gz"), err
}

// Read reads a model of Marian of type transformer: an .npz file, or a folder or zip archive
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
// without settings are Firefox's: greedy search, two tokens, n^1. A binary lexical shortlist,
// lex*.bin, is the model's.
func Read(path string) (file model.File, err error) {
	if info, err := os.Stat(path); err == nil && !info.IsDir() && !parts.IsZip(path) {
		f, name, err := folderOf(path)
		if err != nil {
			return model.File{}, err
		}
		return read(f, name)
	}
	err = parts.Open(path, "*.npz", isNpz, func(f parts.Folder) error {
		file, err = read(f, "")
		return err
	})
	return file, err
}

// read reads the named model in f, "" for the only one.
func read(f parts.Folder, name string) (model.File, error) {
	d, err := readDecoder(f, name)
	if err != nil {
		return model.File{}, err
	}
	if name == "" {
		if name, err = findModel(f, d.model); err != nil {
			return model.File{}, err
		}
	}
	t, text, closer, err := openModel(f, name)
	if err != nil {
		return model.File{}, err
	}
	defer closer.Close()
	settings, err := parseSettings(text)
	if err != nil {
		return model.File{}, t.FailFile("%v", err)
	}
	r := &reader{Tensors: t, settings: settings}
	if err := r.configure(); err != nil {
		return model.File{}, t.Fail(configName, "%v", err)
	}
	if err := readTraining(f, name, &r.config); err != nil {
		return model.File{}, err
	}
	src, tgt, joint, err := readVocabularies(f, d.vocabs)
	if err != nil {
		return model.File{}, err
	}
	srcLangs, tgtLangs := releaseLanguages(f)
	rules, err := readPreprocess(f, strings.Join(srcLangs[:min(1, len(srcLangs))], ""))
	if err != nil {
		return model.File{}, err
	}
	if err := src.Rewrite(rules); err != nil {
		return model.File{}, err
	}
	lists, err := readShortlist(f, d.shortlist, src, tgt)
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

// findModel returns the name of the model in f: listed, that of a decoder.yml, or if it is ""
// model.npz, the only .npz or, without any, the only .bin.
func findModel(f parts.Folder, listed string) (string, error) {
	if listed != "" {
		if !f.Has(listed) {
			return "", fmt.Errorf("%s: found no %.100q, expected the model that the %s names", f.Path, listed, decoderFile)
		}
		return listed, nil
	}
	if f.Has(modelFile) {
		return modelFile, nil
	}
	names := firstKind(f, isNpz, func(name string) bool { return isModelFile(f, name) })
	if len(names) != 1 {
		return "", fmt.Errorf("%s: found %d models, *.npz or *.bin, %.200q, expected one, or a %s that names one of them", f.Path, len(names), names[:min(len(names), 3)], decoderFile)
	}
	return names[0], nil
}

// openModel opens the model of the given name in f, and returns its tensors and its configuration.
func openModel(f parts.Folder, name string) (t *parts.Tensors, config []byte, closer io.Closer, err error) {
	if isNpz(name) {
		return openNpz(f, name)
	}
	t, config, err = readBin(f, name)
	return t, config, io.NopCloser(nil), err
}

// read returns the model with the given vocabularies.
func (r *reader) read(src, tgt *parts.Vocabulary, joint bool, decoder search, lists *lexicon) (model.File, error) {
	a := parts.Assembly{Names: namingOf(r.config)}
	a.Names.Numbers = r.tied
	srcName, tgtName := "encoder_Wemb", "decoder_Wemb"
	if r.tieAll {
		srcName, tgtName = "Wemb", "Wemb"
	}
	var err error
	if a.SrcTable, err = r.readTable(srcName, src); err != nil {
		return model.File{}, err
	}
	if a.TgtTable, err = r.readTable(tgtName, tgt); err != nil {
		return model.File{}, err
	}
	if a.Src, a.Tgt, err = parts.PieceSides(src, tgt, joint); err != nil {
		return model.File{}, err
	}
	a.Src.AddTargets(&r.config, src)
	switch {
	case r.tieAll && r.tieOut && joint:
		r.config.Tie = model.TieAll
	case r.tieOut:
		r.config.Tie = model.TieDecoder
	default:
		r.config.Tie = model.TieNone
	}
	r.readOutput(&a, len(tgt.Tokens))
	if r.config.Positions == model.Learned {
		t := r.Matrix(positionsTable, r.Shape(positionsTable, 2)[0], r.config.DModel)
		a.Positions = [2]mat.Matrix{t, t}
	}
	a.Config = r.config
	f, err := r.Assemble(&a)
	if err != nil {
		return model.File{}, err
	}
	f.Info["source"] = "Marian " + filepath.Base(r.Path)
	f.Shortlist = lists.shortlist(a.Src, a.Tgt, src.EOS, joint).Tensors()
	d := decode.Settings{
		LengthPenalty: decode.PenaltyPower, Alpha: decoder.normalize, Search: decode.SearchShrinking, UnnormedKeys: r.config.Norm == model.PreNorm,
		Beam: decoder.beam, LengthFactor: decoder.lengthFactor, Shortlist: lists != nil,
	}
	suppressed := tgt.Unnamed
	if !decoder.allowUnknown {
		suppressed = append(suppressed, int32(tgt.Unknown))
	}
	d.Suppressed = a.Tgt.Suppressed(suppressed)
	f.Decoding = d.String()
	return f, nil
}

// checkMultipliers takes the factors by which intgemm rounds activations to int8, each that of a
// weight. tfm does not need them, because it rounds each row by its largest element.
func (r *reader) checkMultipliers() {
	for _, name := range slices.Sorted(maps.Keys(r.ByName)) {
		if t := r.ByName[name]; strings.HasSuffix(name, "_QuantMultA") {
			if n, _ := parts.Count(t.Shape); n != 1 {
				r.Fail(name, "found shape %s, expected one element", parts.ShapeText(t.Shape))
			} else if x := r.Values(name, t.Shape...); x != nil && !(x[0] > 0 && x[0] <= math.MaxFloat32) {
				r.Fail(name, "found %v, expected a positive number", x[0])
			}
		}
	}
}

// readTable reads the embeddings of a vocabulary. The decoder starts with one of zeros.
func (r *reader) readTable(name string, v *parts.Vocabulary) (parts.Table, error) {
	n := r.Shape(name, 2)[0]
	if r.Err != nil {
		return parts.Table{}, r.Err
	}
	if err := v.SetRows(n, fmt.Sprintf("tensor %q of %s", name, r.Path)); err != nil {
		return parts.Table{}, err
	}
	return parts.Table{Matrix: r.Matrix(name, n, r.config.DModel), BOS: -1, Step: r.ByName[name].Step}, r.Err
}

// readOutput reads the output projection to n rows.
func (r *reader) readOutput(a *parts.Assembly, n int) {
	const name = "decoder_ff_logit_out_"
	if r.Has(name + "b") {
		a.Bias = r.Values(name+"b", 1, n)
	}
	a.OutTable.BOS = -1
	switch {
	case r.tieOut:
	case r.Has(name + "W"): // models of early versions
		a.OutTable.Matrix, a.OutTable.Step = r.Matrix(name+"W", r.config.DModel, n).T(), r.ByName[name+"W"].Step
	case r.Has(name + "Wt"):
		a.OutTable.Matrix, a.OutTable.Step = r.Matrix(name+"Wt", n, r.config.DModel), r.ByName[name+"Wt"].Step
	default:
		r.Fail(name+"Wt", "missing, expected shape %v", []int{n, r.config.DModel})
	}
}

// namingOf returns the names of the layers.
func namingOf(c model.Config) *parts.Naming {
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
	return &parts.Naming{
		Encoder: "encoder_l#_", Decoder: "decoder_l#_", First: 1,
		Self:         [4]string{"self_*q", "self_*k", "self_*v", "self_*o"},
		Ssru:         [2]string{"rnn_*", "rnn_*f"},
		Cross:        [4]string{"context_*q", "context_*k", "context_*v", "context_*o"},
		EncoderNorms: [2]string{norm("self_Wo"), norm("ffn_ffn")},
		DecoderNorms: [3]string{first, norm("context_Wo"), norm("ffn_ffn")},
		FinalNorms:   [2]string{"encoder_top" + kind, "decoder_top" + kind},
		Inner:        "ffn_*1", Outer: "ffn_*2",
		Weight: "W", Bias: "b", Gain: "scale", NormBias: "bias", Rows: true,
	}
}
