package lang

import (
	"strings"
	"testing"
)

func TestCanonical(t *testing.T) {
	for tag, want := range map[string]string{
		"en": "en", "EN": "en", "yue": "yue", "Zh-hANT": "zh-Hant", "zh-hant-TW": "zh-Hant-TW", "PT-br": "pt-BR", "es-419": "es-419",
		"sr-latn-rs": "sr-Latn-RS", "de-ch-1996": "de-CH-1996", "sl-ROZAJ-Biske-1994": "sl-rozaj-biske-1994", "sl-nedis": "sl-nedis",
		"ca-valencia": "ca-valencia", "hy-Latn-IT-arevela": "hy-Latn-IT-arevela", "de-1901": "de-1901", "de-1996-1901": "de-1996-1901",
		"art-lojban": "art-lojban", "qaa-Qaaa-QM": "qaa-Qaaa-QM", "abcdefgh": "abcdefgh", "mul": "mul",
	} {
		if got, err := Canonical(tag); got != want || err != nil {
			t.Errorf("Canonical(%q) = %q, %v, want %q", tag, got, err, want)
		}
	}
	for _, tag := range []string{
		"", "e", "-", "en-", "-en", "en--US", "en_US", "en-US.UTF-8", "e2", "12", "abcdefghi", "English language", " en", "en\n", "en\x00",
		"zh-yue", "zh-cmn-Hans", "en-GB-oed", "i-klingon", "x-demo", "en-x-mine", "en-a-bbb", "de-u-co-phonebk", "sgn-BE-FR", "en-Latn-Cyrl",
		"en-US-Latn", "en-1996-US", "de-1996-1996", "de-1901-1996-1901", "en-12", "en-1234567890", "en-abc1", "ﬁ", "k", "kſ", "zh-中", "\u212Aa", "\xff\xff",
	} {
		if got, err := Canonical(tag); err == nil || got != "" || !strings.HasPrefix(err.Error(), "found ") {
			t.Errorf("Canonical(%q) = %q, %v, want an error", tag, got, err)
		}
	}
	long := strings.Repeat("a", 1<<20)
	if _, err := Canonical(long); err == nil || len(err.Error()) > 300 {
		t.Errorf("tag of 1 MB: error %.300v, want one of at most 300 bytes", err)
	}
}

func FuzzCanonical(f *testing.F) {
	for _, tag := range []string{"en", "zh-hant-TW", "es-419", "de-ch-1996", "en_US", "K"} {
		f.Add(tag)
	}
	f.Fuzz(func(t *testing.T, tag string) {
		got, err := Canonical(tag)
		if err != nil {
			return
		}
		if again, err := Canonical(got); again != got || err != nil {
			t.Errorf("Canonical(%q) = %q, but Canonical(%[2]q) = %[3]q, %v", tag, got, again, err)
		}
		if !strings.EqualFold(got, tag) {
			t.Errorf("Canonical(%q) = %q, want only the case changed", tag, got)
		}
	})
}

func TestCutCode(t *testing.T) {
	for s, want := range map[string][2]string{
		">>fra<< a dog": {"fra", "a dog"}, ">>fra<<": {"fra", ""}, ">>zh_Hans<<x": {"zh_Hans", "x"},
		"a >>fra<< dog": {"", "a >>fra<< dog"}, ">><< a": {"", ">><< a"}, ">>a b<< c": {"", ">>a b<< c"}, ">>fra": {"", ">>fra"},
	} {
		code, rest, found := CutCode(s)
		if code != want[0] || rest != want[1] || found != (want[0] != "") {
			t.Errorf("%q is %q and %q, %v", s, code, rest, found)
		}
	}
}

// People name languages by tags and by the codes of models, whose script tells texts apart.
func TestNamed(t *testing.T) {
	for name, want := range map[string]string{"en": "en", "EN": "en", "eng_Latn": "en", "zho_Hans": "zh-Hans", "zho_Hant": "zh-Hant", "zh_CN": "zh-Hans-CN", "zh-CN": "zh-CN", "srp_Cyrl": "sr-Cyrl",
		">>fra<<": "fr", ">>pob<<": "pt-BR", ">>deu_Latn<<": "de", "_": "!", "eng_Latn_x": "!", "e": "!", ">>fra": "!"} {
		got, err := Named(name)
		if err != nil {
			got = "!"
		}
		if got != want {
			t.Errorf("%q is %q, want %q, %v", name, got, want, err)
		}
	}
}
