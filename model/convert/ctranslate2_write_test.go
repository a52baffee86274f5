package convert

import (
	"context"
	"maps"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"tfm/internal/texttest"
	"tfm/mat"
	"tfm/model"
	"tfm/model/convert/ctranslate2"
	"tfm/model/convert/internal/parts"
	"tfm/model/convert/internal/parttest"
	"tfm/model/decode"
	"tfm/text/tokenizer/vocab"
)

// roundTripCase is a model that CTranslate2 has.
type roundTripCase struct {
	config     model.Config
	tokenizers vocab.Tokenizers
}

// roundTripCases returns models with each setting that CTranslate2 has, and each kind of tokenizer.
func roundTripCases(t *testing.T) map[string]roundTripCase {
	t.Helper()
	roundTripCasesOnce.Do(func() { roundTripCasesMade = makeRoundTripCases(t) })
	return roundTripCasesMade
}

var (
	roundTripCasesOnce sync.Once // training the tokenizers takes seconds
	roundTripCasesMade map[string]roundTripCase
)

func makeRoundTripCases(t *testing.T) map[string]roundTripCase {
	t.Helper()
	source, target := texttest.Pairs(300)
	unigram := trainSentencePiece(t, 150, slices.Concat(source, target))
	joint := vocab.Tokenizers{Source: unigram, Target: unigram}
	separate := vocab.Tokenizers{Source: trainSentencePiece(t, 120, source), Target: trainSentencePiece(t, 100, target)}
	byteBPE := trainBPE(t, 400, slices.Concat(source, target))
	base := func(change func(*model.Config)) model.Config {
		c := model.Config{DModel: 16, Heads: 2, DFF: 32, EncoderLayers: 2, DecoderLayers: 2, Tie: model.TieAll, NormEps: 1e-5, MaxLen: 128}
		change(&c)
		return c
	}
	return map[string]roundTripCase{
		"paper": {base(func(c *model.Config) {}), joint},
		"pre-norm, learned positions, untied": {base(func(c *model.Config) {
			c.Norm, c.Positions, c.Tie, c.OutputBias, c.Dropout, c.LabelSmoothing = model.PreNorm, model.Learned, model.TieNone, true, 0.1, 0.2
		}), joint},
		"halves, separate vocabularies, SiLU, 3+1 layers": {base(func(c *model.Config) {
			c.Positions, c.Tie, c.Activation, c.EncoderLayers, c.DecoderLayers = model.Halves, model.TieDecoder, model.SiLU, 3, 1
		}), separate},
		"tensor2tensor's positions from 1, GELU, final norm, no biases": {base(func(c *model.Config) {
			c.Positions, c.FirstPosition, c.Activation, c.FinalNorm, c.Biases = model.TimingSignal, 1, model.GELU, model.FinalNormOn, model.NoBiases
		}), joint},
		"RMS, unscaled, tanh GELU, pre-norm without final norm": {base(func(c *model.Config) {
			c.NormKind, c.Unscaled, c.Activation, c.Norm, c.FinalNorm = model.RMSNorm, true, model.GELUTanh, model.PreNorm, model.FinalNormOff
		}), joint},
		"no EOS of sources, biases of the feed-forward network": {base(func(c *model.Config) {
			c.Source, c.Biases, c.NormEps = model.NoMarks, model.FeedForwardBiases, 1e-6
		}), joint},
		"BOS and EOS of sources, biases of attention": {base(func(c *model.Config) {
			c.Source, c.Biases, c.Init, c.Tie = model.BOSAndEOS, model.AttentionBiases, model.PyTorchInit, model.TieNone
		}), separate},
		"byte-level BPE": {base(func(c *model.Config) { c.OutputBias = true }), vocab.Tokenizers{Source: byteBPE, Target: byteBPE}},
		"subword-nmt":    {base(func(c *model.Config) {}), subwordOf(t, slices.Concat(source, target))},
	}
}

// A model that is written and read again has the same weights, bit for bit, and the same tokens,
// also if it is written over another one. Tokenizers in Python are not read.
func TestCTranslate2RoundTrip(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "folder")
	for name, x := range roundTripCases(t) {
		t.Run(name, func(t *testing.T) {
			f := randomFile(t, x.config, x.tokenizers, 1)
			if err := ctranslate2.Write(dir, f); err != nil {
				t.Fatal(err)
			}
			g, err := ctranslate2.Read(dir)
			if name == "byte-level BPE" {
				parttest.CheckError(t, name, err, "pieces that begin with Ġ, expected the tokenizer")
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			checkSame(t, g, f)
		})
	}
}

const ctranslate2Program = `
import json, sys, ctranslate2
out = []
for case in json.load(sys.stdin):
    t = ctranslate2.Translator(case["dir"], compute_type="float32", intra_threads=1)
    scores = t.score_batch(case["sources"], case["targets"])
    results = {}
    for beam in (1, 4):
        results[beam] = [
            [{"tokens": h, "score": s} for h, s in zip(r.hypotheses, r.scores)]
            for r in t.translate_batch(case["sources"], beam_size=beam, num_hypotheses=beam, length_penalty=0.5,
                                       max_decoding_length=20, min_decoding_length=0, return_scores=True)]
    out.append({"scores": [s.log_probs for s in scores], "results": results})
json.dump(out, sys.stdout)
`

// CTranslate2 loads what ctranslate2.Write writes: its scores of given translations, and its
// translations by greedy and beam search with their scores are those of the model.
func TestWriteCTranslate2InPython(t *testing.T) {
	python := pythonWith(t, "ctranslate2")
	type request struct {
		Dir     string     `json:"dir"`
		Sources [][]string `json:"sources"`
		Targets [][]string `json:"targets"`
	}
	type response struct {
		Scores  [][]float64
		Results map[string][][]struct {
			Tokens []string
			Score  float64
		}
	}
	cases := roundTripCases(t)
	names := slices.Sorted(maps.Keys(cases))
	source, target := texttest.Pairs(12)
	var requests []request
	var files []model.File
	var srcs, tgts [][][]int32
	for _, name := range names {
		x := cases[name]
		c := x.config
		c.OutputBias = name != "paper"
		f := randomFile(t, c, x.tokenizers, 3)
		noise := rand.New(rand.NewPCG(3, 3)) // so that some translations are much more probable
		for i := range f.Model.Params.W {
			f.Model.Params.W[i] += float32(0.2 * noise.NormFloat64())
		}
		if c.OutputBias {
			f.Model.Output.Bias.W[model.EOS] += 3
		}
		r := request{Dir: filepath.Join(t.TempDir(), "model")}
		if err := ctranslate2.Write(r.Dir, f); err != nil {
			t.Fatal(err)
		}
		src, err := parts.NamesOf(x.tokenizers.Source)
		if err != nil {
			t.Fatal(err)
		}
		tgt, err := parts.NamesOf(x.tokenizers.Target)
		if err != nil {
			t.Fatal(err)
		}
		var ids [2][][]int32
		for i := range source {
			a, b := x.tokenizers.Source.Encode(nil, source[i]), x.tokenizers.Target.Encode(nil, target[i])
			a, b = a[:min(len(a), 20)], b[:min(len(b), 20)]
			ids[0], ids[1] = append(ids[0], a), append(ids[1], b)
			r.Sources, r.Targets = append(r.Sources, tokensOf(a, src)), append(r.Targets, tokensOf(b, tgt))
		}
		requests, files, srcs, tgts = append(requests, r), append(files, f), append(srcs, ids[0]), append(tgts, ids[1])
	}
	var responses []response
	runPython(t, python, ctranslate2Program, requests, &responses)
	pool := mat.NewPool(2)
	defer pool.Close()
	for k, name := range names {
		d := decode.New(decode.NewWeights(files[k].Model, pool), pool)
		tgt, _ := parts.NamesOf(cases[name].tokenizers.Target)
		worst, compared := 0.0, 0
		for i := range source {
			got := scoreLikeSearch(t, d, srcs[k][i], tgts[k][i])
			for j, want := range responses[k].Scores[i] {
				if want > -50 { // a probability that float32 has
					worst = max(worst, math.Abs(got[j]-want))
				}
			}
		}
		for beam, key := range map[int]string{1: "1", 4: "4"} {
			o := decode.Options{Beam: beam, NBest: beam, Alpha: 0.5, Penalty: decode.PenaltyPower, MaxExtra: 100, MaxTokens: 20}
			lists, err := d.NBest(context.Background(), srcs[k], o)
			if err != nil {
				t.Fatal(err)
			}
			for i, list := range lists {
				h, want := list[0], responses[k].Results[key][i][0]
				isLong := h.Truncated || len(want.Tokens) == 20
				if isLong && beam > 1 {
					continue // CTranslate2 scores them without a last token
				}
				compared++
				if got := tokensOf(h.Tokens, tgt); !slices.Equal(got, want.Tokens) || !isLong && math.Abs(h.Score-want.Score) > 1e-4 {
					t.Errorf("%s: beam %d: translation %q (%v) of source %d, want %q (%v)", name, beam, got, h.Score, i, want.Tokens, want.Score)
				}
			}
		}
		t.Logf("%s: log-probabilities within %.2g, %d translations compared", name, worst, compared)
		if worst > 1e-4 {
			t.Errorf("%s: log-probabilities differ by up to %.3g, want 1e-4", name, worst)
		}
	}
}

func tokensOf(ids []int32, v parts.IDNames) []string {
	tokens := []string{}
	for _, id := range ids {
		tokens = append(tokens, v.Names[id])
	}
	return tokens
}
