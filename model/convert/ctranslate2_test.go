package convert

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"tfm/mat"
	"tfm/model"
	"tfm/model/convert/ctranslate2"
	"tfm/model/convert/internal/parttest"
	"tfm/model/decode"
	"tfm/text"
	"tfm/text/tokenizer/vocab"
)

// A real Transformer in all binary versions and precisions gives the log-probabilities that
// CTranslate2's own tests expect.
func TestReadCTranslate2Pretrained(t *testing.T) {
	dir := parttest.DataFile(t, "pretrained-ct2-aren")
	var expected struct {
		TeacherForced []struct {
			Source, Target []string
			LogProbs       []float64 `json:"log_probs_incl_eos"`
		} `json:"teacher_forced_log_probs"`
	}
	if err := json.Unmarshal([]byte(parttest.ReadFile(t, filepath.Join(dir, "expected.json"))), &expected); err != nil {
		t.Fatal(err)
	}
	var want goldenExpected
	for _, x := range expected.TeacherForced {
		want.Sources, want.Targets, want.LogProbs = append(want.Sources, x.Source), append(want.Targets, x.Target), append(want.LogProbs, x.LogProbs)
	}
	for name, tolerance := range map[string]float64{
		"v1/aren-transliteration": 1e-5, "v2/aren-transliteration": 1e-5, "v2/aren-transliteration-i16": 0.01, "v2/aren-transliteration-i8": 0.2,
	} {
		t.Run(name, func(t *testing.T) {
			f, err := ctranslate2.Read(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			parttest.SetSettings(t, &f, func(d *decode.Settings) { d.Suppressed = "" })
			checkGolden(t, f, want, tolerance, nil)
		})
	}
}

// goldenExpected is an element of testdata/ctranslate2-expected.json.
type goldenExpected struct {
	Sources, Targets [][]string
	Texts            []string
	LogProbs         [][]float64 `json:"log_probs"`
	Results          map[string][]struct {
		Tokens []string
		Text   string
		Score  float64
	}
}

// Models that CTranslate2 wrote, in each binary version and precision and with each convention for
// the begin and the end of sentences, have CTranslate2's log-probabilities and translations.
func TestReadCTranslate2Goldens(t *testing.T) {
	var all map[string]goldenExpected
	if err := json.Unmarshal([]byte(parttest.ReadFile(t, "testdata/ctranslate2-expected.json")), &all); err != nil {
		t.Fatal(err)
	}
	pool := mat.NewPool(1)
	defer pool.Close()
	for name, want := range all {
		t.Run(name, func(t *testing.T) {
			f, err := ctranslate2.Read("testdata/ctranslate2-" + name)
			if err != nil {
				t.Fatal(err)
			}
			parttest.SetSettings(t, &f, func(d *decode.Settings) { d.Suppressed = "" }) // CTranslate2 can select all tokens
			tolerance := 1e-4
			if name == "v4-float16" {
				tolerance = 2e-3 // its sinusoids are rounded
			}
			checkGolden(t, f, want, tolerance, pool)
		})
	}
}

func checkGolden(t *testing.T, f model.File, want goldenExpected, tolerance float64, pool *mat.Pool) {
	tokenizers, err := vocab.UnmarshalTokenizers(f.Tokenizers)
	if err != nil {
		t.Fatal(err)
	}
	ids := func(v text.Tokenizer, tokens []string) (list []int32) {
		for _, token := range tokens {
			id := pieceID(v, token)
			if id < 0 {
				id = pieceID(v, "<unk>")
			}
			list = append(list, id)
		}
		return list
	}
	d := decode.New(decode.NewWeights(f.Model, pool), pool)
	worst := 0.0
	var sources [][]int32
	for i := range want.Sources {
		src := ids(tokenizers.Source, want.Sources[i])
		if want.Texts != nil {
			src = tokenizers.Source.Encode(nil, want.Texts[i])
		}
		sources = append(sources, src)
		tgt := ids(tokenizers.Target, want.Targets[i])
		for j, id := range tgt {
			if b := f.Model.Output.Bias; b != nil && math.IsInf(float64(b.W[id]), -1) {
				tgt[j] = pieceID(tokenizers.Target, "<unk>") // a piece that only SentencePiece has
			}
		}
		got := scoreLikeSearch(t, d, src, tgt)
		for j, x := range want.LogProbs[i] {
			if x > -50 { // a probability that float32 has
				worst = max(worst, math.Abs(got[j]-x))
			}
		}
	}
	t.Logf("%d log-probabilities within %.2g", len(want.LogProbs), worst)
	if worst > tolerance {
		t.Errorf("log-probabilities differ by up to %.3g, want %v", worst, tolerance)
	}
	for beam, key := range map[int]string{1: "1", 3: "3"} {
		if want.Results == nil {
			break
		}
		o := decode.OptionsFor(parttest.SettingsOf(t, f))
		o.Beam, o.MaxExtra, o.MaxTokens = beam, 100, 12
		list, err := d.Translate(context.Background(), sources, o)
		if err != nil {
			t.Fatal(err)
		}
		for i, h := range list {
			r := want.Results[key][i]
			if isLong := h.Truncated || len(r.Tokens) == 12; isLong && beam > 1 {
				continue // CTranslate2 scores them without a last token
			}
			if tokens := ids(tokenizers.Target, r.Tokens); !slices.Equal(h.Tokens, tokens) {
				t.Errorf("beam %d: translation %v of source %d, want %v, %q", beam, h.Tokens, i, tokens, r.Tokens)
			} else if !h.Truncated && math.Abs(h.Score-r.Score) > tolerance {
				t.Errorf("beam %d: score %v of source %d, want %v", beam, h.Score, i, r.Score)
			}
			if got := tokenizers.Target.Decode(h.Tokens); want.Texts != nil && got != r.Text {
				t.Errorf("beam %d: text %q of source %d, want %q", beam, got, i, r.Text)
			}
		}
	}
}

// pieceID returns the id of a token of CTranslate2, or -1.
func pieceID(v text.Tokenizer, token string) int32 {
	for _, p := range []string{token, "▁" + token} {
		for id := int32(v.Size()) - 1; id >= 0; id-- { // Pad, BOS and EOS last
			if v.Piece(id) == p {
				return id
			}
		}
	}
	return -1
}

// A language code is one piece at the begin of a source, in models of CTranslate2 too, whose own
// tokenizer does not know it. The other side does not encode it.
func TestLanguageCodes(t *testing.T) {
	dir := t.TempDir()
	if err := ctranslate2.Write(dir, parttest.RandomModelFile(t, true, func(*model.Config) {})); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "shared_vocabulary.json")
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var tokens []string
	if err := json.Unmarshal(data, &tokens); err != nil {
		t.Fatal(err)
	}
	tokens[len(tokens)-1] = ">>fra<<"
	if data, err = json.Marshal(tokens); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, data, 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := ctranslate2.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	c, source := f.Model.Config, parttest.TokenizersOf(t, f).Source
	french, err := c.TgtLanguages.Find("to", "fr")
	if err != nil || c.Source != model.ToFirst {
		t.Fatalf("source %s, error %v", c.Source, err)
	}
	if len(french.IDs) != 1 || source.Piece(french.IDs[0]) != ">>fra<<" {
		t.Errorf("found ids %v of French, want one, of >>fra<<", french.IDs)
	}
	if ids := source.Encode(nil, ">>fra<< rokoge"); slices.Contains(ids, french.IDs[0]) {
		t.Errorf("tokens %v of a text have the code", ids)
	}
}
