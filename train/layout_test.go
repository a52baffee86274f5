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
	for _, layout := range []model.SourceLayout{model.EOSLast, model.NoMarks, model.BOSFirst, model.BOSAndEOS, model.ToText} {
		c := smallConfig()
		if c.Source = layout; layout == model.ToText {
			c.TgtLanguages = "fra=4"
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
	for _, c := range []func(*model.Config){
		func(c *model.Config) { c.Source, c.SrcLanguages = model.FromFirst, "eng=5" },
		func(c *model.Config) { c.TargetBegins, c.TgtLanguages = true, "fra=4" },
	} {
		config := smallConfig()
		c(&config)
		_, err := Run(ctx, newModel(t, config), p, copyData(), smallOptions(1), nil)
		wantError(t, err, "source_marks")
	}
	c, o := smallConfig(), smallOptions(1)
	c.Source, o.MaxLen, o.BatchTokens = model.BOSAndEOS, 63, 100
	_, err := Run(ctx, newModel(t, c), p, copyData(), o, nil)
	wantError(t, err, "max_len is 63, expected at most 62")
}
