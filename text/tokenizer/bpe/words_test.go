package bpe

import (
	"slices"
	"strings"
	"testing"
	"unicode"
)

// split returns the words of s.
func split(s string) []string {
	var words []string
	for b := []byte(s); len(b) > 0; {
		n := wordLen(b)
		words = append(words, string(b[:n]))
		b = b[n:]
	}
	return words
}

func TestWords(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{" Two dogs run.", []string{" Two", " dogs", " run", "."}},
		{" don't", []string{" don", "'", "t"}},
		{" (Über) naïve", []string{" (", "Über", ")", " naïve"}},
		{" In 2016, 3.5", []string{" In", " 2", "0", "1", "6", ",", " 3", ".", "5"}},
		{"a1b2", []string{"a", "1", "b", "2"}},
		{"  two  spaces ", []string{" ", " two", " ", " spaces", " "}},
		{"a\t b\n\nc \td", []string{"a", "\t", " b", "\n\n", "c", " \t", "d"}},
		{"a\u00a0b\u3000c", []string{"a", "\u00a0", "b", "\u3000", "c"}},
		{" ", []string{" "}},
		{"   ", []string{"   "}},
		{" 我喜欢，猫。", []string{" 我喜欢", "，", "猫", "。"}},
		{"二〇一六年", []string{"二〇一六年"}},
		{"हिन्दी।", []string{"हिन्दी", "।"}},
		{"می\u200cخواهم", []string{"می\u200cخواهم"}},                 // ZWNJ in a word
		{" 👨\u200d👩\u200d👧 ok", []string{" 👨\u200d👩\u200d👧", " ok"}}, // ZWJ in an emoji
		{"\u0301a", []string{"\u0301a"}},
		{"\u200da", []string{"\u200da"}},
		{" \u200d", []string{" \u200d"}},
		{"e\u0301t\u00e9", []string{"e\u0301t\u00e9"}},
		{"٣٤ ok", []string{"٣", "٤", " ok"}},
		{"a\xff\xfeb\xe4", []string{"a", "\xff\xfe", "b", "\xe4"}},
		{" " + strings.Repeat("é", 130), []string{" " + strings.Repeat("é", 64), strings.Repeat("é", 64), "éé"}},
		{strings.Repeat("\n", 65), []string{strings.Repeat("\n", 64), "\n"}},
		{strings.Repeat(" ", 65) + "a", []string{strings.Repeat(" ", 64), " a"}},
	} {
		if got := split(c.text); !slices.Equal(got, c.want) {
			t.Errorf("words of %q: %q, want %q", c.text, got, c.want)
		}
	}
}

func TestClassRangesAscend(t *testing.T) {
	last := rune(0x7F)
	for _, r := range classRanges {
		if r.first <= last || r.last < r.first {
			t.Errorf("range %X-%X after %X", r.first, r.last, last)
		}
		last = r.last
	}
}

// The table is coarser than Unicode's but neither splits words of widely used scripts nor joins
// them with punctuation.
func TestClassAgreesWithUnicode(t *testing.T) {
	scripts := []*unicode.RangeTable{unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Armenian, unicode.Hebrew,
		unicode.Arabic, unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Tamil, unicode.Telugu,
		unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Thai, unicode.Lao, unicode.Myanmar, unicode.Georgian,
		unicode.Ethiopic, unicode.Khmer, unicode.Mongolian, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul}
	for r := rune(0); r <= unicode.MaxRune; r++ {
		got := classOf(r)
		if unicode.IsSpace(r) != (got == white) {
			t.Errorf("%U: class %d, but unicode.IsSpace is %v", r, got, unicode.IsSpace(r))
		}
		if unicode.In(r, scripts...) && unicode.IsLetter(r) && got != letter {
			switch {
			case r >= 0x2070 && r < 0x2200: // superscripts, subscripts and letter-like symbols
			default:
				t.Errorf("%U %c: class %d, want letter", r, r, got)
			}
		}
		if unicode.Is(unicode.Mn, r) && unicode.In(r, scripts...) && got != letter {
			t.Errorf("mark %U: class %d, want letter", r, got)
		}
		if r < 0x250 && (unicode.IsPunct(r) || unicode.IsSymbol(r)) && got != other {
			t.Errorf("%U %c: class %d, want other", r, r, got)
		}
		if got == digit && !unicode.IsDigit(r) {
			t.Errorf("%U %c: class digit, but unicode.IsDigit is false", r, r)
		}
	}
	for _, r := range "„“”‚‘’«»‹›–—…·¿¡§°€£¥×÷→、。，．！？：；（）「」『』【】《》〈〉・؟،؛।॥" {
		if classOf(r) != other {
			t.Errorf("%U %c: class %d, want other", r, r, classOf(r))
		}
	}
}
