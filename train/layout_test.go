package train

import (
	"context"
	"math"
	"testing"

	"tfm/model"
	"tfm/model/decode"
)

// Models with other tokens around their sources train: the loss is that of decoding, the longest
// sources fit in the smallest batches, and a stream gives the same weights as pairs in memory.
func TestSourceLayouts(t *testing.T) {
	ctx, p := context.Background(), pool(t, 2)
	for _, layout := range []model.SourceLayout{model.EOSLast, model.NoMarks, model.BOSFirst, model.BOSAndEOS, model.ToText, model.FromFirst, model.FromLast} {
		c := smallConfig()
		switch c.Source = layout; layout {
		case model.ToText:
			c.TgtLanguages = "fra=4"
		case model.FromFirst, model.FromLast:
			c.SrcLanguages = "eng=5"
		}
		d, o := copyData(), smallOptions(9)
		d.References, d.Detokenize = nil, nil
		o.MaxLen, o.BatchTokens, o.ValidEvery = 6, 7, 9
		var valid Validation
		m := newModel(t, c)
		mustRun(t, ctx, m, p, d, o, func(e Event) {
			if e.Kind == Validated {
				valid = e.Valid
			}
		})
		var srcs, tgts [][]int32
		for i := range d.Valid.Len() {
			srcs, tgts = append(srcs, d.Valid.Src(i)), append(tgts, d.Valid.Tgt(i))
		}
		lists, err := decode.New(decode.NewWeights(m, p), p).LogProbs(ctx, srcs, tgts)
		if err != nil {
			t.Fatal(err)
		}
		nll, n := 0.0, 0
		for _, list := range lists {
			for _, x := range list {
				nll, n = nll-x, n+1
			}
		}
		if nll /= float64(n); !(math.Abs(valid.NLL-nll) < 1e-5) {
			t.Errorf("%v: validation %v, decoding %v", layout, valid.NLL, nll)
		}
		streamed := newModel(t, c)
		d.Stream, d.Train = &testStream{pairs: d.Train, windows: 1}, nil
		mustRun(t, ctx, streamed, p, d, o, nil)
		wantSameWeights(t, layout.String(), streamed.Params.W, m.Params.W)
	}
	c, o := smallConfig(), smallOptions(1)
	c.Source, o.MaxLen, o.BatchTokens = model.BOSAndEOS, 63, 100
	_, err := Run(ctx, newModel(t, c), p, copyData(), o, nil)
	wantError(t, err, "max_len is 63, expected at most 62")
}

// A validation gives each translation the language that its reference begins with.
func TestValidationBegins(t *testing.T) {
	ctx, d := context.Background(), copyData()
	c, o := smallConfig(), smallOptions(1)
	c.TargetBegins, c.TgtLanguages, o.ValidEvery, o.LR = true, "deu=4 fra=4,5 spa=6", 1, 1e-6
	valid := new(Pairs)
	var begins [][]int32
	for i := range d.Valid.Len() {
		begin := [][]int32{{4, 5}, {6}, {4}}[i%3]
		begins = append(begins, begin)
		valid.Add(d.Valid.Src(i), append(begin[:len(begin):len(begin)], 7, 8))
	}
	d.Valid, d.References = valid, references(valid)
	var samples []Sample
	m := newModel(t, c)
	for i := range m.Params.W { // so that translations depend on their begins
		m.Params.W[i] *= 4
	}
	mustRun(t, ctx, m, nil, d, o, func(e Event) {
		if e.Kind == Validated {
			samples = e.Samples
		}
	})
	found := map[string]bool{}
	for _, s := range samples {
		found[s.Reference+": "+s.Hypothesis] = true
	}
	for i, begin := range begins {
		search := o.Search
		search.Begins = &decode.Begins{Targets: [][]int32{begin}}
		h, err := decode.New(decode.NewWeights(m, nil), nil).Translate(ctx, [][]int32{d.Valid.Src(i)}, search)
		if err != nil {
			t.Fatal(err)
		}
		delete(found, d.References[i]+": "+spell(h[0].Tokens))
	}
	if len(samples) != sampleCount || len(found) > 0 {
		t.Errorf("%d samples, with %v, which no language gives", len(samples), found)
	}
}
