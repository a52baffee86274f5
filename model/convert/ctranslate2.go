package convert

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"tfm/mat"
	"tfm/model"
	"tfm/text"
	"tfm/text/vocab"
)

// ReadCTranslate2 reads the model of an encoder-decoder Transformer in a folder of CTranslate2: the
// file model.bin, of binary versions 1 to 6, vocabularies, config.json from version 6, and the
// tokenizers beside them, which are
//
//	source.spm, target.spm          SentencePiece
//	sentencepiece.model, spm.model  SentencePiece, for both sides
//	bpe.model                       codes of subword-nmt, for words with spaces between them
//
// Without these files the tokens of a text are its words with spaces between them. Other files are
// ignored, such as vmap.txt, which only restricts translations on demand.
//
// Weights in float16, bfloat16, int16 and int8 become the float32 numbers that CTranslate2
// multiplies by. The length penalty is CTranslate2's default.
//
// The error names the file, and the tensor or the property of the model that a model.Config does
// not have. Untrusted folders are safe: memory is bounded by 32 times the size of the folder.
func ReadCTranslate2(dir string) (model.File, error) {
	f, err := openFolder(dir)
	if err != nil {
		return model.File{}, err
	}
	return readCTranslate2(f, f)
}

// readCTranslate2 reads a model in f whose tokenizers are in tokenizers.
func readCTranslate2(f, tokenizers folder) (model.File, error) {
	data, err := f.read(ct2File)
	if err != nil {
		return model.File{}, err
	}
	path := f.name(ct2File)
	b, err := parseCT2Binary(data)
	if err != nil {
		return model.File{}, fmt.Errorf("%s: %w", path, err)
	}
	r := ct2Reader{path: path, folder: f, binary: b}
	if r.t, err = b.tensors(path, f.size); err != nil {
		return model.File{}, err
	}
	for _, step := range []func() error{r.readOptions, r.readVocabularies, r.readConfig} {
		if err := step(); err != nil {
			return model.File{}, err
		}
	}
	if err := r.readSides(tokenizers); err != nil {
		return model.File{}, err
	}
	return r.readModel()
}

const (
	ct2File   = "model.bin"
	ct2Config = "config.json"
)

// ct2Options are the settings of a model for sequences, config.json from version 6.
type ct2Options struct {
	Unknown   string   `json:"unk_token"`
	BOS       string   `json:"bos_token"`
	EOS       string   `json:"eos_token"`
	Start     *string  `json:"decoder_start_token"`
	SourceBOS bool     `json:"add_source_bos"`
	SourceEOS bool     `json:"add_source_eos"`
	Epsilon   *float32 `json:"layer_norm_epsilon"`

	MultiQuery   bool `json:"multi_query_attention"`
	Quantization any  `json:"quantization_type,omitempty"`

	TFM *ct2Extra `json:"tfm,omitempty"` // of WriteCTranslate2
}

// ct2Reader reads one model.
type ct2Reader struct {
	path   string // of the binary file
	folder folder
	binary *ct2Binary
	t      *tensors
	err    error // of an attribute

	options  ct2Options
	src, tgt *vocabulary
	joint    bool
	bias     []float32 // of the output projection; nil without
	zero     bool      // the decoder starts from a zero embedding
	start    int       // row of the token that the decoder starts from

	source, target side
	config         model.Config
	decoding       model.Decoding
}

// refuse returns the error for a property that tfm's models do not have.
func (r *ct2Reader) refuse(name, format string, args ...any) error {
	return fmt.Errorf("%s: tensor %.80q: found %s, which this program does not have", r.path, name, fmt.Sprintf(format, args...))
}

// number takes a scalar, or returns otherwise if the model lacks it. It sets r.err.
func (r *ct2Reader) number(name string, otherwise float64) float64 {
	if !r.t.has(name) {
		return otherwise
	}
	x, err := r.t.values(name)
	if err != nil {
		if r.err == nil {
			r.err = err
		}
		return otherwise
	}
	return float64(x[0])
}

func (r *ct2Reader) flag(name string, otherwise bool) bool {
	if otherwise {
		return r.number(name, 1) != 0
	}
	return r.number(name, 0) != 0
}

// str takes a string, which is a vector of int8.
func (r *ct2Reader) str(name, otherwise string) string {
	shape, err := r.t.shape(name, 1)
	if err != nil {
		return otherwise // missing, or left to unused
	}
	r.t.skip(name)
	v, ok := r.binary.vars[name]
	if !ok || v.dtype != "int8" {
		r.err = r.t.fail(name, "found %s of shape %s, expected int8", v.dtype, shapeText(shape))
	}
	return string(v.data)
}

// readOptions sets r.options.
func (r *ct2Reader) readOptions() error {
	switch r.binary.spec {
	case "", "TransformerBase", "TransformerBig", "TransformerSpec":
	default:
		return fmt.Errorf("%s: found a model of %.40q, expected TransformerSpec, an encoder and a decoder", r.path, r.binary.spec)
	}
	const newest = 7
	if r.binary.revision > newest {
		return fmt.Errorf("%s: found revision %d of %s, expected up to %d", r.path, r.binary.revision, r.binary.spec, newest)
	}
	o := &r.options
	o.Unknown, o.BOS, o.EOS = "<unk>", "<s>", "</s>"
	if r.binary.version >= 6 || r.folder.has(ct2Config) {
		data, err := r.folder.read(ct2Config)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(data, o); err != nil {
			return fmt.Errorf("%s: %w", r.folder.name(ct2Config), err)
		}
	}
	if r.binary.version < 6 {
		o.Unknown, o.BOS, o.EOS = r.str("unk_token", "<unk>"), r.str("bos_token", "<s>"), r.str("eos_token", "</s>")
		o.SourceBOS, o.SourceEOS = r.flag("with_source_bos", false), r.flag("with_source_eos", false)
		byUser, withBOS := r.flag("user_decoder_start_tokens", false), r.flag("with_target_bos", true)
		switch {
		case byUser:
			o.Start = nil
		case withBOS:
			o.Start = &o.BOS
		default:
			o.Start = &o.EOS
		}
	}
	switch {
	case r.err != nil:
		return r.err
	case o.Start == nil:
		return fmt.Errorf("%s: found no decoder_start_token, expected one: translations of this model begin with a token of the caller, such as a language", r.folder.name(ct2Config))
	case o.MultiQuery:
		return fmt.Errorf("%s: found multi_query_attention, which this program does not have", r.folder.name(ct2Config))
	case o.Quantization != nil && o.Quantization != float64(0):
		return fmt.Errorf("%s: found quantization_type %.40v, expected that of CTranslate2", r.folder.name(ct2Config), o.Quantization)
	}
	return nil
}

// readTokens returns the tokens of a file of the vocabulary, without its ending, and the name of
// the file.
func (r *ct2Reader) readTokens(name string) ([]string, string, error) {
	data, found, err := r.folder.readAny(name+".json", name+".txt")
	if err != nil {
		return nil, "", err
	}
	found = r.folder.name(found)
	if strings.HasSuffix(found, ".json") {
		var tokens []string
		if err := json.Unmarshal(data, &tokens); err != nil {
			return nil, "", fmt.Errorf("%s: %w", found, err)
		}
		return tokens, found, nil
	}
	lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	// A carriage return at the end of every line ends the line; otherwise it is part of tokens.
	if !slices.ContainsFunc(lines, func(s string) bool { return !strings.HasSuffix(s, "\r") }) {
		for i := range lines {
			lines[i] = lines[i][:len(lines[i])-1]
		}
	}
	return lines, found, nil
}

// readVocabulary returns the vocabulary in a file. rows is the number of its embeddings.
func (r *ct2Reader) readVocabulary(name string, rows int) (*vocabulary, error) {
	tokens, path, err := r.readTokens(name)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(tokens, r.options.Unknown) {
		tokens = append(tokens, r.options.Unknown)
	}
	if len(tokens) != rows {
		return nil, fmt.Errorf("%s: found %d tokens, expected %d, the rows of the embeddings in %s", path, len(tokens), rows, ct2File)
	}
	v, err := newVocabulary(path, tokens)
	if err != nil {
		return nil, err
	}
	v.unknown, v.eos = v.row(r.options.Unknown), v.row(r.options.EOS)
	if r.hasOwnTokenizers() {
		v.unknown = -1
	}
	v.controls = []string{r.options.BOS, "<pad>", "<blank>"}
	if v.eos == v.unknown {
		return nil, fmt.Errorf("%s: found %.40q as the end of a sentence and as the unknown token", path, r.options.EOS)
	}
	return v, nil
}

func (r *ct2Reader) sourceEmbedding() string {
	if name := "encoder/embeddings_0/weight"; r.t.has(name) {
		return name
	}
	return "encoder/embeddings/weight"
}

// readVocabularies sets the vocabularies, and their rows with a meaning.
func (r *ct2Reader) readVocabularies() error {
	srcShape, err := r.t.shape(r.sourceEmbedding(), 2)
	if err != nil {
		return err
	}
	tgtShape, err := r.t.shape("decoder/embeddings/weight", 2)
	if err != nil {
		return err
	}
	r.config = model.Config{DModel: tgtShape[1]}
	const shared = "shared_vocabulary"
	r.joint = r.folder.has(shared+".json") || r.folder.has(shared+".txt")
	if r.joint {
		if srcShape[0] != tgtShape[0] {
			return r.t.fail(r.sourceEmbedding(), "found %d rows, expected %d as in the decoder, with a shared vocabulary", srcShape[0], tgtShape[0])
		}
		r.tgt, err = r.readVocabulary(shared, tgtShape[0])
		r.src = r.tgt
	} else {
		if r.src, err = r.readVocabulary("source_vocabulary", srcShape[0]); err == nil {
			r.tgt, err = r.readVocabulary("target_vocabulary", tgtShape[0])
		}
	}
	if err != nil {
		return err
	}
	if r.t.has("decoder/projection/bias") {
		if r.bias, err = r.t.values("decoder/projection/bias", tgtShape[0]); err != nil {
			return err
		}
	}
	r.zero = r.flag("decoder/start_from_zero_embedding", false)
	// CTranslate2's converter of MarianMTModel leaves EOS to the tokenizer of transformers. No
	// other converter begins with a zero embedding in the place of EOS.
	if r.zero && *r.options.Start == r.options.EOS && !r.options.SourceBOS {
		r.options.SourceEOS = true
	}
	if r.start = r.tgt.row(*r.options.Start); r.start < 0 {
		r.start = r.tgt.unknown
	}
	switch {
	case r.tgt.eos < 0:
		return fmt.Errorf("%s: found no token %.40q, the end of a sentence", r.tgt.path, r.options.EOS)
	case r.src.eos < 0 && r.options.SourceEOS:
		return fmt.Errorf("%s: found no token %.40q, the end of a source", r.src.path, r.options.EOS)
	case r.start < 0 && !r.zero:
		return fmt.Errorf("%s: found no token %.40q, which the decoder starts with", r.tgt.path, *r.options.Start)
	}
	// A token that the decoder can predict needs an id besides Pad and BOS, which no search
	// selects.
	impossible := func(row int) bool {
		return row >= 0 && row != r.tgt.eos && row != r.tgt.unknown && r.bias != nil && math.IsInf(float64(r.bias[row]), -1)
	}
	if !r.zero && impossible(r.start) {
		r.tgt.bos = r.start
	}
	for row := range r.bias {
		if r.tgt.pad < 0 && row != r.tgt.bos && impossible(row) {
			r.tgt.pad = row
		}
	}
	bos := r.src.row(r.options.BOS)
	if !r.joint && bos != r.src.eos && bos != r.src.unknown {
		r.src.bos = bos
	}
	names := []string{"<pad>", "<blank>"}
	if r.tgt.pad >= 0 {
		names = []string{r.tgt.tokens[r.tgt.pad]}
	}
	for _, token := range names {
		row := r.src.row(token)
		if !r.joint && r.src.pad < 0 && row != r.src.bos && row != r.src.eos && row != r.src.unknown {
			r.src.pad = row
		}
	}
	if r.options.SourceBOS && bos < 0 {
		return fmt.Errorf("%s: found no token %.40q, the begin of a source", r.src.path, r.options.BOS)
	}
	return r.err
}

// hasOwnTokenizers reports whether the folder has tokenizers that only tfm reads.
func (r *ct2Reader) hasOwnTokenizers() bool {
	return r.folder.has(ct2Tokenizer+"joint") || r.folder.has(ct2Tokenizer+"source")
}

// readOwnSides sets the tokenizers to those that only tfm reads. The tokens of the vocabularies
// have their order.
func (r *ct2Reader) readOwnSides() error {
	encoded := map[string][]byte{}
	for _, key := range []string{"joint", "source", "target"} {
		if r.folder.has(ct2Tokenizer + key) {
			data, err := r.folder.read(ct2Tokenizer + key)
			if err != nil {
				return err
			}
			encoded[key] = data
		}
	}
	t, err := vocab.UnmarshalTokenizers(encoded)
	if err != nil {
		return fmt.Errorf("%s: %w", r.folder.path, err)
	}
	for _, s := range []struct {
		side      *side
		v         *vocabulary
		tokenizer text.Tokenizer
	}{{&r.source, r.src, t.Source}, {&r.target, r.tgt, t.Target}} {
		if n := s.tokenizer.Size(); n != len(s.v.tokens) || s.v.pad != model.Pad || s.v.bos != model.BOS || s.v.eos != model.EOS {
			return fmt.Errorf("%s: found %d tokens, with special ones %d, %d and %d, expected %d, as in the tokenizer beside it, with special ones 0, 1 and 2",
				s.v.path, len(s.v.tokens), s.v.pad, s.v.bos, s.v.eos, n)
		}
		s.side.tokenizer = s.tokenizer
		for i := range s.v.tokens {
			s.side.rows = append(s.side.rows, i)
		}
	}
	return nil
}

// readSides sets the tokenizers.
func (r *ct2Reader) readSides(f folder) error {
	if r.hasOwnTokenizers() {
		return r.readOwnSides()
	}
	names := [][2]string{{"source.spm", "target.spm"}, {"sentencepiece.model", "sentencepiece.model"}, {"spm.model", "spm.model"}}
	for _, n := range names {
		if !f.has(n[0]) || !f.has(n[1]) {
			continue
		}
		var err error
		if r.source, err = r.side(r.src, f, n[0]); err == nil {
			r.target, err = r.side(r.tgt, f, n[1])
		}
		return r.checkSides(err)
	}
	if f.has("source.spm") || f.has("target.spm") {
		return fmt.Errorf("%s: found one of source.spm and target.spm, expected both", f.path)
	}
	if f.has(ct2Codes) {
		data, err := f.read(ct2Codes)
		if err != nil {
			return err
		}
		if r.source, err = r.src.segments(data, f.name(ct2Codes)); err == nil {
			r.target, err = r.tgt.segments(data, f.name(ct2Codes))
		}
		return r.checkSides(err)
	}
	n := 0
	for _, token := range r.tgt.tokens {
		if strings.HasPrefix(token, "▁") {
			n++
		}
	}
	if n > len(r.tgt.tokens)/10 {
		return fmt.Errorf("%s: found %d pieces that begin with ▁, expected the tokenizer of SentencePiece beside them: source.spm and target.spm, or sentencepiece.model", r.tgt.path, n)
	}
	var err error
	if r.source, err = r.src.words(); err == nil {
		r.target, err = r.tgt.words()
	}
	return r.checkSides(err)
}

func (r *ct2Reader) side(v *vocabulary, f folder, name string) (side, error) {
	data, err := f.read(name)
	if err != nil {
		return side{}, err
	}
	return v.pieces(data, f.name(name))
}

// checkSides makes equal tokenizers one.
func (r *ct2Reader) checkSides(err error) error {
	if err == nil && r.joint && r.source.equal(r.target) {
		r.source = r.target
	}
	return err
}

// same returns the number that the encoder and the decoder have for an attribute. Before revision 5
// they share it. It sets r.err if they differ.
func (r *ct2Reader) same(name string, otherwise float64) float64 {
	enc, dec := "encoder/"+name, "decoder/"+name
	if r.binary.revision < 5 && r.t.has(name) {
		return r.number(name, otherwise)
	}
	x, y := r.number(enc, otherwise), r.number(dec, otherwise)
	if x != y && r.err == nil {
		r.err = r.t.fail(enc, "found %v, expected %v as in %s", x, y, dec)
	}
	return x
}

// readConfig sets r.config, except for the sizes of the vocabularies, their ties and the bias of
// the output.
func (r *ct2Reader) readConfig() error {
	c := &r.config
	heads := 8.0
	if r.binary.spec == "TransformerBig" {
		heads = 16
	}
	c.Heads = int(r.same("num_heads", heads))
	if c.Heads < 1 || c.DModel%c.Heads != 0 && !r.t.has("encoder/layer_0/self_attention/head_dim") {
		return r.t.fail("encoder/num_heads", "found %d, expected a divisor of the %d columns of the embeddings", c.Heads, c.DModel)
	}
	c.EncoderLayers, c.DecoderLayers = r.layers("encoder"), r.layers("decoder")
	if c.EncoderLayers == 0 || c.DecoderLayers == 0 {
		return fmt.Errorf("%s: found %d layers of the encoder and %d of the decoder, expected at least 1", r.path, c.EncoderLayers, c.DecoderLayers)
	}
	shape, err := r.t.shape("encoder/layer_0/ffn/linear_0/weight", 2)
	if err != nil {
		return err
	}
	c.DFF = shape[0]
	for _, step := range []func() error{r.readHeads, r.readNorms, r.readScale, r.readAlignment} {
		if err := step(); err != nil {
			return err
		}
	}
	activation := r.same("activation", 0)
	activations := map[float64]model.Activation{0: model.ReLU, 1: model.GELUTanh, 2: model.SiLU, 3: model.GELU}
	a, ok := activations[activation]
	if !ok {
		names := map[float64]string{4: "GELU by the sigmoid, x·σ(1.702x)", 5: "tanh", 6: "the sigmoid"}
		name := names[activation]
		if name == "" {
			name = fmt.Sprint(activation)
		}
		return r.refuse("encoder/activation", "activation %s", name)
	}
	c.Activation = a
	attention, ff := false, false
	for _, stack := range []string{"encoder", "decoder"} {
		for i := range max(c.EncoderLayers, c.DecoderLayers) {
			name := stack + "/layer_" + strconv.Itoa(i)
			for _, part := range []string{"/self_attention/linear_", "/attention/linear_"} {
				for k := range 3 {
					attention = attention || r.t.has(name+part+strconv.Itoa(k)+"/bias")
				}
			}
			ff = ff || r.t.has(name+"/ffn/linear_0/bias") || r.t.has(name+"/ffn/linear_1/bias")
		}
	}
	c.Biases = map[[2]bool]model.Biases{
		{true, true}: model.AllBiases, {false, true}: model.FeedForwardBiases,
		{true, false}: model.AttentionBiases, {false, false}: model.NoBiases,
	}[[2]bool{attention, ff}]
	c.SourceMarks = map[[2]bool]model.SourceMarks{
		{false, true}: model.EOSLast, {false, false}: model.NoMarks,
		{true, false}: model.BOSFirst, {true, true}: model.BOSAndEOS,
	}[[2]bool{r.options.SourceBOS, r.options.SourceEOS}]
	r.decoding.LengthPenalty, r.decoding.Alpha = model.PenaltyPower, 1
	// Settings that change nothing.
	r.same("embeddings_merge", 0)
	for _, name := range []string{"alibi_use_positive_positions", "scale_alibi"} {
		r.t.skip("decoder/" + name) // read with alibi only
	}
	for _, stack := range []string{"encoder", "decoder"} {
		for _, none := range []string{"alibi", "sliding_window", "final_logit_softcapping", "multi_query_attention"} {
			if x := r.number(stack+"/"+none, 0); x != 0 && r.err == nil {
				r.err = r.refuse(stack+"/"+none, "%v", x)
			}
		}
	}
	if x := r.number("decoder/scale_outputs", 1); x != 1 && r.err == nil {
		r.err = r.refuse("decoder/scale_outputs", "a factor of the outputs, %v", x)
	}
	return r.err
}

// layers returns the number of layers of a stack.
func (r *ct2Reader) layers(stack string) int {
	n := 0
	for r.t.has(stack + "/layer_" + strconv.Itoa(n) + "/ffn/linear_0/weight") {
		n++
	}
	return n
}

// attentions returns the names of the attentions of all layers.
func (r *ct2Reader) attentions() (names []string) {
	for i := range r.config.EncoderLayers {
		names = append(names, "encoder/layer_"+strconv.Itoa(i)+"/self_attention")
	}
	for i := range r.config.DecoderLayers {
		name := "decoder/layer_" + strconv.Itoa(i)
		names = append(names, name+"/self_attention", name+"/attention")
	}
	return names
}

// readHeads sets the sizes of the heads.
func (r *ct2Reader) readHeads() error {
	c := &r.config
	size := float64(c.DModel / c.Heads)
	names := r.attentions()
	size = r.number(names[0]+"/head_dim", size)
	if !(size >= 1 && size <= 1<<20) {
		return r.t.fail(names[0]+"/head_dim", "found %v, expected at least 1", size)
	}
	if int(size)*c.Heads != c.DModel {
		c.DK, c.DV = int(size), int(size)
	}
	for _, name := range names {
		scale := 1 / math.Sqrt(size)
		switch found := r.number(name+"/queries_scale", scale); {
		case r.number(name+"/head_dim", size) != size && r.err == nil:
			r.err = r.refuse(name+"/head_dim", "heads of several sizes")
		case math.Abs(found-scale) > 1e-6*scale && r.err == nil:
			r.err = r.refuse(name+"/queries_scale", "%v for heads of %v, not its reciprocal root", found, size)
		case r.flag(name+"/multi_query", false) && r.err == nil:
			r.err = r.refuse(name+"/multi_query", "one head of keys and values for all queries")
		case r.number(name+"/num_heads_kv", float64(c.Heads)) != float64(c.Heads) && r.err == nil:
			r.err = r.refuse(name+"/num_heads_kv", "fewer heads of keys and values than of queries")
		case r.number(name+"/sliding_window", 0) != 0 && r.err == nil:
			r.err = r.refuse(name+"/sliding_window", "attention in a window")
		}
		for _, part := range []struct{ name, text string }{
			{"relative_position_keys", "relative positions (Shaw et al., 2018)"},
			{"relative_attention_bias", "relative positions (T5)"},
			{"relative_asymmetric_position_keys", "relative positions"},
			{"rotary_dim", "rotary positions"},
			{"q_norm/gamma", "norms of queries and keys"},
		} {
			if r.t.has(name+"/"+part.name) && r.err == nil {
				r.err = r.refuse(name+"/"+part.name, "%s", part.text)
			}
		}
	}
	for _, stack := range []string{"encoder", "decoder"} {
		for i := range max(c.EncoderLayers, c.DecoderLayers) {
			name := stack + "/layer_" + strconv.Itoa(i)
			if r.t.has(name+"/ffn/linear_0_noact/weight") && r.err == nil {
				r.err = r.refuse(name+"/ffn/linear_0_noact/weight", "gated linear units")
			}
			if x := r.number(name+"/layer_scalar", 1); x != 1 && r.err == nil {
				r.err = r.refuse(name+"/layer_scalar", "a factor of the layer, %v", x)
			}
		}
		if name := stack + "/layernorm_embedding/gamma"; r.t.has(name) && r.err == nil {
			r.err = r.refuse(name, "a norm of the embeddings")
		}
	}
	return r.err
}

// readNorms sets the kind and the places of the norms.
func (r *ct2Reader) readNorms() error {
	c := &r.config
	if r.same("pre_norm", 1) != 0 {
		c.Norm = model.PreNorm
	}
	enc, dec := r.t.has("encoder/layer_norm/gamma"), r.t.has("decoder/layer_norm/gamma")
	if enc != dec {
		return fmt.Errorf("%s: found encoder/layer_norm %v and decoder/layer_norm %v, expected a norm after both stacks or none", r.path, enc, dec)
	}
	if enc != (c.Norm == model.PreNorm) {
		c.FinalNorm = model.FinalNormOff
		if enc {
			c.FinalNorm = model.FinalNormOn
		}
	}
	c.NormEps = 1e-5
	if !r.t.has("encoder/layer_0/ffn/layer_norm/beta") {
		c.NormKind, c.NormEps = model.RMSNorm, 1e-6
	}
	if r.options.Epsilon != nil {
		c.NormEps = *r.options.Epsilon
	}
	return r.err
}

// readScale sets whether embeddings are scaled.
func (r *ct2Reader) readScale() error {
	d := float64(r.config.DModel)
	factor := func(stack string) float64 {
		name := stack + "/scale_embeddings"
		if !r.t.has(name) {
			name = stack + "/embeddings/multiply_by_sqrt_depth"
		}
		v, ok := r.t.byName[name]
		if !ok {
			return math.Sqrt(d)
		}
		x := r.number(name, 1)
		if v.dtype != "int8" {
			return x
		}
		if x != 0 {
			return math.Sqrt(d)
		}
		return 1
	}
	enc, dec := factor("encoder"), factor("decoder")
	isRoot := math.Abs(enc-math.Sqrt(d)) <= 1e-6*enc
	switch {
	case r.err != nil:
		return r.err
	case enc != dec:
		return r.refuse("encoder/scale_embeddings", "embeddings times %v in the encoder and %v in the decoder", enc, dec)
	case !isRoot && enc != 1:
		return r.refuse("encoder/scale_embeddings", "embeddings times %v, neither 1 nor the root of %v", enc, d)
	}
	r.config.Unscaled = !isRoot
	return nil
}

// readAlignment sets the heads for alignments, if the model selects some: the first ones of a
// layer.
func (r *ct2Reader) readAlignment() error {
	scope := "decoder/"
	if r.binary.revision < 5 && r.t.has("alignment_layer") {
		scope = ""
	}
	layer, heads := int(r.number(scope+"alignment_layer", -1)), int(r.number(scope+"alignment_heads", 1))
	if layer == -1 && heads == 1 {
		return r.err // the default
	}
	if layer < 0 {
		layer += r.config.DecoderLayers
	}
	if heads <= 0 || heads > r.config.Heads {
		heads = r.config.Heads
	}
	var align model.AlignHeads
	for h := range heads {
		align.Heads = append(align.Heads, model.CrossHead{Layer: layer, Head: h})
	}
	if err := align.Validate(r.config); err != nil {
		return r.t.fail(scope+"alignment_layer", "found %d, expected a layer of the decoder", layer)
	}
	r.decoding.AlignHeads = align.String()
	return r.err
}

// readModel returns the model.
func (r *ct2Reader) readModel() (model.File, error) {
	c := &r.config
	c.SrcVocab, c.TgtVocab = len(r.source.rows), len(r.target.rows)
	positions, err := r.readPositions()
	if err != nil {
		return model.File{}, err
	}
	e, err := r.readEmbeddings()
	if err != nil {
		return model.File{}, err
	}
	if r.options.TFM != nil {
		r.options.TFM.apply(c)
	}
	t, err := r.t.newModel(*c)
	if err != nil {
		return model.File{}, err
	}
	e.store(r, t)
	if c.Positions == model.Learned {
		copy(t.SrcEmbed.Learned.W, positions[0].Data)
		copy(t.TgtEmbed.Learned.W, positions[1].Data)
	}
	if err := r.readLayers(t); err != nil {
		return model.File{}, err
	}
	if err := r.t.unused(); err != nil {
		return model.File{}, err
	}
	r.decoding.Suppressed = model.FormatSuppressed(r.target.special)
	tokenizers, err := vocab.Tokenizers{Source: r.source.tokenizer, Target: r.target.tokenizer}.Marshal()
	if err != nil {
		return model.File{}, err
	}
	file := model.File{Model: t, Tokenizers: tokenizers, Decoding: r.decoding, Info: map[string]string{
		"source": fmt.Sprintf("CTranslate2, binary version %d, %s revision %d", r.binary.version, strings.TrimPrefix(r.binary.spec+",", ","), r.binary.revision),
	}}
	if r.options.TFM != nil {
		r.options.TFM.applyFile(&file)
	}
	return file, nil
}

// readPositions sets the positions, and returns their tables if these are not sinusoids.
func (r *ct2Reader) readPositions() (tables [2]mat.Matrix, err error) {
	c := &r.config
	const enc, dec = "encoder/position_encodings/encodings", "decoder/position_encodings/encodings"
	if !r.t.has(enc) && !r.t.has(dec) {
		c.Positions, c.FirstPosition, c.MaxLen = model.TimingSignal, 1, ct2MaxLen
		if c.DModel < 4 || c.DModel%2 != 0 {
			return tables, fmt.Errorf("%s: found sinusoids of %d columns, expected an even number of at least 4", r.path, c.DModel)
		}
		return tables, nil
	}
	var kinds [2]model.Positions
	var firsts [2]int
	for i, name := range []string{enc, dec} {
		shape, err := r.t.shape(name, 2)
		if err != nil {
			return tables, err
		}
		if tables[i], err = r.t.matrix(name, shape[0], c.DModel); err != nil {
			return tables, err
		}
		tolerance := 1e-6
		if r.t.byName[name].dtype != "float32" {
			tolerance = 1e-2 // of 8 bits
		}
		kinds[i], firsts[i] = positionsOf(tables[i], tolerance)
	}
	if a, b := tables[0].Rows, tables[1].Rows; a != b {
		return tables, r.t.fail(enc, "found %d positions, expected %d as in the decoder", a, b)
	}
	c.Positions, c.MaxLen = model.Learned, tables[0].Rows
	if kinds[0] == kinds[1] && firsts[0] == firsts[1] {
		c.Positions, c.FirstPosition = kinds[0], firsts[0]
	}
	return tables, nil
}

// ct2MaxLen is the limit of the tokens of a sentence of a model without one.
const ct2MaxLen = 1024

// ct2Embeddings are the three matrices of the vocabularies.
type ct2Embeddings struct{ src, tgt, output mat.Matrix }

// readEmbeddings takes the embeddings and sets which of them are one.
func (r *ct2Reader) readEmbeddings() (e ct2Embeddings, err error) {
	c := &r.config
	if e.src, err = r.t.matrix(r.sourceEmbedding(), len(r.src.tokens), c.DModel); err != nil {
		return e, err
	}
	if e.tgt, err = r.t.matrix("decoder/embeddings/weight", len(r.tgt.tokens), c.DModel); err != nil {
		return e, err
	}
	if e.output, err = r.t.matrix("decoder/projection/weight", len(r.tgt.tokens), c.DModel); err != nil {
		return e, err
	}
	c.Tie = model.TieNone
	if slices.Equal(e.tgt.Data, e.output.Data) {
		c.Tie = model.TieDecoder
		oneBOS := !c.SourceMarks.HasBOS() || !r.zero && r.src.row(r.options.BOS) == r.start
		if r.joint && oneBOS && slices.Equal(e.src.Data, e.tgt.Data) && slices.Equal(r.source.rows, r.target.rows) {
			c.Tie = model.TieAll
		}
	}
	// The bias excludes the ids that the source cannot predict.
	excluded := r.excluded()
	c.OutputBias = r.bias == nil || slices.ContainsFunc(excluded, func(id int32) bool { return id > model.BOS })
	for row, b := range r.bias {
		if row != r.tgt.pad && row != r.tgt.bos && b != 0 {
			c.OutputBias = true
		}
	}
	c.OutputBias = c.OutputBias || r.bias != nil && (r.tgt.pad < 0 || r.tgt.bos < 0)
	return e, nil
}

// excluded returns the ids of the target that the source cannot predict, in ascending order.
func (r *ct2Reader) excluded() []int32 {
	list := append(r.target.excluded(), model.Pad, model.BOS)
	slices.Sort(list)
	return slices.Compact(list)
}

// store sets the embeddings and the bias of the output.
func (e ct2Embeddings) store(r *ct2Reader, t *model.Transformer) {
	src, tgt := t.SrcEmbed.E.Weights(), t.TgtEmbed.E.Weights()
	r.source.embed(src, e.src)
	r.target.embed(tgt, e.tgt)
	if r.tgt.bos < 0 && !r.zero {
		copy(tgt.Row(model.BOS), e.tgt.Row(r.start))
	}
	if bos := r.src.row(r.options.BOS); r.src.bos < 0 && t.Config.SourceMarks.HasBOS() && t.Config.Tie != model.TieAll {
		copy(src.Row(model.BOS), e.src.Row(bos))
	}
	if t.Config.Tie == model.TieNone {
		r.target.embed(t.Output.E.Weights(), e.output)
	}
	if t.Output.Bias == nil {
		return
	}
	b := t.Output.Bias.W
	for id, row := range r.target.rows {
		if row >= 0 && r.bias != nil {
			b[id] = r.bias[row]
		}
	}
	for _, id := range r.excluded() {
		b[id] = float32(math.Inf(-1))
	}
}

// ct2Naming are the names of CTranslate2.
var ct2Naming = naming{
	encoder: "encoder/layer_#/", decoder: "decoder/layer_#/",
	self:         [4]string{"self_attention/linear_0/*", "self_attention/linear_0/*", "self_attention/linear_0/*", "self_attention/linear_1/*"},
	cross:        [4]string{"attention/linear_0/*", "attention/linear_1/*", "attention/linear_1/*", "attention/linear_2/*"},
	encoderNorms: [2]string{"self_attention/layer_norm/*", "ffn/layer_norm/*"},
	decoderNorms: [3]string{"self_attention/layer_norm/*", "attention/layer_norm/*", "ffn/layer_norm/*"},
	finalNorms:   [2]string{"encoder/layer_norm/*", "decoder/layer_norm/*"},
	inner:        "ffn/linear_0/*", outer: "ffn/linear_1/*",
	weight: "weight", bias: "bias", gain: "gamma", normBias: "beta", outputsFirst: true, optionalBias: true,
}

// readLayers takes the tensors of all layers.
func (r *ct2Reader) readLayers(t *model.Transformer) error {
	for _, p := range ct2Naming.parts(t) {
		if name := p.kind("layer_norm_use_residual"); p.maps == nil && r.flag(name, false) {
			return r.refuse(name, "gains that are added to 1")
		}
	}
	return r.t.readLayers(t, &ct2Naming)
}
