package convert

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tfm/internal/texttest"
	"tfm/model"
	"tfm/model/decode"
	"tfm/text/tokenizer/bpe"
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
