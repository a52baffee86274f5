package e2e

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestInfoOfPresets(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		// 32,000·512 embeddings; an encoder layer has 4·(512²+512) + 2·512·2048+2048+512 +
		// 2·2·512 = 3,152,384, a decoder layer 4,204,032.
		{[]string{"-preset", "base", "-vocab-size", "32000"}, "parameters: 60,522,496\n"},
		// A recipe says how many pieces there are, too.
		{[]string{"-preset", "multi30k-tok", "-vocab-size", "10000", "-set", "d-model=128"}, "parameters: 2,605,568\n"},
		{[]string{"-preset", "multi30k-90m", "-vocab-size", "9000"}, "parameters: 5,882,112\n"},
		// Far more than any memory: it is counted, not allocated.
		{[]string{"-preset", "big", "-vocab-size", "16000000", "-set", "d-model=65536"}, "\n"},
	} {
		if o := mustRun(t, "", append([]string{"info"}, c.args...)...); !strings.HasSuffix(o.stdout, c.want) {
			t.Errorf("%v, want %q:\n%s", c.args, c.want, o.stdout)
		}
	}
}

func TestInfoSaysWhichReadingIsInForce(t *testing.T) {
	for _, c := range []struct{ flags, want string }{
		{"", "heads:           8 of d_k = d_v = 64, with biases\n"},
		{"", "norm:            post-norm, LayerNorm(x + Dropout(Sublayer(x))), biased variance, eps 1e-05 in the root, none after the stacks\n"},
		{"", "positions:       sinusoids, sin at 2i and cos at 2i+1, first position 0, at most 1024\n"},
		{"-preset small", "length penalty:  power, n^1 for n tokens with EOS\n"},
		{"-set norm=pre", "norm:            pre-norm, x + Dropout(Sublayer(LayerNorm(x))), biased variance, eps 1e-05 in the root, one after each stack\n"},
		{"-set norm=pre -set final-norm=false -set norm-kind=rms -set norm-eps=1e-6", "Sublayer(RMSNorm(x))), no mean, no bias, eps 1e-06 in the root, none after the stacks\n"},
		// 0.81·(6^4·6)^(1/16), (3·6)^(1/4), 0.87·(6^4·6)^(-1/16), (12·6)^(-1/4)
		{"-set norm=deep", "DeepNorm, LayerNorm(α·x + Dropout(Sublayer(x))), α 1.418 and 2.06, β 0.497 and 0.3433 in encoder and decoder, "},
		{"-set heads=3 -set d-k=512 -set d-v=512 -set bias=false", "heads:           3 of d_k = d_v = 512, without biases\n"},
		{"-set positions=halves -set first-position=1", "sines in the first half and cosines in the second, first position 1,"},
		{"-set scale-embeddings=false -set tie=decoder -set output-bias=true", "not scaled, tied: decoder, with an output bias"},
	} {
		args := append([]string{"info", "-vocab-size", "5000"}, strings.Fields(c.flags)...)
		mustHave(t, mustRun(t, "", args...).stdout, c.want)
	}
}

func TestInfoJSON(t *testing.T) {
	m := toyModel(t)
	var got struct {
		Config struct {
			DModel int `json:"d_model"`
		}
		Weights           string
		Bytes, Parameters int
	}
	noError(t, json.Unmarshal([]byte(mustRun(t, "", "info", m, "-json").stdout), &got))
	if got.Config.DModel == 0 || got.Weights != "float32" || got.Bytes < 4*got.Parameters || got.Parameters == 0 {
		t.Errorf("tfm info -json = %+v", got)
	}
	if file, flag := mustRun(t, "", "info", m).stdout, mustRun(t, "", "info", "-model", m).stdout; file != flag {
		t.Errorf("tfm info MODEL =\n%s\nwant that of -model:\n%s", file, flag)
	}
}
