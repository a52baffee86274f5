package ctranslate2

import (
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"tfm/mat"
	"tfm/model"
	"tfm/model/decode"
)

// same returns the number that the encoder and the decoder have for an attribute. Before revision 5
// they share it. It fails if they differ.
func (r *reader) same(name string, otherwise float64) float64 {
	enc, dec := "encoder/"+name, "decoder/"+name
	if r.binary.revision < 5 && r.Has(name) {
		return r.number(name, otherwise)
	}
	x, y := r.number(enc, otherwise), r.number(dec, otherwise)
	if x != y {
		r.Fail(enc, "found %v, expected %v as in %s", x, y, dec)
	}
	return x
}

// activations are the activation functions by their number.
var activations = []model.Activation{model.ReLU, model.GELUTanh, model.SiLU, model.GELU}

// readConfig sets r.config, except for the sizes of the vocabularies, their ties and the bias of
// the output.
func (r *reader) readConfig() error {
	c := &r.config
	heads := 8.0
	if r.binary.spec == "TransformerBig" {
		heads = 16
	}
	c.Heads = int(r.same("num_heads", heads))
	if c.Heads < 1 || c.DModel%c.Heads != 0 && !r.Has("encoder/layer_0/self_attention/head_dim") {
		return r.Fail("encoder/num_heads", "found %d, expected a divisor of the %d columns of the embeddings", c.Heads, c.DModel)
	}
	c.EncoderLayers, c.DecoderLayers = r.layers("encoder"), r.layers("decoder")
	if c.EncoderLayers == 0 || c.DecoderLayers == 0 {
		return r.FailFile("found %d layers of the encoder and %d of the decoder, expected at least 1", c.EncoderLayers, c.DecoderLayers)
	}
	c.DFF = r.Shape("encoder/layer_0/ffn/linear_0/weight", 2)[0]
	r.readHeads()
	r.refuseOthers()
	r.readNorms()
	r.readScale()
	r.readAlignment()
	r.readActivation()
	var attention, ff bool
	for name := range r.ByName {
		if strings.Contains(name, "/layer_") && strings.HasSuffix(name, "/bias") {
			attention = attention || strings.Contains(name, "attention/linear_")
			ff = ff || strings.Contains(name, "/ffn/linear_")
		}
	}
	c.Biases = map[[2]bool]model.Biases{
		{true, true}: model.AllBiases, {false, true}: model.FeedForwardBiases,
		{true, false}: model.AttentionBiases, {false, false}: model.NoBiases,
	}[[2]bool{attention, ff}]
	c.Source = map[[2]bool]model.SourceLayout{
		{false, true}: model.EOSLast, {false, false}: model.NoMarks,
		{true, false}: model.BOSFirst, {true, true}: model.BOSAndEOS,
	}[[2]bool{r.options.SourceBOS, r.options.SourceEOS}]
	r.decoding.LengthPenalty, r.decoding.Alpha = decode.PenaltyPower, 1
	// Settings that change nothing.
	r.same("embeddings_merge", 0)
	for _, name := range []string{"alibi_use_positive_positions", "scale_alibi"} {
		r.Skip("decoder/" + name) // read with alibi only
	}
	return r.Err
}

// readActivation sets the activation function.
func (r *reader) readActivation() {
	x := r.same("activation", 0)
	if i := int(x); x >= 0 && i < len(activations) && float64(i) == x {
		r.config.Activation = activations[i]
		return
	}
	name, ok := map[float64]string{4: "GELU by the sigmoid, x·σ(1.702x)", 5: "tanh", 6: "the sigmoid"}[x]
	if !ok {
		name = fmt.Sprint(x)
	}
	r.refuse("encoder/activation", "activation %s", name)
}

// layers returns the number of layers of a stack.
func (r *reader) layers(stack string) int {
	n := 0
	for r.Has(layerName(stack, n) + "/ffn/linear_0/weight") {
		n++
	}
	return n
}

// layerName returns the prefix of the names of a layer.
func layerName(stack string, i int) string { return stack + "/layer_" + strconv.Itoa(i) }

// attentions returns the names of the attentions of all layers.
func (r *reader) attentions() (names []string) {
	for i := range r.config.EncoderLayers {
		names = append(names, layerName("encoder", i)+"/self_attention")
	}
	for i := range r.config.DecoderLayers {
		name := layerName("decoder", i)
		names = append(names, name+"/self_attention", name+"/attention")
	}
	return names
}

// readHeads sets the sizes of the heads.
func (r *reader) readHeads() {
	c := &r.config
	names := r.attentions()
	size := r.number(names[0]+"/head_dim", float64(c.DModel/c.Heads))
	if !(size >= 1 && size <= 1<<20) {
		r.Fail(names[0]+"/head_dim", "found %v, expected at least 1", size)
		return
	}
	if int(size)*c.Heads != c.DModel {
		c.DK, c.DV = int(size), int(size)
	}
	scale := 1 / math.Sqrt(size)
	for _, name := range names {
		found := r.number(name+"/queries_scale", scale)
		switch {
		case r.number(name+"/head_dim", size) != size:
			r.refuse(name+"/head_dim", "heads of several sizes")
		case math.Abs(found-scale) > 1e-6*scale:
			r.refuse(name+"/queries_scale", "%v for heads of %v, not its reciprocal root", found, size)
		}
	}
}

// offSettings are numbers that tfm's models do not have unless they have these values, by the end
// of their names. Tensors that tfm's models never have, such as those of relative positions and
// gated linear units, stay unused.
var offSettings = map[string]float64{
	"alibi": 0, "sliding_window": 0, "final_logit_softcapping": 0, "multi_query_attention": 0, "multi_query": 0, "layer_norm_use_residual": 0,
	"scale_outputs": 1, "layer_scalar": 1,
}

// refuseOthers reports settings that tfm's models do not have.
func (r *reader) refuseOthers() {
	for _, name := range slices.Sorted(maps.Keys(r.ByName)) {
		end := path.Base(name)
		off, isSetting := offSettings[end]
		if end == "num_heads_kv" {
			off, isSetting = float64(r.config.Heads), true
		}
		if !isSetting {
			continue
		}
		if x := r.number(name, off); x != off {
			r.refuse(name, "%v", x)
		}
	}
}

// readNorms sets the kind and the places of the norms.
func (r *reader) readNorms() {
	c := &r.config
	if r.same("pre_norm", 1) != 0 {
		c.Norm = model.PreNorm
	}
	enc, dec := r.Has("encoder/layer_norm/gamma"), r.Has("decoder/layer_norm/gamma")
	if enc != dec {
		r.FailFile("found encoder/layer_norm %v and decoder/layer_norm %v, expected a norm after both stacks or none", enc, dec)
	}
	if enc != (c.Norm == model.PreNorm) {
		c.FinalNorm = model.FinalNormOff
		if enc {
			c.FinalNorm = model.FinalNormOn
		}
	}
	c.NormEps = 1e-5
	if !r.Has("encoder/layer_0/ffn/layer_norm/beta") {
		c.NormKind, c.NormEps = model.RMSNorm, 1e-6
	}
	if r.options.Epsilon != nil {
		c.NormEps = *r.options.Epsilon
	}
}

// readScale sets whether embeddings are scaled.
func (r *reader) readScale() {
	d := float64(r.config.DModel)
	factor := func(stack string) float64 {
		name := stack + "/scale_embeddings"
		if !r.Has(name) {
			name = stack + "/embeddings/multiply_by_sqrt_depth"
		}
		x := r.number(name, 1)
		switch v := r.ByName[name]; {
		case v != nil && v.Dtype != "int8":
			return x
		case x == 0:
			return 1
		}
		return math.Sqrt(d)
	}
	enc, dec := factor("encoder"), factor("decoder")
	isRoot := math.Abs(enc-math.Sqrt(d)) <= 1e-6*enc
	switch {
	case enc != dec:
		r.refuse("encoder/scale_embeddings", "embeddings times %v in the encoder and %v in the decoder", enc, dec)
	case !isRoot && enc != 1:
		r.refuse("encoder/scale_embeddings", "embeddings times %v, neither 1 nor the root of %v", enc, d)
	}
	r.config.Unscaled = !isRoot
}

// readAlignment sets the heads for alignments, if the model selects some: the first ones of a
// layer.
func (r *reader) readAlignment() {
	scope := "decoder/"
	if r.binary.revision < 5 && r.Has("alignment_layer") {
		scope = ""
	}
	layer, heads := int(r.number(scope+"alignment_layer", -1)), int(r.number(scope+"alignment_heads", 1))
	if layer == -1 && heads == 1 {
		return // the default
	}
	if layer < 0 {
		layer += r.config.DecoderLayers
	}
	if heads <= 0 || heads > r.config.Heads {
		heads = r.config.Heads
	}
	var align decode.AlignHeads
	for h := range heads {
		align.Heads = append(align.Heads, decode.CrossHead{Layer: layer, Head: h})
	}
	if err := align.Validate(r.config); err != nil {
		r.Fail(scope+"alignment_layer", "found %d, expected a layer of the decoder", layer)
	}
	r.decoding.AlignHeads = align.String()
}

// readPositions sets the positions, and returns their tables if these are not sinusoids.
func (r *reader) readPositions() (tables [2]mat.Matrix) {
	c := &r.config
	const enc, dec = "encoder/position_encodings/encodings", "decoder/position_encodings/encodings"
	if !r.Has(enc) && !r.Has(dec) {
		c.Positions, c.FirstPosition, c.MaxLen = model.TimingSignal, 1, defaultMaxLen
		if c.DModel < 4 || c.DModel%2 != 0 {
			r.FailFile("found sinusoids of %d columns, expected an even number of at least 4", c.DModel)
		}
		return tables
	}
	var kinds [2]model.Positions
	var firsts [2]int
	for i, name := range []string{enc, dec} {
		if tables[i] = r.Matrix(name, r.Shape(name, 2)[0], c.DModel); r.Err != nil {
			return tables
		}
		tolerance := 1e-6
		if r.ByName[name].Dtype != "float32" {
			tolerance = 1e-2 // of 8 bits
		}
		kinds[i], firsts[i] = positionsOf(tables[i], tolerance)
	}
	if a, b := tables[0].Rows, tables[1].Rows; a != b {
		r.Fail(enc, "found %d positions, expected %d as in the decoder", a, b)
	}
	c.Positions, c.MaxLen = model.Learned, tables[0].Rows
	if kinds[0] == kinds[1] && firsts[0] == firsts[1] {
		c.Positions, c.FirstPosition = kinds[0], firsts[0]
	}
	return tables
}

// defaultMaxLen is the limit of the tokens of a sentence of a model without one.
const defaultMaxLen = 1024
