package model

import (
	"strings"
	"testing"
)

func TestCanonicalLanguage(t *testing.T) {
	for tag, want := range map[string]string{
		"en": "en", "EN": "en", "yue": "yue", "Zh-hANT": "zh-Hant", "zh-hant-TW": "zh-Hant-TW", "PT-br": "pt-BR", "es-419": "es-419",
		"sr-latn-rs": "sr-Latn-RS", "de-ch-1996": "de-CH-1996", "sl-ROZAJ-Biske-1994": "sl-rozaj-biske-1994", "sl-nedis": "sl-nedis",
		"ca-valencia": "ca-valencia", "hy-Latn-IT-arevela": "hy-Latn-IT-arevela", "de-1901": "de-1901", "de-1996-1901": "de-1996-1901",
		"art-lojban": "art-lojban", "qaa-Qaaa-QM": "qaa-Qaaa-QM", "abcdefgh": "abcdefgh", "mul": "mul",
	} {
		if got, err := CanonicalLanguage(tag); got != want || err != nil {
			t.Errorf("CanonicalLanguage(%q) = %q, %v, want %q", tag, got, err, want)
		}
	}
	for _, tag := range []string{
		"", "e", "-", "en-", "-en", "en--US", "en_US", "en-US.UTF-8", "e2", "12", "abcdefghi", "English language", " en", "en\n", "en\x00",
		"zh-yue", "zh-cmn-Hans", "en-GB-oed", "i-klingon", "x-demo", "en-x-mine", "en-a-bbb", "de-u-co-phonebk", "sgn-BE-FR", "en-Latn-Cyrl",
		"en-US-Latn", "en-1996-US", "de-1996-1996", "de-1901-1996-1901", "en-12", "en-1234567890", "en-abc1", "ﬁ", "k", "kſ", "zh-中", "\u212Aa", "\xff\xff",
	} {
		if got, err := CanonicalLanguage(tag); err == nil || got != "" || !strings.HasPrefix(err.Error(), "found ") {
			t.Errorf("CanonicalLanguage(%q) = %q, %v, want an error", tag, got, err)
		}
	}
	long := strings.Repeat("a", 1<<20)
	if _, err := CanonicalLanguage(long); err == nil || len(err.Error()) > 300 {
		t.Errorf("tag of 1 MB: error %.300v, want one of at most 300 bytes", err)
	}
}

func FuzzCanonicalLanguage(f *testing.F) {
	for _, tag := range []string{"en", "zh-hant-TW", "es-419", "de-ch-1996", "en_US", "K"} {
		f.Add(tag)
	}
	f.Fuzz(func(t *testing.T, tag string) {
		got, err := CanonicalLanguage(tag)
		if err != nil {
			return
		}
		if again, err := CanonicalLanguage(got); again != got || err != nil {
			t.Errorf("CanonicalLanguage(%q) = %q, but CanonicalLanguage(%[2]q) = %[3]q, %v", tag, got, again, err)
		}
		if !strings.EqualFold(got, tag) {
			t.Errorf("CanonicalLanguage(%q) = %q, want only the case changed", tag, got)
		}
	})
}
