package lang

import "testing"

func TestScript(t *testing.T) {
	for code, want := range map[string]string{
		"": "", "en": "Latn", "zh": "Hans", "zh-Hant": "Hant", "zh_TW": "Hant", "yue": "Hant", "sr": "", "sr-Cyrl": "Cyrl", "zh-Latn-pinyin": "Latn",
		"pt-BR": "Latn", "ja": "Jpan", "xx": "", "de-1996": "Latn", "en-Shaw": "Shaw", "arb": "Arab", "nb": "Latn", "pob": "Latn", "ug": "Arab",
	} {
		if got := Script(code); got != want {
			t.Errorf("Script(%q) = %s, want %s", code, got, want)
		}
	}
}

// Codes are tags in one form, with and without the script that tells texts apart.
func TestOf(t *testing.T) {
	for _, c := range []struct{ code, tag, script, primary string }{
		{"fra_Latn", "fr", "fr", "fr"}, {"zho_Hans", "zh", "zh-Hans", "zh"}, {"zh-TW", "zh-Hant-TW", "zh-Hant-TW", "zh"}, {"srp_Cyrl", "sr", "sr-Cyrl", "sr"},
		{"nob_Latn", "no", "no", "no"}, {"nn-NO", "nn-NO", "nn-NO", "nn"}, {"pob", "pt-BR", "pt-BR", "pt"}, {"de-ch-1996", "de-CH-1996", "de-CH-1996", "de"},
		{"de-1996", "de-1996", "de-1996", "de"}, {"tlh", "tlh", "tlh", "tlh"}, {"in", "id", "id", "id"}, {"", "", "", ""}, {"e", "", "", ""},
	} {
		if got := Parse(c.code); got.String() != c.tag || got.WithScript() != c.script || Primary(c.code) != c.primary {
			t.Errorf("%q is %s, %s and %s, want %+v", c.code, got, got.WithScript(), Primary(c.code), c)
		}
	}
}
