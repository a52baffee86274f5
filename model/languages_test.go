package model

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// A language is found by the model's spelling, BCP 47 and both ISO 639.
func TestFindLanguage(t *testing.T) {
	nllb := Languages("fra_Latn=5 zho_Hans=6 zho_Hant=7 arb_Arab=8 arb_Latn=9 ary_Arab=10 nob_Latn=11 nno_Latn=12 pes_Arab=13 por_Latn=14 " +
		"lvs_Latn=15 est_Latn=16 srp_Cyrl=17 tgl_Latn=18 swh_Latn=19 heb_Hebr=20 kmr_Latn=21")
	m2m := Languages("zh=3 no=4 fa=5 ns=6 tl=7 fr=8")
	opus := Languages("pob=3 por=4 cmn=5 cmn_Hant=6 fr_BE=7 fr=8 pt_br=9 pt_BR=10")
	for _, c := range []struct {
		languages Languages
		code      string
		want      string // "" for an error
	}{
		{nllb, "fr", "fra_Latn"}, {nllb, "fra", "fra_Latn"}, {nllb, "fra_Latn", "fra_Latn"}, {nllb, ">>fra_Latn<<", "fra_Latn"},
		{nllb, "FR", "fra_Latn"}, {nllb, "fr-CA", "fra_Latn"}, {nllb, "zh", "zho_Hans"}, {nllb, "zh-TW", "zho_Hant"},
		{nllb, "cmn_Hans", "zho_Hans"}, {nllb, "zt", "zho_Hant"}, {nllb, "ar", "arb_Arab"}, {nllb, "no", "nob_Latn"},
		{nllb, "nb", "nob_Latn"}, {nllb, "nn", "nno_Latn"}, {nllb, "fa", "pes_Arab"}, {nllb, "pt-BR", "por_Latn"},
		{nllb, "lv", "lvs_Latn"}, {nllb, "et", "est_Latn"}, {nllb, "sr", "srp_Cyrl"}, {nllb, "fil", "tgl_Latn"},
		{nllb, "sw", "swh_Latn"}, {nllb, "iw", "heb_Hebr"}, {nllb, "ku", "kmr_Latn"},
		{nllb, "sr-Latn", ""}, {nllb, "en", ""}, {nllb, "", ""}, {nllb, ">>", ""}, {nllb, "Latn", ""},
		{m2m, "zho", "zh"}, {m2m, "zh-CN", "zh"}, {m2m, "nb", "no"}, {m2m, "fas", "fa"}, {m2m, "nso", "ns"}, {m2m, "fil", "tl"},
		{m2m, "zh-Hant", ""}, {opus, "pt", "por"}, {opus, "zh", "cmn"}, {opus, "zh-Hant", "cmn_Hant"}, {opus, "pob", "pob"},
		{opus, "fra", "fr"}, {opus, "fr-BE", "fr_BE"}, {opus, "pt-BR", ""}, // three
	} {
		got, err := c.languages.Find("to", c.code)
		if got.Code != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%q is %q, error %v, want %q", c.code, got.Code, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("error %q, want one line", err)
		}
	}
}

// Every layout and the languages survive a file, the old names of layouts are read, and fields that
// do not go together are errors.
func TestLanguagesOfConfig(t *testing.T) {
	c := toy()
	for name, want := range map[string]SourceLayout{"eos": EOSLast, "none": NoMarks, "bos": BOSFirst, "both": BOSAndEOS, "to text eos": ToFirst} {
		var l SourceLayout
		if err := l.UnmarshalText([]byte(name)); err != nil || l != want {
			t.Errorf("%s is %q, error %v, want %q", name, l, err, want)
		}
		if text, err := want.MarshalText(); err != nil || string(text) != name {
			t.Errorf("%q is written as %q, error %v, want %s", want, text, err, name)
		}
	}
	for _, valid := range []func(c *Config){
		func(c *Config) { c.Source, c.TgtLanguages = ToFirst, "fra=3 deu=4,5" },
		func(c *Config) {
			c.Source, c.SrcLanguages, c.TargetBegins, c.TgtLanguages = FromLast, "a=3", true, "b=4"
		},
		func(c *Config) { c.TargetBegins, c.TgtLanguages = true, "b=4" },
	} {
		d := c.with(valid)
		data, err := json.Marshal(d)
		var e Config
		if err := errors.Join(err, json.Unmarshal(data, &e), d.Validate()); err != nil || e != d {
			t.Errorf("%s: %+v, error %v", data, e, err)
		}
	}
	for _, invalid := range []func(c *Config){
		func(c *Config) { c.Source = "text from" },
		func(c *Config) { c.Source = ToFirst },
		func(c *Config) { c.TgtLanguages = "fra=3" },
		func(c *Config) { c.SrcLanguages = "fra=3" },
		func(c *Config) { c.TargetBegins = true },
		func(c *Config) { c.Source, c.TgtLanguages, c.TargetBegins = ToFirst, "fra=3", true },
		func(c *Config) { c.Source, c.TgtLanguages = ToFirst, "fra=2" },
		func(c *Config) { c.Source, c.TgtLanguages = ToFirst, "fra=1000000" },
		func(c *Config) { c.Source, c.TgtLanguages = ToFirst, "fra" },
		func(c *Config) { c.Source, c.TgtLanguages = ToFirst, "fra=3 fra=4" },
		func(c *Config) { c.Source, c.TgtLanguages = ToFirst, "=3" },
		func(c *Config) { c.Source, c.TgtLanguages = ToFirst, "fra=-3" },
		// No room for a text.
		func(c *Config) { c.MaxLen, c.Source, c.TgtLanguages = 5, ToFirst, "fra=3,4,5,6" },
	} {
		if d := c.with(invalid); d.Validate() == nil {
			t.Errorf("no error for %q, %q, %q, %v", d.Source, d.SrcLanguages, d.TgtLanguages, d.TargetBegins)
		}
	}
}
