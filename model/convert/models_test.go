package convert

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tfm/internal/texttest"
	"tfm/layer"
	"tfm/model"
	"tfm/model/convert/internal/parts"
	"tfm/model/convert/internal/parttest"
	"tfm/model/decode"
	"tfm/text/tokenizer/bpe"
	"tfm/text/tokenizer/moses"
	"tfm/text/tokenizer/sentencepiece"
	"tfm/text/tokenizer/sentencepiece/train"
	"tfm/text/tokenizer/subword"
	"tfm/text/tokenizer/vocab"
)

// trainSentencePiece returns a unigram model of size pieces trained on lines.
func trainSentencePiece(t *testing.T, size int, lines []string) *sentencepiece.Tokenizer {
	t.Helper()
	trainer, err := train.New(train.Settings{Size: size, Normalization: "identity", Coverage: 0.9995})
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines {
		trainer.Add(line)
	}
	m, err := trainer.Train()
	if err != nil {
		t.Fatal(err)
	}
	tokenizer, err := sentencepiece.New(m)
	if err != nil {
		t.Fatal(err)
	}
	return tokenizer
}

// trainBPE returns a tokenizer of size pieces trained on lines.
func trainBPE(t *testing.T, size int, lines []string) *bpe.Tokenizer {
	t.Helper()
	var trainer bpe.Trainer
	for _, line := range lines {
		trainer.Add(line)
	}
	tokenizer, err := trainer.Train(size)
	if err != nil {
		t.Fatal(err)
	}
	return tokenizer
}

// subwordOf returns a joint tokenizer of subword-nmt with the pieces of lines.
func subwordOf(t *testing.T, lines []string) vocab.Tokenizers {
	t.Helper()
	codes, err := subword.NewCodes([][2]string{{"t", "h"}, {"e", "r"}, {"th", "e</w>"}, {"e", "r</w>"}})
	if err != nil {
		t.Fatal(err)
	}
	empty, err := subword.NewVocabulary(nil)
	if err != nil {
		t.Fatal(err)
	}
	whole := subword.NewRaw(codes, empty, moses.NewChain("en")) // splits no segment again
	var entries []subword.Entry
	seen := map[string]bool{}
	for _, line := range lines {
		for piece := range strings.FieldsSeq(whole.Segment(line)) {
			if !seen[piece] {
				seen[piece] = true
				entries = append(entries, subword.Entry{Piece: piece})
			}
		}
	}
	v, err := subword.NewVocabulary(entries)
	if err != nil {
		t.Fatal(err)
	}
	tokenizer := subword.New(codes, v)
	return vocab.Tokenizers{Source: tokenizer, Target: tokenizer}
}

// checkSame reports differences of two models, whose ids may differ, because readers of other
// systems add Pad and BOS: of the settings of a pass, of weights, bit for bit, by the names of
// pieces, and of the tokens of texts. Of a model whose positions have another order only
// probabilities are compared.
func checkSame(t *testing.T, got, want model.File) {
	t.Helper()
	a, b := parttest.TokenizersOf(t, got), parttest.TokenizersOf(t, want)
	srcNames, tgtNames, err := parts.NamesOfSides(a)
	if err != nil {
		t.Fatal(err)
	}
	wantSrc, wantTgt, err := parts.NamesOfSides(b)
	if err != nil {
		t.Fatal(err)
	}
	c := got.Model.Config
	c.SrcVocab, c.TgtVocab, c.OutputBias, c.FinalNorm = want.Model.Config.SrcVocab, want.Model.Config.TgtVocab, want.Model.Config.OutputBias, want.Model.Config.FinalNorm
	c.Dropout, c.LabelSmoothing, c.Init, c.Biases = want.Model.Config.Dropout, want.Model.Config.LabelSmoothing, want.Model.Config.Init, want.Model.Config.Biases
	if c.TgtLanguages.Codes() == want.Model.Config.TgtLanguages.Codes() {
		c.TgtLanguages = want.Model.Config.TgtLanguages
	}
	isExact := c.Positions == want.Model.Config.Positions
	if c.Positions = want.Model.Config.Positions; c != want.Model.Config || got.Model.Config.HasFinalNorm() != want.Model.Config.HasFinalNorm() {
		t.Fatalf("configuration %+v, want %+v", got.Model.Config, want.Model.Config)
	}
	idOf := func(names, wantNames parts.IDNames) (ids []int) { // by that of want
		for id, name := range wantNames.Names {
			if id <= model.EOS {
				ids = append(ids, id)
			} else {
				ids = append(ids, slices.Index(names.Names, name))
			}
		}
		return ids
	}
	src, tgt := idOf(srcNames, wantSrc), idOf(tgtNames, wantTgt)
	if isExact {
		compareWeights(t, got.Model, want.Model, src, tgt)
	}
	source, target := texttest.Pairs(20)
	for _, line := range slices.Concat(source, target) {
		x, y := a.Source.Encode(nil, line), b.Source.Encode(nil, line)
		if !slices.Equal(tokensOf(x, srcNames), tokensOf(y, wantSrc)) {
			t.Fatalf("source %q of %q, want %q", tokensOf(x, srcNames), line, tokensOf(y, wantSrc))
		}
		y = y[:min(len(y), 9)]
		p := decode.New(decode.NewWeights(got.Model, nil), nil).Next(x[:len(y)], []int32{int32(tgt[5]), int32(tgt[8])})
		for id, q := range decode.New(decode.NewWeights(want.Model, nil), nil).Next(y, []int32{5, 8}) {
			if id >= model.EOS && math.Abs(float64(p[tgt[id]]-q)) > 1e-6 {
				t.Fatalf("probability %v of %q, want %v", p[tgt[id]], wantTgt.Names[id], q)
			}
		}
	}
}

// compareWeights compares all weights of want, whose ids are src and tgt in got.
func compareWeights(t *testing.T, got, want *model.Transformer, src, tgt []int) {
	t.Helper()
	for _, p := range want.Params.List {
		i := slices.IndexFunc(got.Params.List, func(q *layer.Param) bool { return q.Name == p.Name })
		if i < 0 {
			t.Fatalf("found no %s", p.Name)
		}
		w, ids := got.Params.List[i].W, map[*layer.Param][]int{want.SrcEmbed.E: src, want.TgtEmbed.E: tgt, want.Output.E: tgt, want.Output.Bias: tgt}[p]
		n := len(p.W) / max(1, len(ids)) // of an id
		for k, x := range p.W {
			at := k
			if ids != nil {
				if k/n < model.BOS || p == want.Output.Bias && k < model.EOS || p == want.Output.E && p != want.TgtEmbed.E && k/n < model.EOS {
					continue // which no pass reads
				}
				at = ids[k/n]*n + k%n
			}
			if math.Float32bits(w[at]) != math.Float32bits(x) {
				t.Fatalf("%s: found %v at %d, want %v", p.Name, w[at], k, x)
			}
		}
	}
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

// randomFile returns a model of random weights, biases and gains. It sets the vocabulary sizes of
// c.
func randomFile(t *testing.T, c model.Config, v vocab.Tokenizers, seed uint64) model.File {
	t.Helper()
	c.SrcVocab, c.TgtVocab = v.Source.Size(), v.Target.Size()
	m, err := model.New(c)
	if err != nil {
		t.Fatal(err)
	}
	m.AllocWeights()
	m.Init(seed)
	r := rand.New(rand.NewPCG(seed, 1))
	for _, p := range m.Params.List {
		if len(p.Shape) == 1 {
			for i := range p.W {
				p.W[i] += float32(0.2 * r.NormFloat64())
			}
		}
	}
	files, err := v.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return model.File{Model: m, Tokenizers: files, SrcLang: "en", TgtLang: "de"}
}
