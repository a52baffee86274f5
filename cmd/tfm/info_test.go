package main

import (
	"strings"
	"testing"
)

func TestInfoOfPresets(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		// 32,000·512 embeddings; an encoder layer has 4·(512²+512) + 2·512·2048+2048+512 + 2·2·512 = 3,152,384, a decoder layer 4,204,032.
		{[]string{"-preset", "base", "-vocab", "32000"}, "parameters: 60,522,496\n"},
		{[]string{"-preset", "base", "-src-vocab", "32000", "-tgt-vocab", "16000"}, "parameters: 68,714,496\n"},
		{[]string{"-preset", "base", "-vocab", "32000", "-encoder-layers", "12", "-decoder-layers", "1"}, "parameters: 58,416,640\n"},
		// Far more than any memory: it is counted, not allocated.
		{[]string{"-preset", "big", "-vocab", "16000000", "-d-model", "65536"}, "\n"},
	} {
		if o := mustRun(t, "", append([]string{"info"}, c.args...)...); !strings.HasSuffix(o.stdout, c.want) {
			t.Errorf("%v, want %q:\n%s", c.args, c.want, o.stdout)
		}
	}
}
