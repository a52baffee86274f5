package convert

import (
	"context"
	"encoding/json"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"tfm/model"
	"tfm/model/convert/internal/parttest"
	"tfm/model/decode"
	"tfm/text/tokenizer/vocab"
)

// A file of torch.save is no model without a folder around it.
func TestDetectWeights(t *testing.T) {
	const legacy = "\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."
	dir := parttest.SaveFiles(t, map[string]string{"a.pt": legacy + "cargparse\nNamespace\n", "b.txt": "text"})
	for path, want := range map[string]string{
		"../torchfile/testdata/small-zip-4.pt": "found weights of PyTorch without their model's settings, expected a folder with both",
		filepath.Join(dir, "a.pt"):             `not readable either: pickle with the version: found the name "argparse.Namespace"`,
		filepath.Join(dir, "b.txt"):            "found no model of another system",
	} {
		_, err := Detect(path)
		parttest.CheckError(t, path, err, want)
	}
}

// A model that CTranslate2's converter wrote has its translations, except for an empty one whose
// EOS is not the most probable token after the language: CTranslate2 leaves it out.
func TestCTranslate2M2M(t *testing.T) {
	dir := "testdata/ctranslate2-m2m"
	f, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	var expected struct {
		Cases []struct {
			From    string `json:"source_language"`
			To      string `json:"target_language"`
			Text    string
			Beam    int `json:"beam_size"`
			Texts   []string
			Lengths []int
			Scores  []float64
		}
	}
	if err := json.Unmarshal([]byte(parttest.ReadFile(t, filepath.Join(dir, "expected.json"))), &expected); err != nil {
		t.Fatal(err)
	}
	c, v := f.Model.Config, parttest.TokenizersOf(t, f)
	hf, err := Read("testdata/m2m-nllb")
	if err != nil {
		t.Fatal(err)
	}
	if h := hf.Model.Config; c.Source != h.Source || c.SrcLanguages != h.SrcLanguages || c.TgtLanguages != h.TgtLanguages || !c.TargetBegins || c.FirstPosition != 2 || c.Positions != h.Positions || c.Tie != h.Tie {
		t.Errorf("configuration %+v, want that of the folder of transformers, %+v", c, h)
	}
	d := decode.New(decode.NewWeights(f.Model, nil), nil)
	compared, worst := 0, 0.0
	for _, x := range expected.Cases {
		from, errFrom := c.SrcLanguages.Find("from", x.From)
		to, errTo := c.TgtLanguages.Find("to", x.To)
		if errFrom != nil || errTo != nil {
			t.Fatal(errFrom, errTo)
		}
		before, after := c.Source.Around(from.IDs, to.IDs)
		o := decode.OptionsFor(parttest.SettingsOf(t, f))
		o.Beam, o.NBest, o.MaxExtra, o.MaxTokens, o.Begins = x.Beam, x.Beam, 1000, 28, &decode.Begins{Targets: [][]int32{to.IDs}}
		lists, err := d.NBest(context.Background(), [][]int32{slices.Concat(before, v.Source.Encode(nil, x.Text), after)}, o)
		if err != nil {
			t.Fatal(err)
		}
		k := -1
		for _, h := range lists[0] {
			if k++; k < len(x.Texts) && len(h.Tokens) == 0 && x.Lengths[k] > 0 {
				k--
				continue
			}
			if h.Truncated || k == len(x.Texts) || x.Lengths[k] >= 29 {
				break
			}
			if s := v.Target.Decode(h.Tokens); s != x.Texts[k] || len(h.Tokens) != x.Lengths[k] {
				t.Errorf("%q, beam %d, %d: %q, want %q", x.Text, x.Beam, k, s, x.Texts[k])
			}
			worst = max(worst, math.Abs(h.Score-x.Scores[k]))
			compared++
		}
	}
	t.Logf("%d hypotheses; scores differ by at most %.2g", compared, worst)
	if compared < 10 || worst > 1e-4 {
		t.Errorf("%d hypotheses, scores differ by %v", compared, worst)
	}
}

// Systems without SSRUs refuse a student.
func TestWriteRefusesStudents(t *testing.T) {
	b := trainBPE(t, 260, []string{"a b c"})
	c := model.Config{DModel: 8, Heads: 2, DFF: 8, EncoderLayers: 1, DecoderLayers: 1, Tie: model.TieAll, NormEps: 1e-5, MaxLen: 32, Autoreg: model.SSRU}
	f := randomFile(t, c, vocab.Tokenizers{Source: b, Target: b}, 1)
	for system, want := range map[string]string{"ctranslate2": `autoreg is "ssru"`, "marian-hf": `autoreg is "ssru"`, "pytorch": "found SSRUs in the decoder", "x": "expected one of ctranslate2"} {
		parttest.CheckError(t, system, Write(system, t.TempDir(), f), want)
	}
}
