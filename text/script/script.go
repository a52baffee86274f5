package script

import "unicode/utf8"

// Script is a class of scripts.
type Script uint8

// The classes of scripts. Unspaced, like Han and Kana, has no spaces between words.
const (
	Latin Script = iota
	Cyrillic
	Greek
	Arabic
	Hebrew
	Devanagari
	Han
	Kana
	Hangul
	Unspaced // Thai, Lao, Khmer, Burmese, Tibetan
	Other    // all other letters
	Count

	None = Count // punctuation, symbols, digits
)

// Spaced reports whether a script has spaces between words.
func (s Script) Spaced() bool { return s != Han && s != Kana && s != Unspaced }

// Of returns the script of a character, None if it is no letter.
func Of(r rune) Script {
	switch {
	case r < utf8.RuneSelf:
		if 'a' <= r|0x20 && r|0x20 <= 'z' {
			return Latin
		}
		return None
	case r < 0x10000:
		return pages[r>>pageBits]
	case 0x20000 <= r && r < 0x40000:
		return Han
	case r < 0x1F000:
		return Other
	}
	return None // emoji
}

// ranges are the scripts of the characters from U+00C0, in whole pages of 1<<pageBits
// characters. Marks and the few symbols in a page of letters count as letters.
var ranges = []struct {
	first, last rune
	script      Script
}{
	{0x00C0, 0x02FF, Latin}, {0x0340, 0x03FF, Greek}, {0x0400, 0x04FF, Cyrillic},
	// Armenian
	{0x0500, 0x057F, Other},
	{0x0580, 0x05FF, Hebrew}, {0x0600, 0x06FF, Arabic}, {0x0700, 0x073F, Other}, {0x0740, 0x077F, Arabic},
	{0x0780, 0x087F, Other}, {0x0880, 0x08FF, Arabic}, {0x0900, 0x097F, Devanagari},
	// The other scripts of India, then south-east Asia, Georgia, Ethiopia, Mongolia
	{0x0980, 0x0DFF, Other}, {0x0E00, 0x109F, Unspaced}, {0x10C0, 0x10FF, Other}, {0x1100, 0x11FF, Hangul},
	{0x1200, 0x177F, Other}, {0x1780, 0x17FF, Unspaced}, {0x1800, 0x1CBF, Other},
	{0x1E00, 0x1EFF, Latin}, {0x1F00, 0x1FFF, Greek}, {0x2C00, 0x2DFF, Other},
	// China, Japan, Korea
	{0x3040, 0x30FF, Kana}, {0x3100, 0x313F, Han}, {0x3140, 0x317F, Hangul}, {0x3400, 0x4DBF, Han}, {0x4E00, 0x9FFF, Han},
	{0xA000, 0xA63F, Other}, {0xA640, 0xA69F, Cyrillic}, {0xA6C0, 0xA93F, Other}, {0xA960, 0xA97F, Hangul},
	{0xA980, 0xABFF, Other}, {0xAC00, 0xD7FF, Hangul}, {0xF900, 0xFAFF, Han},
	// Presentation forms
	{0xFB40, 0xFDFF, Arabic}, {0xFE40, 0xFEFF, Arabic},
}

const pageBits = 6

// pages has the script of each page of the basic multilingual plane.
var pages = func() (t [0x10000 >> pageBits]Script) {
	for i := range t {
		t[i] = None
	}
	for _, r := range ranges {
		for page := r.first >> pageBits; page <= r.last>>pageBits; page++ {
			t[page] = r.script
		}
	}
	return t
}()
