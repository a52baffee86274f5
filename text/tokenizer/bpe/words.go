package bpe

import (
	"sort"
	"unicode/utf8"
)

// maxWord is the maximum length of a word in runes, without the space before it. It bounds the work
// on scripts without spaces and on arbitrary data. Words of alphabets are shorter.
const maxWord = 64

// maxWordBytes is the maximum length of a word in bytes: a space and maxWord runes.
const maxWordBytes = 1 + maxWord*utf8.UTFMax

// wordLen returns the length in bytes of the first word of b, which must not be empty. A word is
//
//	[ ] letter…    an optional space and a run of letters and marks
//	[ ] digit      an optional space and one digit
//	[ ] other…     an optional space and a run of other visible characters
//	white…         a run of white space, without the space of the next word
//
// up to maxWord runes. A digit is a word, so that the pieces of a number are the same in both
// languages and copying it means copying digits. Bytes of invalid UTF-8 are "other".
func wordLen(b []byte) int {
	var n int
	if b[0] == ' ' && len(b) > 1 {
		if r, _ := utf8.DecodeRune(b[1:]); classOf(r) != white {
			n = 1
		}
	}
	r, size := utf8.DecodeRune(b[n:])
	class := classOf(r)
	n += size
	if class == digit {
		return n
	}
	if class == joiner {
		class = letter
	}
	for runes := 1; runes < maxWord && n < len(b); runes++ {
		r, size := utf8.DecodeRune(b[n:])
		c := classOf(r)
		if c == white && class == white && b[n] == ' ' && n+1 < len(b) {
			if r, _ := utf8.DecodeRune(b[n+1:]); classOf(r) != white {
				break
			}
		}
		if c != class && (c != joiner || class == white) {
			break
		}
		n += size
	}
	return n
}

type class uint8

const (
	letter class = iota
	digit
	other
	white
	joiner // continues a run of letters or others
)

// classOf returns the class of r. It does not use package unicode, whose tables change with Go
// releases, because a model needs the words with which it was trained. Above ASCII all characters
// outside classRanges are letters.
func classOf(r rune) class {
	if r < 0x80 {
		return asciiClass[r]
	}
	i := sort.Search(len(classRanges), func(i int) bool { return r <= classRanges[i].last })
	if i < len(classRanges) && r >= classRanges[i].first {
		return classRanges[i].class
	}
	return letter
}

var asciiClass = func() (t [0x80]class) {
	for r := range t {
		switch {
		case 'a' <= r|0x20 && r|0x20 <= 'z':
			t[r] = letter
		case '0' <= r && r <= '9':
			t[r] = digit
		case r == ' ' || '\t' <= r && r <= '\r':
			t[r] = white
		default:
			t[r] = other
		}
	}
	return t
}()

var classRanges = []struct {
	first, last rune
	class       class
}{
	// Latin-1, Latin, Greek, Armenian
	{0x80, 0x84, other}, {0x85, 0x85, white}, {0x86, 0x9F, other}, {0xA0, 0xA0, white},
	{0xA1, 0xA9, other}, {0xAB, 0xB4, other}, {0xB6, 0xB9, other}, {0xBB, 0xBF, other},
	{0xD7, 0xD7, other}, {0xF7, 0xF7, other}, {0x2C2, 0x2C5, other}, {0x2D2, 0x2DF, other},
	{0x37E, 0x37E, other}, {0x384, 0x385, other}, {0x387, 0x387, other}, {0x482, 0x482, other},
	{0x55A, 0x55F, other}, {0x589, 0x58F, other},
	// Hebrew, Arabic, Syriac
	{0x5BE, 0x5BE, other}, {0x5C0, 0x5C0, other}, {0x5C3, 0x5C3, other}, {0x5C6, 0x5C6, other},
	{0x5F3, 0x60F, other}, {0x61B, 0x61F, other}, {0x660, 0x669, digit}, {0x66A, 0x66D, other},
	{0x6D4, 0x6D4, other}, {0x6DD, 0x6DE, other}, {0x6E9, 0x6E9, other}, {0x6F0, 0x6F9, digit},
	{0x6FD, 0x6FE, other}, {0x700, 0x70F, other},
	// India, south-east Asia, Georgia, Ethiopia, Mongolia
	{0x964, 0x965, other}, {0x966, 0x96F, digit}, {0x970, 0x970, other}, {0x9E6, 0x9EF, digit},
	{0x9F2, 0x9FB, other}, {0xA66, 0xA6F, digit}, {0xAE6, 0xAEF, digit}, {0xAF0, 0xAF1, other},
	{0xB66, 0xB6F, digit}, {0xBE6, 0xBEF, digit}, {0xBF0, 0xBFA, other}, {0xC66, 0xC6F, digit},
	{0xCE6, 0xCEF, digit}, {0xD66, 0xD6F, digit}, {0xDE6, 0xDEF, digit}, {0xDF4, 0xDF4, other},
	{0xE3F, 0xE3F, other}, {0xE4F, 0xE4F, other}, {0xE50, 0xE59, digit}, {0xE5A, 0xE5B, other},
	{0xED0, 0xED9, digit}, {0xF01, 0xF17, other}, {0xF20, 0xF29, digit}, {0xF2A, 0xF34, other},
	{0xF3A, 0xF3D, other}, {0x1040, 0x1049, digit}, {0x104A, 0x104F, other}, {0x10FB, 0x10FB, other},
	{0x1360, 0x137C, other}, {0x166D, 0x166E, other}, {0x1680, 0x1680, white}, {0x17D4, 0x17D6, other},
	{0x17D8, 0x17DB, other}, {0x17E0, 0x17E9, digit}, {0x1800, 0x180A, other}, {0x1810, 0x1819, digit},
	// General punctuation, currency, arrows, mathematics, dingbats
	{0x2000, 0x200A, white}, {0x200B, 0x200B, other}, {0x200C, 0x200D, joiner}, {0x200E, 0x2027, other},
	{0x2028, 0x2029, white}, {0x202A, 0x202E, other}, {0x202F, 0x202F, white}, {0x2030, 0x205E, other},
	{0x205F, 0x205F, white}, {0x2060, 0x20CF, other}, {0x20D0, 0x20FF, joiner}, {0x2100, 0x2BFF, other},
	{0x2E00, 0x2FFF, other},
	// China, Japan, Korea
	{0x3000, 0x3000, white}, {0x3001, 0x3004, other}, {0x3008, 0x3020, other}, {0x3030, 0x3030, other},
	{0x3036, 0x3037, other}, {0x303D, 0x303F, other}, {0x309B, 0x309C, other}, {0x30A0, 0x30A0, other},
	{0x30FB, 0x30FB, other}, {0x3190, 0x319F, other}, {0x31C0, 0x31E3, other}, {0x3200, 0x33FF, other},
	{0x4DC0, 0x4DFF, other}, {0xA490, 0xA4C6, other}, {0xA4FE, 0xA4FF, other},
	// Private use, presentation forms, full width, emoji, tags; U+FFFD, as which invalid bytes
	// decode
	{0xE000, 0xF8FF, other}, {0xFD3E, 0xFD3F, other}, {0xFDFC, 0xFDFF, other}, {0xFE00, 0xFE0F, joiner},
	{0xFE10, 0xFE19, other}, {0xFE30, 0xFE6B, other}, {0xFEFF, 0xFF0F, other}, {0xFF10, 0xFF19, digit},
	{0xFF1A, 0xFF20, other}, {0xFF3B, 0xFF40, other}, {0xFF5B, 0xFF65, other}, {0xFFE0, 0xFFFF, other},
	{0x1F000, 0x1FBFF, other}, {0xE0000, 0xE007F, other}, {0xF0000, 0x10FFFF, other},
}
