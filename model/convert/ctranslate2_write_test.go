package convert

import (
	"context"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"tfm/internal/texttest"
	"tfm/mat"
	"tfm/model"
	"tfm/model/decode"
	"tfm/text/tokenizer/subword"
	"tfm/text/tokenizer/vocab"
)

// ct2Case is a model that CTranslate2 has.
type ct2Case struct {
	config     model.Config
	tokenizers vocab.Tokenizers
}

// ct2Cases returns models with each setting that CTranslate2 has, and each kind of tokenizer.
func ct2Cases(t *testing.T) map[string]ct2Case {
	t.Helper()
	ct2CasesOnce.Do(func() { ct2CasesMade = makeCT2Cases(t) })
	return ct2CasesMade
}

var (
	ct2CasesOnce sync.Once // training the tokenizers takes seconds
	ct2CasesMade map[string]ct2Case
)

func makeCT2Cases(t *testing.T) map[string]ct2Case {
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
	return map[string]ct2Case{
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

// subwordOf returns a joint tokenizer of subword-nmt with the pieces of lines.
func subwordOf(t *testing.T, lines []string) vocab.Tokenizers {
	t.Helper()
	codes, err := subword.NewCodes(subword.Version02, [][2]string{{"t", "h"}, {"e", "r"}, {"th", "e</w>"}, {"e", "r</w>"}})
	if err != nil {
		t.Fatal(err)
	}
	var entries []subword.Entry
	seen := map[string]bool{}
	for _, line := range lines {
		for piece := range strings.FieldsSeq(codes.Segment(line, nil)) {
			if !seen[piece] {
				seen[piece] = true
				entries = append(entries, subword.Entry{Piece: piece})
			}
		}
	}
	v, err := subword.NewVocabulary(entries, 0)
	if err != nil {
		t.Fatal(err)
	}
	tokenizer := subword.New(codes, v)
	return vocab.Tokenizers{Source: tokenizer, Target: tokenizer}
}

// A model that is written and read again has the same weights, bit for bit, the same configuration,
// tokenizers and settings.
func TestCTranslate2RoundTrip(t *testing.T) {
	for name, x := range ct2Cases(t) {
		t.Run(name, func(t *testing.T) {
			f := randomFile(t, x.config, x.tokenizers, 1)
			f.Decoding = decode.Settings{LengthPenalty: decode.PenaltyPower, Alpha: 0.5, Suppressed: "3"}.String()
			f.Info = map[string]string{"trained": "not"}
			dir := filepath.Join(t.TempDir(), "new", "folder")
			if err := Write("ctranslate2", dir, f); err != nil {
				t.Fatal(err)
			}
			g, err := Read(dir)
			if err != nil {
				t.Fatal(err)
			}
			checkSame(t, g, f)
		})
	}
}

// checkSame reports differences of two model files.
func checkSame(t *testing.T, got, want model.File) {
	t.Helper()
	if got.Model.Config != want.Model.Config {
		t.Fatalf("configuration %+v, want %+v", got.Model.Config, want.Model.Config)
	}
	for i, p := range want.Model.Params.List {
		for k, x := range got.Model.Params.List[i].W {
			if math.Float32bits(x) != math.Float32bits(p.W[k]) {
				t.Fatalf("%s: found %v at %d, want %v", p.Name, x, k, p.W[k])
			}
		}
	}
	if got.Decoding != want.Decoding || got.SrcLang != want.SrcLang || got.TgtLang != want.TgtLang || !maps.Equal(got.Info, want.Info) {
		t.Errorf("settings %+v %s %s %v, want %+v %s %s %v", got.Decoding, got.SrcLang, got.TgtLang, got.Info, want.Decoding, want.SrcLang, want.TgtLang, want.Info)
	}
	if !maps.EqualFunc(got.Tokenizers, want.Tokenizers, slices.Equal[[]byte]) {
		a, errA := vocab.UnmarshalTokenizers(got.Tokenizers)
		b, errB := vocab.UnmarshalTokenizers(want.Tokenizers)
		if errA != nil || errB != nil || a.Joint() != b.Joint() {
			t.Fatalf("tokenizers %v, %v", errA, errB)
		}
		source, target := texttest.Pairs(50)
		for _, line := range slices.Concat(source, target) {
			if x, y := a.Source.Encode(nil, line), b.Source.Encode(nil, line); !slices.Equal(x, y) {
				t.Fatalf("source ids %v of %q, want %v", x, line, y)
			}
			if x, y := a.Target.Encode(nil, line), b.Target.Encode(nil, line); !slices.Equal(x, y) {
				t.Fatalf("target ids %v of %q, want %v", x, line, y)
			}
		}
	}
}

// A model that is written over another one leaves no file of that.
func TestWriteCTranslate2Over(t *testing.T) {
	cases, dir := ct2Cases(t), t.TempDir()
	for _, name := range []string{"byte-level BPE", "halves, separate vocabularies, SiLU, 3+1 layers", "subword-nmt", "paper"} {
		f := randomFile(t, cases[name].config, cases[name].tokenizers, 1)
		f.Decoding = decode.PaperSettings().String()
		if err := WriteCTranslate2(dir, f); err != nil {
			t.Fatal(err)
		}
		g, err := ReadCTranslate2(dir)
		if err != nil {
			t.Fatal(err)
		}
		checkSame(t, g, f)
	}
}

// A refusal names the setting.
func TestWriteCTranslate2Refuses(t *testing.T) {
	source, target := texttest.Pairs(100)
	joint := trainBPE(t, 300, slices.Concat(source, target))
	for want, change := range map[string]func(*model.Config){
		"norm is \"deep\", expected post or pre for CTranslate2": func(c *model.Config) { c.Norm = model.DeepNorm },
		"norm_kind is \"unbiased\"":                              func(c *model.Config) { c.NormKind = model.UnbiasedNorm },
		"d_v is 4, expected 8, the d_k":                          func(c *model.Config) { c.DV = 4 },
		"d_k is 4, expected 16/2":                                func(c *model.Config) { c.DK, c.DV = 4, 4 },
	} {
		c := model.Config{DModel: 16, Heads: 2, DFF: 8, EncoderLayers: 1, DecoderLayers: 1, Tie: model.TieAll, NormEps: 1e-5, MaxLen: 32}
		change(&c)
		dir := filepath.Join(t.TempDir(), "x")
		err := WriteCTranslate2(dir, randomFile(t, c, vocab.Tokenizers{Source: joint, Target: joint}, 1))
		checkError(t, want, err, want)
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%s: the folder exists", want)
		}
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

// CTranslate2 loads what WriteCTranslate2 writes: its scores of given translations, and its
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
	cases := ct2Cases(t)
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
		if err := WriteCTranslate2(r.Dir, f); err != nil {
			t.Fatal(err)
		}
		src, err := namesOf(x.tokenizers.Source)
		if err != nil {
			t.Fatal(err)
		}
		tgt, err := namesOf(x.tokenizers.Target)
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
		tgt, _ := namesOf(cases[name].tokenizers.Target)
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

func tokensOf(ids []int32, v idNames) []string {
	tokens := []string{}
	for _, id := range ids {
		tokens = append(tokens, v.names[id])
	}
	return tokens
}

// scoreLikeSearch returns the log-probabilities of the tokens of a target and EOS in a search, in
// which Pad and BOS have none.
func scoreLikeSearch(t *testing.T, d *decode.Decoder, src, tgt []int32) (logProbs []float64) {
	t.Helper()
	for i := range len(tgt) + 1 {
		next := int32(model.EOS)
		if i < len(tgt) {
			next = tgt[i]
		}
		logProbs = append(logProbs, math.Log(float64(d.Next(src, tgt[:i])[next])))
	}
	return logProbs
}
