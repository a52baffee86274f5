package convert

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tfm/mat"
	"tfm/model"
	"tfm/model/convert/hf"
	"tfm/model/convert/internal/parttest"
)

// A file of torch.save is no model without a folder around it.
func TestDetectWeights(t *testing.T) {
	const legacy = "\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."
	dir := parttest.SaveFiles(t, map[string]string{"a.pt": legacy + "cargparse\nNamespace\n", "b.txt": "text"})
	for path, want := range map[string]string{
		"../torchfile/testdata/whole-zip.pt": "found weights of PyTorch without their model's settings, expected a folder with both",
		filepath.Join(dir, "a.pt"):           `not readable either: pickle with the version: found the name "argparse.Namespace"`,
		filepath.Join(dir, "b.txt"):          "found no model of another system",
	} {
		_, err := Detect(path)
		parttest.CheckError(t, path, err, want)
	}
}

// A model of NLLB-200 that CTranslate2 converted is that of the folder of transformers, whose
// reader is compared with transformers.
func TestCTranslate2M2M(t *testing.T) {
	f, err := Read("testdata/ctranslate2-m2m")
	if err != nil {
		t.Fatal(err)
	}
	want, err := Read("testdata/m2m-nllb")
	if err != nil {
		t.Fatal(err)
	}
	want.Model.Config.AttentionDropout = 0 // which the format does not have
	checkSame(t, f, want)
}

// Models of transformers, and own ones, that are written for transformers and read again have the
// same weights, bit for bit, and the same tokens. Alternating sinusoids change the order of
// d_model.
func TestTransformersRoundTrip(t *testing.T) {
	check := func(name string, f model.File) {
		dir := t.TempDir()
		err := hf.Write(dir, f)
		var again model.File
		if err == nil {
			again, err = hf.ReadMarian(dir)
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if checkSame(t, again, f); again.SrcLang != f.SrcLang || again.TgtLang != f.TgtLang {
			t.Errorf("%s: languages %q and %q, want %q and %q", name, again.SrcLang, again.TgtLang, f.SrcLang, f.TgtLang)
		}
	}
	for _, name := range []string{"shared", "codes", "separate", "untied", "half"} {
		f, err := hf.ReadMarian("testdata/marian-" + name)
		if err != nil {
			t.Fatal(err)
		}
		check(name, f)
	}
	for name, change := range map[string]func(*model.Config){
		"halves":      func(c *model.Config) { c.Positions = model.Halves },
		"unscaled":    func(c *model.Config) { c.Positions, c.Unscaled, c.Activation = model.Halves, true, model.GELU },
		"output bias": func(c *model.Config) { c.Positions, c.OutputBias, c.Activation = model.Halves, true, model.SiLU },
		"interleaved": func(c *model.Config) {},
		"untied":      func(c *model.Config) { c.Tie, c.OutputBias = model.TieNone, true },
	} {
		for _, joint := range []bool{false, true} {
			check(name, parttest.RandomModelFile(t, joint, change))
		}
	}
}

// A refusal names the setting, before anything is written.
func TestWriteRefuses(t *testing.T) {
	student := func(c *model.Config) {
		c.Autoreg, c.Positions, c.NormEps, c.DModel, c.DFF, c.FinalNorm = model.SSRU, model.TimingSignal, 1e-6, 64, 64, model.FinalNormOff
	}
	type change = func(*model.Config)
	for _, system := range []struct {
		name   string
		base   change
		errors map[string]change
	}{
		{"ctranslate2", func(*model.Config) {}, map[string]change{
			`norm is "deep", expected post or pre for CTranslate2`: func(c *model.Config) { c.Norm = model.DeepNorm },
			`norm_kind is "unbiased"`:                              func(c *model.Config) { c.NormKind = model.UnbiasedNorm },
			"d_v is 4, expected 12, the d_k":                       func(c *model.Config) { c.DV = 4 },
			"d_k is 4, expected 24/2":                              func(c *model.Config) { c.DK, c.DV = 4, 4 },
			`autoreg is "ssru"`:                                    func(c *model.Config) { c.Autoreg = model.SSRU },
		}},
		{"marian-hf", func(*model.Config) {}, map[string]change{
			`norm is "pre", expected post`:       func(c *model.Config) { c.Norm = model.PreNorm },
			`norm_kind is "rms"`:                 func(c *model.Config) { c.NormKind = model.RMSNorm },
			"final_norm is true":                 func(c *model.Config) { c.FinalNorm = model.FinalNormOn },
			`positions is "learned"`:             func(c *model.Config) { c.Positions = model.Learned },
			`positions is "tensor2tensor"`:       func(c *model.Config) { c.Positions = model.TimingSignal },
			"norm_eps is 1e-06, expected 1e-05":  func(c *model.Config) { c.NormEps = 1e-6 },
			"d_k is 5, expected d_model divided": func(c *model.Config) { c.DK = 5 },
			`autoreg is "ssru"`:                  func(c *model.Config) { c.Autoreg = model.SSRU },
			// A language without a piece that MarianTokenizer looks up.
			"expected the piece >>fra<<": func(c *model.Config) { c.Source, c.TgtLanguages = model.ToFirst, "fra=5,6" },
		}},
		{"marian", student, map[string]change{
			`autoreg is "self-attention", expected ssru for Marian`: func(c *model.Config) { c.Autoreg = model.SelfAttention },
			`norm is "pre", expected post for Marian`:               func(c *model.Config) { c.Norm = model.PreNorm },
			`positions is "halves", expected tensor2tensor`:         func(c *model.Config) { c.Positions = model.Halves },
			`norm_eps is 1e-05, expected 1e-06 for Marian`:          func(c *model.Config) { c.NormEps = 1e-5 },
			`activation is "gelu", expected relu or silu`:           func(c *model.Config) { c.Activation = model.GELU },
			"d_model is 24, expected a multiple of 64 for Marian":   func(c *model.Config) { c.DModel = 24 },
			"d_ff is 20, expected a multiple of 64":                 func(c *model.Config) { c.DFF = 20 },
		}},
		{"pytorch", func(*model.Config) {}, map[string]change{
			`norm is "deep", expected post or pre for torch.nn.Transformer`: func(c *model.Config) { c.Norm = model.DeepNorm },
			`norm_kind is "rms"`:      func(c *model.Config) { c.NormKind = model.RMSNorm },
			`norm_kind is "unbiased"`: func(c *model.Config) { c.NormKind = model.UnbiasedNorm },
			"d_k is 3":                func(c *model.Config) { c.DK = 3 },
			"d_v is 9":                func(c *model.Config) { c.DV = 9 },
			`autoreg is "ssru"`:       func(c *model.Config) { c.Autoreg = model.SSRU },
		}},
		{"x", func(*model.Config) {}, map[string]change{"expected one of ctranslate2": func(*model.Config) {}}},
	} {
		for want, change := range system.errors {
			f := parttest.RandomModelFile(t, true, func(c *model.Config) { system.base(c); change(c) })
			dir := filepath.Join(t.TempDir(), "out")
			parttest.CheckError(t, system.name, Write(system.name, dir, f), want)
			if _, err := os.Stat(dir); err == nil {
				t.Errorf("%s: %s: the folder exists", system.name, want)
			}
		}
	}
}

// Each activation comes back from an export, or the export refuses it.
func TestActivationsAreExported(t *testing.T) {
	for _, name := range mat.Activations() {
		var f model.Activation
		if err := f.UnmarshalText([]byte(name.String())); err != nil {
			t.Fatal(err)
		}
		for _, system := range []string{"ctranslate2", "marian-hf"} {
			file := parttest.RandomModelFile(t, true, func(c *model.Config) { c.Activation = f })
			dir := filepath.Join(t.TempDir(), "out")
			if err := Write(system, dir, file); err != nil {
				parttest.CheckError(t, system, err, "activation is ")
			} else if again, err := Read(dir); err != nil || again.Model.Config.Activation != f {
				t.Errorf("%s: %v is read as %v (error %v)", system, name, again.Model.Config.Activation, err)
			}
		}
		if text, err := os.ReadFile("pytorch/pytorch.py"); err != nil || !strings.Contains(string(text), `"`+name.String()+`": `) {
			t.Errorf("pytorch.py has no %v (error %v)", name, err)
		}
	}
}
