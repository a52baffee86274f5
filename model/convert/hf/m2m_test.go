package hf

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tfm/lang"
	"tfm/model"
	"tfm/model/convert/internal/parts"
	"tfm/model/convert/internal/parttest"
	"tfm/model/decode"
	"tfm/text"
)

// m2mCase is a text in expected.json of a folder that testdata/gen_m2m.py wrote.
type m2mCase struct {
	marianCase
	From string `json:"source_language"`
	To   string `json:"target_language"`
}

// m2mFolder returns a folder of testdata with the model in it, the rows of its ids and the cases.
func m2mFolder(t *testing.T, name string) (model.File, []int32, []m2mCase) {
	t.Helper()
	dir := filepath.Join("../testdata", name)
	f, err := ReadM2M(dir)
	if err != nil {
		t.Fatal(err)
	}
	r := &reader{folder: testFolder(t, dir), config: m2mDefaults}
	if err := r.readM2MSettings(); err != nil {
		t.Fatal(err)
	}
	v, err := r.readM2MVocabulary()
	if err != nil {
		t.Fatal(err)
	}
	s, _, err := parts.PieceSides(v, v, true)
	if err != nil {
		t.Fatal(err)
	}
	var rows []int32
	for _, row := range s.Rows {
		rows = append(rows, int32(row))
	}
	data, err := os.ReadFile(filepath.Join(dir, "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	var expected struct{ Cases []m2mCase }
	if err := json.Unmarshal(data, &expected); err != nil {
		t.Fatal(err)
	}
	return f, rows, expected.Cases
}

// Models that transformers saved have its tokens, logits and translations, greedy and of beam
// search, in five directions.
func TestM2M(t *testing.T) {
	for _, name := range []string{"m2m-nllb", "m2m-100"} {
		t.Run(name, func(t *testing.T) {
			f, rows, cases := m2mFolder(t, name)
			c, v := f.Model.Config, parttest.TokenizersOf(t, f)
			w := decode.NewWeights(f.Model, nil)
			d := decode.New(w, nil)
			if b := f.Model.Output.Bias.W; !math.IsInf(float64(b[model.BOS]), -1) || b[model.EOS] != 0 {
				t.Errorf("biases %v of BOS and %v of EOS, which have one row, want -Inf and 0", b[model.BOS], b[model.EOS])
			}
			worst, worstScore, compared := 0.0, 0.0, 0
			for _, x := range cases {
				from, err := c.SrcLanguages.Find("from", x.From)
				if err != nil {
					t.Fatal(err)
				}
				to, err := c.TgtLanguages.Find("to", x.To)
				if err != nil {
					t.Fatal(err)
				}
				before, after := c.Source.Around(from.IDs, to.IDs)
				ids := slices.Concat(before, v.Source.Encode(nil, x.Text), after)
				var got []int32
				for _, id := range append(slices.Clone(ids), text.EOS) {
					got = append(got, rows[id])
				}
				if !slices.Equal(got, x.Source) {
					t.Errorf("%q: tokens %v, want %v", x.Text, got, x.Source)
					continue
				}
				worst = max(worst, logitsDiffer(t, w, ids, rows, x.marianCase))
				for _, beam := range []int{1, parttest.SettingsOf(t, f).Beam} {
					o := decode.OptionsFor(parttest.SettingsOf(t, f))
					o.Beam, o.NBest, o.MaxExtra, o.Begins = beam, beam, 1000, &decode.Begins{Targets: [][]int32{to.IDs}}
					o.MaxTokens = 37 // of max_length 40, with BOS, the language and EOS
					lists, err := d.NBest(context.Background(), [][]int32{ids}, o)
					if err != nil {
						t.Fatal(err)
					}
					want, texts := [][]int32{x.Greedy}, []string{x.GreedyText}
					if beam > 1 {
						want, texts = x.Beam, x.BeamTexts
					}
					for k, h := range lists[0] {
						if h.Truncated {
							break // more than transformers has room for
						}
						if !equalIDs(append(h.Tokens, text.EOS), rows, want[k]) {
							t.Errorf("%q, beam %d, %d: found %v, want %v", x.Text, beam, k, h, want[k])
							break
						}
						if s := v.Target.Decode(h.Tokens); strings.TrimSpace(s) != strings.TrimSpace(texts[k]) {
							t.Errorf("%q, beam %d, %d: text %q, want %q", x.Text, beam, k, s, texts[k])
						}
						if beam > 1 {
							worstScore = max(worstScore, math.Abs(h.Score-x.BeamScores[k]))
						}
						compared++
					}
				}
			}
			t.Logf("%d hypotheses; logits differ by at most %.2g, scores by %.2g", compared, worst, worstScore)
			if !(worst <= 1e-4) || !(worstScore <= 1e-4) || compared < 10 {
				t.Errorf("%d hypotheses: logits differ by %v, scores by %v", compared, worst, worstScore)
			}
		})
	}
}

// What could be read wrongly is refused.
func TestM2MRefuses(t *testing.T) {
	for want, change := range map[string]func(files map[string]string){
		"tie_word_embeddings is false": func(f map[string]string) {
			f[ConfigFile] = strings.Replace(f[ConfigFile], `"tie_word_embeddings": true`, `"tie_word_embeddings": false`, 1)
		},
		"activation_function is": func(f map[string]string) { f[ConfigFile] = strings.Replace(f[ConfigFile], `"relu"`, `"tanh"`, 1) },
		"found vocab_size": func(f map[string]string) {
			f[specialFile] = `{"additional_special_tokens": ["fra_Latn", "deu_Latn"]}`
		},
		"found no tokens of languages":  func(f map[string]string) { delete(f, specialFile) },
		"found id 9 of fra_Latn":        func(f map[string]string) { f[tokenizerFile] = `{"added_tokens": [{"id": 9, "content": "fra_Latn"}]}` },
		"found tokenizer_class \"Small": func(f map[string]string) { f[parts.TokenizerConfigFile] = `{"tokenizer_class": "Small100Tokenizer"}` },
		"found a tokenizer in Python":   func(f map[string]string) { f["tokenization_small100.py"] = "" },
		"found forced_bos_token_id 5": func(f map[string]string) {
			f[generationFile] = strings.Replace(f[generationFile], "{", `{"forced_bos_token_id": 5,`, 1)
		},
		"found eos_token_id 3": func(f map[string]string) {
			f[generationFile] = strings.Replace(f[generationFile], `"eos_token_id": 2`, `"eos_token_id": 3`, 1)
		},
		"sentencepiece.bpe.model: file does": func(f map[string]string) { delete(f, parts.M2MPiecesFile) },
		"vocab.json: found":                  func(f map[string]string) { f[vocabFile] = `{"<pad>": 0, "<s>": 1, "</s>": 2, "<unk>": 3}` },
		"model.shared.weight": func(f map[string]string) {
			f[ConfigFile] = strings.Replace(f[ConfigFile], `"d_model": 16`, `"d_model": 32`, 1)
		},
	} {
		dir := t.TempDir()
		files := map[string]string{}
		entries, err := os.ReadDir("../testdata/m2m-nllb")
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			data, err := os.ReadFile(filepath.Join("../testdata/m2m-nllb", e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			files[e.Name()] = string(data)
		}
		change(files)
		for name, data := range files {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := ReadM2M(dir); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("error %v, want one line with %q", err, want)
		}
	}
}

// legacy_behaviour places the language after the text, and forced_bos_token_id is the language of
// all targets.
func TestM2MSettings(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../testdata/m2m-nllb")); err != nil {
		t.Fatal(err)
	}
	_, _, cases := m2mFolder(t, "m2m-nllb")
	for name, data := range map[string]string{
		parts.TokenizerConfigFile: `{"tokenizer_class": "NllbTokenizerFast", "legacy_behaviour": true}`,
		generationFile:            `{"num_beams": 2, "forced_bos_token_id": ` + strconv.Itoa(int(cases[0].Given[1])) + `}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	f, err := ReadM2M(dir)
	if err != nil {
		t.Fatal(err)
	}
	if c := f.Model.Config; c.Source != model.FromLast || f.TgtLang != lang.Of(cases[0].To) || f.SrcLang != "" {
		t.Errorf("source %s, languages %q to %q", c.Source, f.SrcLang, f.TgtLang)
	}
}
