package marian

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tfm/mat"
	"tfm/model"
	"tfm/model/convert/internal/parts"
	"tfm/model/convert/internal/parttest"
	"tfm/model/decode"
)

// npzArray is an array of a NumPy archive: float32 elements, or bytes.
type npzArray struct {
	shape []int
	data  any
}

// npzBytes returns a NumPy archive.
func npzBytes(t testing.TB, arrays map[string]npzArray) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(arrays)) {
		a := arrays[name]
		w, err := z.CreateHeader(&zip.FileHeader{Name: name + ".npy", Method: zip.Store})
		if err != nil {
			t.Fatal(err)
		}
		descr := "<f4"
		if _, ok := a.data.([]byte); ok {
			descr = "|i1"
		}
		shape := strings.Trim(strings.ReplaceAll(fmt.Sprint(a.shape), " ", ", "), "[]") + ","
		header := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }\n", descr, shape)
		w.Write([]byte("\x93NUMPY\x01\x00"))
		binary.Write(w, binary.LittleEndian, uint16(len(header)))
		w.Write([]byte(header))
		binary.Write(w, binary.LittleEndian, a.data)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

const marianShape = `type: transformer
dim-emb: 8
dim-vocabs:
  - 70
  - 70
enc-depth: 1
dec-depth: 2
transformer-heads: 2
transformer-dim-ffn: 6
transformer-ffn-activation: relu
transformer-preprocess: ""
transformer-postprocess: dan
tied-embeddings-all: true
input-types:
  []
version: v1
`

// marianArrays returns the arrays of a model of Marian with random weights.
func marianArrays(vocabulary int, settings string, changes ...func(map[string]npzArray)) map[string]npzArray {
	r := rand.New(rand.NewPCG(1, 1))
	arrays := map[string]npzArray{}
	add := func(name string, rows, cols int) {
		x := make([]float32, rows*cols)
		for i := range x {
			x[i] = float32(0.3 * r.NormFloat64())
		}
		arrays[name] = npzArray{[]int{rows, cols}, x}
	}
	attention := func(prefix string) {
		for _, p := range "qkvo" {
			add(prefix+"_W"+string(p), 8, 8)
			add(prefix+"_b"+string(p), 1, 8)
		}
		add(prefix+"_Wo_ln_scale", 1, 8)
		add(prefix+"_Wo_ln_bias", 1, 8)
	}
	feedForward := func(prefix string) {
		add(prefix+"_W1", 8, 6)
		add(prefix+"_b1", 1, 6)
		add(prefix+"_W2", 6, 8)
		add(prefix+"_b2", 1, 8)
		add(prefix+"_ffn_ln_scale", 1, 8)
		add(prefix+"_ffn_ln_bias", 1, 8)
	}
	add("Wemb", vocabulary, 8)
	add("decoder_ff_logit_out_b", 1, vocabulary)
	attention("encoder_l1_self")
	feedForward("encoder_l1_ffn")
	for _, layer := range []string{"decoder_l1_", "decoder_l2_"} {
		attention(layer + "self")
		attention(layer + "context")
		feedForward(layer + "ffn")
	}
	arrays[configName] = npzArray{[]int{len(settings)}, []byte(settings)}
	for _, change := range changes {
		change(arrays)
	}
	return arrays
}

// marianFolder writes a model and a SentencePiece model to a new folder and returns the path of the
// model.
func marianFolder(t testing.TB, arrays func(vocabulary int) map[string]npzArray) string {
	t.Helper()
	dir := t.TempDir()
	spm, err := os.ReadFile(filepath.Join("../testdata", "marian-separate", "source.spm"))
	if err != nil {
		t.Fatal(err)
	}
	tokenizer, err := parts.ReadSentencePiece(testFolder(t, filepath.Join("../testdata", "marian-separate")), "source.spm")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, modelFile)
	for name, data := range map[string][]byte{path: npzBytes(t, arrays(tokenizer.FileSize())), filepath.Join(dir, "vocab.spm"): spm} {
		if err := os.WriteFile(name, data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// with returns the settings of marianShape with some replaced or added.
func with(lines ...string) string {
	s := marianShape
	for _, line := range lines {
		key, _, _ := strings.Cut(line, ":")
		if i := strings.Index(s, key+":"); i >= 0 {
			end := i + strings.Index(s[i:], "\n") + 1
			s = s[:i] + s[end:]
		}
		s += line + "\n"
	}
	return s
}

// rename returns a change of the arrays' names.
func rename(pairs ...string) func(map[string]npzArray) {
	return func(arrays map[string]npzArray) {
		for _, name := range slices.Sorted(maps.Keys(arrays)) {
			if to := strings.NewReplacer(pairs...).Replace(name); to != name {
				arrays[to] = arrays[name]
				delete(arrays, name)
			}
		}
	}
}

// Shapes of Marian's models become configurations.
func TestMarianShapes(t *testing.T) {
	copyTo := func(from string, to ...string) func(map[string]npzArray) {
		return func(arrays map[string]npzArray) {
			for _, name := range to {
				arrays[name] = arrays[from]
			}
			delete(arrays, from)
		}
	}
	for name, c := range map[string]struct {
		settings string
		change   func(map[string]npzArray)
		want     func(*model.Config)
	}{
		"tied":          {marianShape, rename(), func(c *model.Config) {}},
		"swish":         {with("transformer-ffn-activation: swish"), rename(), func(c *model.Config) { c.Activation = model.SiLU }},
		"depth scaling": {with("transformer-depth-scaling: true"), rename(), func(c *model.Config) {}},
		"untied": {with("tied-embeddings-all: false"), copyTo("Wemb", "encoder_Wemb", "decoder_Wemb", "decoder_ff_logit_out_Wt"),
			func(c *model.Config) { c.Tie = model.TieNone }},
		"tied decoder": {with("tied-embeddings-all: false", "tied-embeddings: true"), copyTo("Wemb", "encoder_Wemb", "decoder_Wemb"),
			func(c *model.Config) { c.Tie = model.TieDecoder }},
		"tied source": {with("tied-embeddings-all: false", "tied-embeddings-src: true"), func(arrays map[string]npzArray) {
			arrays["decoder_ff_logit_out_Wt"] = arrays["Wemb"]
		}, func(c *model.Config) { c.Tie = model.TieNone }},
		"option without learned positions": {with("transformer-train-position-embeddings: true"), rename(), func(c *model.Config) {}},
		"learned positions": {with("transformer-train-positions: true"), learnedPositions(20, 8), func(c *model.Config) {
			c.Positions, c.Unscaled = model.Learned, true
		}},
		"many learned positions": {with("transformer-train-position-embeddings: true"), learnedPositions(1100, 8), func(c *model.Config) {
			c.Positions, c.Unscaled, c.MaxLen = model.Learned, true, 1100
		}},
		"no output bias": {with("output-omit-bias: true"), func(arrays map[string]npzArray) { delete(arrays, "decoder_ff_logit_out_b") }, func(c *model.Config) {}},
		"tied layers": {with("transformer-tied-layers:\n  - 1\n  - 1"), func(arrays map[string]npzArray) {
			maps.DeleteFunc(arrays, func(name string, _ npzArray) bool { return strings.HasPrefix(name, "decoder_l2_") })
		}, func(c *model.Config) {}},
		"pre-norm": {with("transformer-preprocess: n", "transformer-postprocess: da", "transformer-postprocess-top: n"), func(arrays map[string]npzArray) {
			rename("_ln_scale", "_ln_scale_pre", "_ln_bias", "_ln_bias_pre")(arrays)
			for _, side := range []string{"encoder", "decoder"} {
				arrays[side+"_top_ln_scale"], arrays[side+"_top_ln_bias"] = arrays["encoder_l1_self_bq"], arrays["encoder_l1_self_bk"]
			}
		}, func(c *model.Config) { c.Norm, c.FinalNorm = model.PreNorm, model.FinalNormOn }},
		"RMS": {with("transformer-postprocess: dar"), func(arrays map[string]npzArray) {
			rename("_ln_scale", "_rms_scale")(arrays)
			maps.DeleteFunc(arrays, func(name string, _ npzArray) bool { return strings.HasSuffix(name, "_ln_bias") })
		}, func(c *model.Config) { c.NormKind = model.RMSNorm }},
	} {
		f, err := Read(marianFolder(t, func(v int) map[string]npzArray { return marianArrays(v, c.settings, c.change) }))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		n := f.Model.Config.TgtVocab
		want := model.Config{DModel: 8, Heads: 2, DFF: 6, EncoderLayers: 1, DecoderLayers: 2, SrcVocab: n, TgtVocab: n, Tie: model.TieAll, NormEps: 1e-6, MaxLen: 1024,
			Positions: model.TimingSignal, FinalNorm: model.FinalNormOff, OutputBias: true}
		c.want(&want)
		if f.Model.Config != want {
			t.Errorf("%s: found %+v, want %+v", name, f.Model.Config, want)
		}
		if d := parttest.SettingsOf(t, f); d.UnnormedKeys != (want.Norm == model.PreNorm) || d.Search != decode.SearchShrinking || d.Suppressed == "" {
			t.Errorf("%s: found %+v", name, f.Decoding)
		}
	}
}

// Errors name the setting that the Transformer does not have, and tensors that are left over,
// missing or of another shape.
func TestMarianRefuses(t *testing.T) {
	none := func(map[string]npzArray) {}
	cell := func(line string) string { return with("transformer-decoder-autoreg: rnn", "dec-cell: ssru", line) }
	addCells := func(arrays map[string]npzArray) {
		for _, l := range []string{"decoder_l1_", "decoder_l2_"} {
			arrays[l+"rnn_W"], arrays[l+"rnn_Wf"], arrays[l+"rnn_bf"] = arrays["encoder_l1_self_Wq"], arrays["encoder_l1_self_Wq"], arrays["encoder_l1_self_bq"]
		}
	}
	for want, c := range map[string]struct {
		settings string
		change   func(map[string]npzArray)
	}{
		`type: found "s2s", expected "transformer"`:                                  {with("type: s2s"), none},
		`transformer-ffn-activation: found "gelu", expected "swish" or "relu"`:       {with("transformer-ffn-activation: gelu"), none},
		`transformer-train-positions: found "yes", expected "false" or "true"`:       {with("transformer-train-positions: yes"), none},
		`tensor "Wpos": found shape [20 9], expected [20 8]`:                         {with("transformer-train-positions: true"), learnedPositions(20, 9)},
		`does not have: "Wpos" <f4 [20 8]`:                                           {marianShape, learnedPositions(20, 8)},
		`transformer-decoder-autoreg: found "average-attention"`:                     {with("transformer-decoder-autoreg: average-attention"), none},
		`dec-cell: found "gru", expected "ssru"`:                                     {cell("dec-cell: gru"), addCells},
		`dec-cell-base-depth: found "3", expected "2"`:                               {cell("dec-cell-base-depth: 3"), addCells},
		`dec-cell-high-depth: found "2", expected "1"`:                               {cell("dec-cell-high-depth: 2"), addCells},
		`transformer-rnn-projection: found "true", expected "false"`:                 {cell("transformer-rnn-projection: true"), addCells},
		`tensor "decoder_l1_rnn_ffn_ln_scale": missing, expected shape [1 8]`:        {cell("dim-rnn: 1024"), addCells},
		`transformer-postprocess: found "dhn"`:                                       {with("transformer-postprocess: dhn"), none},
		`transformer-preprocess and transformer-postprocess: found norms "n" and "n`: {with("transformer-preprocess: n"), none},
		`transformer-no-bias: found "true", expected it to be off`:                   {with("transformer-no-bias: true"), none},
		`transformer-pool: found "true"`:                                             {with("transformer-pool: true"), none},
		`right-left: found "true"`:                                                   {with("right-left: true"), none},
		`transformer-new-thing: found "7", expected it to be off`:                    {with("transformer-new-thing: 7"), none},
		`input-types: found "class sequence`:                                         {strings.Replace(marianShape, "  []", "  - class\n  - sequence", 1), none},
		`dim-emb: found "x", expected a number`:                                      {with("dim-emb: x"), none},
		`d_model is 7, expected`:                                                     {with("dim-emb: 7"), func(arrays map[string]npzArray) { arrays["Wemb"] = npzArray{[]int{70, 7}, make([]float32, 490)} }},
		`tensor "decoder_l3_self_Wq": missing, expected shape [8 8]`:                 {with("dec-depth: 3"), none},
		`does not have: "decoder_l2_context_Wk" <f4 [8 8]`:                           {with("dec-depth: 1"), none},
		`tensor "encoder_l1_ffn_W1": found shape [8 6], expected [8 12]`:             {with("transformer-dim-ffn: 12"), none},
		`special:model.yml:1: found "type transformer"`:                              {"type transformer", none},
		`tensor "special:model.yml": missing`:                                        {marianShape, func(arrays map[string]npzArray) { delete(arrays, configName) }},
	} {
		_, err := Read(marianFolder(t, func(v int) map[string]npzArray { return marianArrays(v, c.settings, c.change) }))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// learnedPositions returns a change that adds a table of n positions.
func learnedPositions(n, d int) func(map[string]npzArray) {
	return func(arrays map[string]npzArray) {
		x := make([]float32, n*d)
		for i := range x {
			x[i] = float32(i%97) / 100
		}
		arrays["Wpos"] = npzArray{[]int{n, d}, x}
	}
}

// Both sides have the table of learned positions, and its last row for all positions after it.
func TestMarianLearnedPositions(t *testing.T) {
	settings := with("transformer-train-positions: true")
	f, err := Read(marianFolder(t, func(v int) map[string]npzArray { return marianArrays(v, settings, learnedPositions(20, 8)) }))
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range []mat.Matrix{f.Model.SrcEmbed.Positions, f.Model.TgtEmbed.Positions} {
		if table.Rows != 1024 || table.At(3, 2) != 0.26 || table.At(19, 7) != float32((19*8+7)%97)/100 || !slices.Equal(table.Row(1023), table.Row(19)) {
			t.Errorf("found %d positions, %v, %v and %v", table.Rows, table.Row(3), table.Row(19), table.Row(1023))
		}
	}
}

// Dropout and smoothing are those of the training run.
func TestMarianTraining(t *testing.T) {
	path := marianFolder(t, func(v int) map[string]npzArray { return marianArrays(v, marianShape) })
	const run = "train-sets:\n  - a.en\n  - a.de\nlabel-smoothing: 0.1\ntransformer-dropout: 0.15\ntransformer-dropout-attention: 0.07\ntransformer-dropout-ffn: 0.05\n"
	best := filepath.Join(filepath.Dir(path), "model.npz.best-bleu.npz")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{best: data, path + ".yml": []byte(run)} {
		if err := os.WriteFile(name, text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{path, best} {
		f, err := Read(name)
		if err != nil {
			t.Fatal(err)
		}
		c := f.Model.Config
		if c.Dropout != 0.15 || c.AttentionDropout != 0.07 || c.FFDropout != 0.05 || c.LabelSmoothing != 0.1 || c.Smoothing != model.SmoothAll {
			t.Errorf("%s: found %+v", name, c)
		}
	}
	if err := os.WriteFile(path+".yml", []byte("transformer-dropout: 1.5\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(path); err == nil || !strings.Contains(err.Error(), `model.npz.yml: transformer-dropout: found "1.5", expected at least 0 and below 1`) {
		t.Errorf("error %v", err)
	}
}

// Settings and vocabularies of a decoder.yml.
func TestMarianDecoder(t *testing.T) {
	path := marianFolder(t, func(v int) map[string]npzArray { return marianArrays(v, marianShape) })
	if f, err := Read(path); err != nil || parttest.SettingsOf(t, f).Beam != 12 || parttest.SettingsOf(t, f).LengthFactor != 3 {
		t.Errorf("without decoder.yml: found %+v, %v", f.Decoding, err)
	}
	for text, want := range map[string]string{
		"vocabs:\n  - a/vocab.spm\n  - b/vocab.spm\nnormalize: 0.6\nallow-unk: true\nbeam-size: 2\nmax-length-factor: 1.5\n": "",
		"vocabs:\n  - other.spm\n  - vocab.spm\n": "other.spm: file does not exist",
		"vocabs:\n  - vocab.fsv\n  - vocab.fsv\n": "found a vocabulary of another kind",
		"vocabs:\n  - vocab.spm\n":                "vocabs: found 1, expected 2",
		"models:\n  - a.npz\n  - b.npz\n":         "models: found 2, expected 1",
		"normalize: -1\n":                         `normalize: found "-1"`,
		"beam-size: 65\n":                         `beam-size: found "65", expected 1 to 64`,
		"max-length-factor: 0\n":                  `max-length-factor: found "0", expected above 0`,
		"word-penalty: 0.5\n":                     `word-penalty: found "0.5", expected 0`,
		"a: b: c\n  d\n":                          "model.npz.decoder.yml:1: found",
		"- a\n":                                   "model.npz.decoder.yml:1: found",
	} {
		if err := os.WriteFile(path+".decoder.yml", []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		f, err := Read(path)
		switch {
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%q: error %v, want %q", text, err, want)
		case want == "" && (err != nil || parttest.SettingsOf(t, f) != decode.Settings{LengthPenalty: decode.PenaltyPower, Alpha: 0.6, Search: decode.SearchShrinking, Beam: 2, LengthFactor: 1.5}):
			t.Errorf("%q: found %+v, %v", text, f.Decoding, err)
		}
	}
}

// A vocabulary in YAML has pieces of its own, which a SentencePiece model beside it segments.
func TestMarianYAMLVocabulary(t *testing.T) {
	path := marianFolder(t, func(v int) map[string]npzArray { return marianArrays(60, marianShape) })
	dir := filepath.Dir(path)
	spm, err := parts.ReadSentencePiece(testFolder(t, dir), "vocab.spm")
	if err != nil {
		t.Fatal(err)
	}
	data, _ := spm.MarshalBinary()
	yaml := "</s>: 0\n<unk>: 1\n"
	for i := 2; i < 60; i++ { // in reverse, without some
		yaml += fmt.Sprintf("%q: %d\n", spm.Model().Pieces[spm.FileSize()+1-i].Text, i)
	}
	for name, data := range map[string][]byte{
		"vocab.yml": []byte(yaml), "source.spm": data, "target.spm": data, "model.npz.decoder.yml": []byte("vocabs:\n  - vocab.yml\n  - vocab.yml\n"),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	f, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	v := parttest.TokenizersOf(t, f)
	pieces := func(tokenizer interface {
		Encode([]int32, string) []int32
		Piece(int32) string
	}) (list []string) {
		for _, id := range tokenizer.Encode(nil, "rokoge kogito nuboke!") {
			list = append(list, tokenizer.Piece(id))
		}
		return list
	}
	if got, want := pieces(v.Source), pieces(spm); !slices.Equal(got, want) || !v.Joint() {
		t.Errorf("found %q, want %q; joint %t", got, want, v.Joint())
	}
	if err := os.Remove(filepath.Join(dir, "source.spm")); err != nil {
		t.Fatal(err)
	}
	_, err = Read(path)
	parttest.CheckError(t, "without source.spm", err, "does not split text into pieces")
}

// testFolder opens a folder.
func testFolder(t testing.TB, dir string) parts.Folder {
	t.Helper()
	f, err := parts.OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
