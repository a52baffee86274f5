package sentencepiece

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// sampleModel is a model of the pieces a, b, ab, ba and aba.
func sampleModel(modelType ModelType) *Model {
	m := NewModel()
	m.Trainer.ModelType = modelType
	m.Normalizer.AddDummyPrefix = false
	m.Pieces = []Piece{
		{Text: "<unk>", Type: Unknown},
		{Text: "a", Score: -2, Type: Normal},
		{Text: "b", Score: -3, Type: Normal},
		{Text: "ab", Score: -2.5, Type: Normal},
		{Text: "ba", Score: -4, Type: Normal},
		{Text: "aba", Score: -6, Type: Normal},
	}
	return m
}

// segmentations returns all segmentations of s as file ids, with their scores.
func segmentations(m *Model, s string) (ids [][]int32, scores []float64) {
	if s == "" {
		return [][]int32{nil}, []float64{0}
	}
	for id, p := range m.Pieces {
		if rest, ok := strings.CutPrefix(s, p.Text); ok && p.Type == Normal {
			after, score := segmentations(m, rest)
			for i := range after {
				ids = append(ids, append([]int32{int32(id)}, after[i]...))
				scores = append(scores, score[i]+float64(p.Score))
			}
		}
	}
	return ids, scores
}

func toFileIDs(t *Tokenizer, ids []int32) []int32 {
	out := make([]int32, len(ids))
	for i, id := range ids {
		out[i] = t.FileID(id)
	}
	return out
}

// The frequencies of sampled segmentations are their probabilities, within 5 standard deviations.
func TestUnigramSample(t *testing.T) {
	m := sampleModel(Unigram)
	tokenizer := newTestTokenizer(t, m)
	const s, draws = "ababab", 20000
	all, scores := segmentations(m, s)
	for _, alpha := range []float64{0, 0.1, 0.5, 1, 3} {
		random := rand.NewPCG(1, 2)
		counts := map[string]int{}
		for range draws {
			counts[fmt.Sprint(toFileIDs(tokenizer, tokenizer.EncodeSample(nil, s, alpha, random)))]++
		}
		total := 0.0
		for _, score := range scores {
			total += math.Exp(alpha * score)
		}
		for i, ids := range all {
			p := math.Exp(alpha*scores[i]) / total
			if got, want := float64(counts[fmt.Sprint(ids)]), p*draws; math.Abs(got-want) > 5*math.Sqrt(want)+1 {
				t.Errorf("alpha %v: %v was drawn %v times, want about %.0f", alpha, ids, got, want)
			}
			delete(counts, fmt.Sprint(ids))
		}
		if len(counts) > 0 {
			t.Errorf("alpha %v: also drew %v", alpha, counts)
		}
	}
}

func TestBPEDropout(t *testing.T) {
	tokenizer := newTestTokenizer(t, sampleModel(BPE))
	random := rand.NewPCG(1, 2)
	const s = "abab ab"
	if got, want := tokenizer.EncodeSample(nil, s, 0, random), tokenizer.Encode(nil, s); !slices.Equal(got, want) || *random != *rand.NewPCG(1, 2) {
		t.Errorf("alpha 0: %v, want %v, and random unused", got, want)
	}
	if got := toFileIDs(tokenizer, tokenizer.EncodeSample(nil, "abab", 1, random)); !slices.Equal(got, []int32{1, 2, 1, 2}) {
		t.Errorf("alpha 1: %v, want the characters", got)
	}
	const p, draws = 0.3, 20000
	counts := map[string]int{}
	for range draws {
		counts[fmt.Sprint(toFileIDs(tokenizer, tokenizer.EncodeSample(nil, "ab", p, random)))]++
	}
	if got, want := float64(counts["[1 2]"]), p*draws; math.Abs(got-want) > 5*math.Sqrt(want) || counts["[3]"] != draws-counts["[1 2]"] {
		t.Errorf("ab was drawn as %v, want [1 2] about %v times", counts, want)
	}
}

// A draw depends on the text and the state of the generator, and not on cached words.
func TestEncodeSampleReproducible(t *testing.T) {
	tokenizers, cases := goldens(t, "testdata")
	for name, tokenizer := range tokenizers {
		fresh := newTestTokenizer(t, tokenizer.Model())
		a, b := rand.NewPCG(3, 4), rand.NewPCG(3, 4)
		for _, c := range cases[name] {
			tokenizer.Encode(nil, string(c.Text))
			got, want := tokenizer.EncodeSample(nil, string(c.Text), 0.2, a), fresh.EncodeSample(nil, string(c.Text), 0.2, b)
			if !slices.Equal(got, want) || *a != *b {
				t.Errorf("%s: samples of %q differ: %v and %v", name, c.Text, got, want)
				break
			}
			if name == "unigram-nmt_nfkc_cf" && tokenizer.Decode(got) != string(c.Decoded) {
				t.Errorf("%s: a sample decodes to %q, want %q", name, tokenizer.Decode(got), c.Decoded)
			}
		}
	}
}

func TestEncodeSamplePanics(t *testing.T) {
	for modelType, alphas := range map[ModelType][]float64{Unigram: {-1, math.NaN(), math.Inf(1)}, BPE: {-0.1, 1.1, math.NaN()}} {
		tokenizer := newTestTokenizer(t, sampleModel(modelType))
		for _, alpha := range alphas {
			func() {
				defer func() {
					if r := recover(); r == nil || !strings.Contains(fmt.Sprint(r), "sentencepiece: alpha") {
						t.Errorf("%v: alpha %v: panic %v, want one that names alpha", modelType, alpha, r)
					}
				}()
				tokenizer.EncodeSample(nil, "ab", alpha, rand.NewPCG(1, 2))
			}()
		}
	}
}

// Scores so large that their exponentials overflow still have a segmentation to draw.
func TestSampleExtremeScores(t *testing.T) {
	for _, score := range []float32{math.MaxFloat32, -math.MaxFloat32} {
		m := sampleModel(Unigram)
		for i := range m.Pieces {
			m.Pieces[i].Score = score
		}
		only := sampleModel(Unigram)
		only.Pieces = only.Pieces[:1] // unknown
		for _, m := range []*Model{m, only} {
			tokenizer := newTestTokenizer(t, m)
			for _, alpha := range []float64{0.5, 1e300} {
				if got := tokenizer.EncodeSample(nil, "abcab", alpha, rand.NewPCG(1, 2)); len(got) == 0 {
					t.Errorf("score %v, alpha %v: no ids", score, alpha)
				}
			}
		}
	}
}

func TestExp(t *testing.T) {
	for _, x := range []float64{0, 1, -1, 0.3, -0.34657, 10, -100, 700, -700, 1e-9} {
		e := exp(x)
		got, want := math.Ldexp(e.mantissa, e.exponent), math.Exp(x)
		if math.Abs(got-want) > 1e-14*want {
			t.Errorf("exp(%v) = %v, want %v", x, got, want)
		}
	}
	sum := exp(-1e6).add(exp(-1e6))
	if want := exp(-1e6); sum.mantissa != want.mantissa || sum.exponent != want.exponent+1 {
		t.Errorf("2 exp(-1e6) = %v, want %v with the next exponent", sum, want)
	}
}
