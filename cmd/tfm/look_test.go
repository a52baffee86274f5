package main

import (
	"context"
	"testing"

	"tfm/model"
	"tfm/model/decode"
	"tfm/translate"
)

// A map is the weights that the model computes: the mean over its heads is that of translate
// without heads that align.
func TestLookShowsTheModelsAttention(t *testing.T) {
	tr, err := translate.Open(smallModel(t, 200), translate.Options{Threads: 1, KeepModel: true, Decoding: decode.PaperSettings()})
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	s, err := look(t.Context(), tr, model.NewPass(tr.Model(), nil), "a small dog")
	if err != nil {
		t.Fatal(err)
	}
	request := translate.Request{Texts: []string{s.Source}, Decode: decode.Options{Beam: 1, MaxExtra: 50}, Attention: true}
	results, err := tr.Do(context.Background(), request)
	if err != nil {
		t.Fatal(err)
	}
	if s.Translation != results[0].Best() || s.Translation == "" {
		t.Errorf("translation %q, want %q", s.Translation, results[0].Best())
	}
	if s.In[0] != "<s>" || s.Out[len(s.Out)-1] != "</s>" || s.Src[len(s.Src)-1] != "</s>" || len(s.In) != len(s.Out) || s.In[1] != s.Out[0] {
		t.Errorf("pieces %q, given %q, said %q", s.Src, s.In, s.Out)
	}
	c := tr.Config()
	if len(s.EncoderSelf) != c.EncoderLayers || len(s.DecoderSelf) != c.DecoderLayers || len(s.Cross) != c.DecoderLayers || len(s.Cross[0]) != c.Heads {
		t.Fatalf("attention of %d, %d and %d layers", len(s.EncoderSelf), len(s.DecoderSelf), len(s.Cross))
	}
	want := results[0].Translations[0].Attention
	for i := range want {
		for j := range want[i] {
			var got float32
			for _, w := range s.Cross[c.DecoderLayers-1] {
				got += w[i][j] / float32(c.Heads)
			}
			if d := got - want[i][j]; d > 1e-6 || d < -1e-6 { // the means are rounded otherwise
				t.Errorf("row %d, column %d: %v, want %v", i, j, got, want[i][j])
			}
		}
		for j := range s.DecoderSelf[0][0][i] {
			if j > i && s.DecoderSelf[0][0][i][j] != 0 {
				t.Errorf("step %d looks at step %d", i, j)
			}
		}
	}
}
