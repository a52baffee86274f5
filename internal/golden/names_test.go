package golden

import "testing"

func TestNames(t *testing.T) {
	for ours, want := range map[string]struct {
		theirs   string
		from, to int
	}{
		"encoder.0.self.qkv.weight":  {"encoder.layers.0.self_attn.in_proj_weight", 0, 3},
		"encoder.11.self.out.bias":   {"encoder.layers.11.self_attn.out_proj.bias", 0, 0},
		"decoder.1.cross.q.bias":     {"decoder.layers.1.multihead_attn.in_proj_bias", 0, 1},
		"decoder.1.cross.kv.weight":  {"decoder.layers.1.multihead_attn.in_proj_weight", 1, 3},
		"decoder.1.cross.out.weight": {"decoder.layers.1.multihead_attn.out_proj.weight", 0, 0},
		"decoder.0.ff.inner.weight":  {"decoder.layers.0.linear1.weight", 0, 0},
		"decoder.0.ff.outer.bias":    {"decoder.layers.0.linear2.bias", 0, 0},
		"decoder.0.norm3.gain":       {"decoder.layers.0.norm3.weight", 0, 0},
		"encoder.norm.bias":          {"encoder.norm.bias", 0, 0},
		"source.embedding":           {"source.weight", 0, 0},
		"target.embedding":           {"target.weight", 0, 0},
		"embedding":                  {"source.weight", 0, 0},
		"output.weight":              {"output.weight", 0, 0},
	} {
		if name, from, to := theirs(ours); name != want.theirs || from != want.from || to != want.to {
			t.Errorf("theirs(%q) = %q, %d, %d, want %v", ours, name, from, to, want)
		}
	}
}
