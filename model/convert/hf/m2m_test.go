package hf

import (
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tfm/lang"
	"tfm/model"
	"tfm/model/convert/internal/parts"
	"tfm/model/convert/internal/parttest"
	"tfm/model/decode"
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
	return f, rows, readCases[m2mCase](t, dir)
}

// Models that transformers saved have its tokens, logits and translations, greedy and of beam
// search, in five directions.
func TestM2M(t *testing.T) {
	for _, name := range []string{"m2m-nllb", "m2m-100"} {
		t.Run(name, func(t *testing.T) {
			f, rows, cases := m2mFolder(t, name)
			if b := f.Model.Output.Bias.W; !math.IsInf(float64(b[model.BOS]), -1) || b[model.EOS] != 0 {
				t.Errorf("biases %v of BOS and %v of EOS, which have one row, want -Inf and 0", b[model.BOS], b[model.EOS])
			}
			c, v := f.Model.Config, parttest.TokenizersOf(t, f)
			x := newComparison(f, rows, rows)
			for _, m := range cases {
				from, errFrom := c.SrcLanguages.Find("from", m.From)
				to, errTo := c.TgtLanguages.Find("to", m.To)
				if errFrom != nil || errTo != nil {
					t.Fatal(errFrom, errTo)
				}
				before, after := c.Source.Around(from.IDs, to.IDs)
				// max_length 40 has BOS, the language and EOS too.
				x.compare(t, slices.Concat(before, v.Source.Encode(nil, m.Text), after), m.marianCase, 37, &decode.Begins{Targets: [][]int32{to.IDs}})
			}
			x.check(t)
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
		"generation_config.json: forced_bos_token_id is 5, expected the token": func(f map[string]string) {
			f[generationFile] = strings.Replace(f[generationFile], "{", `{"forced_bos_token_id": 5,`, 1)
		},
		"config.json: num_beams is 99": func(f map[string]string) { // as early versions have it
			f[ConfigFile] = strings.Replace(f[ConfigFile], "{", `{"num_beams": 99,`, 1)
			f[generationFile] = strings.Replace(f[generationFile], `"num_beams"`, `"beams"`, 1)
		},
		"generation_config.json: num_beams is 99": func(f map[string]string) {
			f[generationFile] = regexp.MustCompile(`"num_beams": \d+`).ReplaceAllString(f[generationFile], `"num_beams": 99`)
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
		files := map[string]string{}
		for name := range testFolder(t, "../testdata/m2m-nllb").Files {
			files[name] = parttest.ReadFile(t, filepath.Join("../testdata/m2m-nllb", name))
		}
		change(files)
		dir := parttest.SaveFiles(t, files)
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
