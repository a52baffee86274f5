package script

import "testing"

func TestOf(t *testing.T) {
	for want, letters := range map[Script]string{
		Latin: "azAZäßłŐạẞ", Cyrillic: "жЁґ", Greek: "αΩἀ", Arabic: "بپﻻ", Hebrew: "את", Devanagari: "हि", Han: "中𠀀㐀豈", Kana: "あアー",
		Hangul: "한ᄒ", Unspaced: "ไทยລາວខ្មែမြབོ", Other: "ԱაবதሀᏣ𐌰", None: "@[`{ 7«–、。！💡０①\uFFFD\x00",
	} {
		for _, r := range letters {
			if got := Of(r); got != want {
				t.Errorf("Of(%q) = %d, want %d", r, got, want)
			}
		}
		if got, want := want.Spaced(), want != Han && want != Kana && want != Unspaced; got != want {
			t.Errorf("Spaced() = %v for %q, want %v", got, letters, want)
		}
	}
}

func TestOfUnspaced(t *testing.T) {
	for want, letters := range map[Script]string{
		Han: "中𠀀㐀豈々〇ㄅ⺀", Kana: "あアｱㇰ", Unspaced: "ไทยລາວខ្មែမြབོᥐᦀᨠ๑", None: "aé한ä、。・ー,1हि",
	} {
		for _, r := range letters {
			if got := OfUnspaced(r); got != want {
				t.Errorf("OfUnspaced(%q) = %d, want %d", r, got, want)
			}
		}
	}
}
