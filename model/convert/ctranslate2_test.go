package convert

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tfm/mat"
	"tfm/model"
	"tfm/model/convert/ctranslate2"
	"tfm/model/convert/internal/parttest"
	"tfm/model/decode"
	"tfm/text"
	"tfm/text/tokenizer/vocab"
)

// expectedTransliterations is expected.json of pretrained-ct2-aren.
type expectedTransliterations struct {
	TeacherForced []struct {
		Source, Target []string
		LogProbs       []float64 `json:"log_probs_incl_eos"`
	} `json:"teacher_forced_log_probs"`
	Decode []struct {
		Source, Output, Prefix []string
		Suppress               [][]string `json:"suppress_sequences"`
		EndToken               string     `json:"end_token"`
	} `json:"decode_greedy_and_beam"`
}

// A real Transformer in all binary versions and precisions gives the numbers that CTranslate2's own
// tests expect.
func TestReadCTranslate2Pretrained(t *testing.T) {
	dir := parttest.DataFile(t, "pretrained-ct2-aren")
	data, err := os.ReadFile(filepath.Join(dir, "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	var expected expectedTransliterations
	if err := json.Unmarshal(data, &expected); err != nil {
		t.Fatal(err)
	}
	pool := mat.NewPool(2)
	defer pool.Close()
	for _, variant := range []struct {
		name      string
		tolerance float64 // of log-probabilities
	}{
		{"v1/aren-transliteration", 1e-5}, {"v2/aren-transliteration", 1e-5},
		{"v2/aren-transliteration-i16", 0.01}, {"v2/aren-transliteration-i8", 0.2},
	} {
		t.Run(variant.name, func(t *testing.T) {
			f, err := ctranslate2.Read(filepath.Join(dir, variant.name))
			if err != nil {
				t.Fatal(err)
			}
			checkTransliterations(t, f, expected, variant.tolerance, pool)
		})
	}
}

func checkTransliterations(t *testing.T, f model.File, expected expectedTransliterations, tolerance float64, pool *mat.Pool) {
	tokenizers, err := vocab.UnmarshalTokenizers(f.Tokenizers)
	if err != nil {
		t.Fatal(err)
	}
	encode := func(tokenizer text.Tokenizer, words []string) []int32 {
		ids := tokenizer.Encode(nil, strings.Join(words, " "))
		if len(ids) != len(words) {
			t.Fatalf("found %d ids for %q", len(ids), words)
		}
		return ids
	}
	d := decode.New(decode.NewWeights(f.Model, pool), pool)
	ctx := context.Background()
	worst := 0.0
	for _, x := range expected.TeacherForced {
		got, err := d.LogProbs(ctx, [][]int32{encode(tokenizers.Source, x.Source)}, [][]int32{encode(tokenizers.Target, x.Target)})
		if err != nil {
			t.Fatal(err)
		}
		if len(got[0]) != len(x.LogProbs) {
			t.Fatalf("found %d log-probabilities, expected %d", len(got[0]), len(x.LogProbs))
		}
		for i, want := range x.LogProbs {
			worst = max(worst, math.Abs(got[0][i]-want))
		}
	}
	t.Logf("largest difference of %d log-probabilities: %.2g", 15, worst)
	if worst > tolerance {
		t.Errorf("log-probabilities differ by up to %.3g, want %v", worst, tolerance)
	}
	for _, x := range expected.Decode {
		if x.EndToken != "" || len(x.Prefix) > 0 || len(x.Suppress) > 0 {
			continue // options of CTranslate2's calls
		}
		for _, beam := range []int{1, 4} {
			o := decode.OptionsFor(parttest.SettingsOf(t, f))
			o.Beam = beam
			list, err := d.Translate(ctx, [][]int32{encode(tokenizers.Source, x.Source)}, o)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Fields(tokenizers.Target.Decode(list[0].Tokens)); !slices.Equal(got, x.Output) {
				t.Errorf("beam %d: translation of %q = %q, want %q", beam, x.Source, got, x.Output)
			}
		}
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
	data, err := os.ReadFile("testdata/ctranslate2-expected.json")
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]goldenExpected
	if err := json.Unmarshal(data, &all); err != nil {
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
