package convert

import (
	"strconv"

	"tfm/layer"
	"tfm/model"
)

// eachCT2Layer calls linear and norm with each linear map and each norm of t and its name in
// CTranslate2.
func eachCT2Layer(t *model.Transformer, linear func(l layer.Linear, name string), norm func(n layer.Norm, name string)) {
	for i := range t.Encoder {
		l, name := &t.Encoder[i], "encoder/layer_"+strconv.Itoa(i)
		norm(l.Norm1, name+"/self_attention/layer_norm")
		linear(l.Self.QKV, name+"/self_attention/linear_0")
		linear(l.Self.Out, name+"/self_attention/linear_1")
		norm(l.Norm2, name+"/ffn/layer_norm")
		linear(l.FF.Inner, name+"/ffn/linear_0")
		linear(l.FF.Outer, name+"/ffn/linear_1")
	}
	for i := range t.Decoder {
		l, name := &t.Decoder[i], "decoder/layer_"+strconv.Itoa(i)
		norm(l.Norm1, name+"/self_attention/layer_norm")
		linear(l.Self.QKV, name+"/self_attention/linear_0")
		linear(l.Self.Out, name+"/self_attention/linear_1")
		norm(l.Norm2, name+"/attention/layer_norm")
		linear(l.Cross.Q, name+"/attention/linear_0")
		linear(l.Cross.KV, name+"/attention/linear_1")
		linear(l.Cross.Out, name+"/attention/linear_2")
		norm(l.Norm3, name+"/ffn/layer_norm")
		linear(l.FF.Inner, name+"/ffn/linear_0")
		linear(l.FF.Outer, name+"/ffn/linear_1")
	}
	if t.Config.HasFinalNorm() {
		norm(t.EncNorm, "encoder/layer_norm")
		norm(t.DecNorm, "decoder/layer_norm")
	}
}
