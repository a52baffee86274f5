package moses

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"
)

// class is a set of classes of characters. Those of Moses are of an old version of Unicode, and
// alpha and number only have characters up to U+FFFF.
type class uint16

const (
	alpha class = 1 << iota
	digit       // decimal digits that are part of words
	mark        // signs of Indic scripts that are part of words
	number
	lower
	currency
	han // with punctuation of Chinese and Japanese
	hangul
	kana
)

//go:embed classes.txt
var classesFile string

// classTable has the classes of all characters.
type classTable struct {
	first [1 << 16]class // up to U+FFFF
	more  []classRange   // that end after it
}

// classRange is every step-th character from lo to hi.
type classRange struct {
	lo, hi, step rune
	class        class
}

// classes has the classes of sacremoses.
var classes = sync.OnceValue(func() *classTable {
	t := new(classTable)
	for i, fields := range dataLines(classesFile) {
		for _, field := range fields {
			lo, hi, step := parseRange(field)
			t.add(lo, hi, step, 1<<i)
		}
	}
	return t
})

// add adds every step-th character from lo to hi to a class.
func (t *classTable) add(lo, hi, step rune, c class) {
	for r := lo; r <= min(hi, rune(len(t.first)-1)); r += step {
		t.first[r] |= c
	}
	if hi >= rune(len(t.first)) {
		t.more = append(t.more, classRange{lo, hi, step, c})
	}
}

// parseRange parses lo-hi/step in hexadecimal; without hi it is lo, without step 1.
func parseRange(s string) (lo, hi, step rune) {
	n, _ := fmt.Sscanf(s, "%x-%x/%d", &lo, &hi, &step)
	if n < 2 {
		hi = lo
	}
	return lo, hi, max(step, 1)
}

// dataLines returns the fields of the lines of a file, after their names, without comments.
func dataLines(file string) (list [][]string) {
	for s := range strings.Lines(file) {
		if !strings.HasPrefix(s, "#") {
			_, data, _ := strings.Cut(s, ": ")
			list = append(list, strings.Fields(data))
		}
	}
	return list
}

// is reports whether r is in one of the classes of c.
func (t *classTable) is(r rune, c class) bool {
	if r < rune(len(t.first)) {
		return t.first[r]&c != 0
	}
	for _, x := range t.more {
		if x.class&c != 0 && x.lo <= r && r <= x.hi && (r-x.lo)%x.step == 0 {
			return true
		}
	}
	return false
}

// wordClasses returns the classes of letters, and of letters and digits, that are part of words in
// a language.
func wordClasses(language string) (letters, all class) {
	letters = alpha | mark
	switch language {
	case "zh":
		letters |= han
	case "ja":
		letters |= han | kana
	case "ko":
		letters |= hangul
	case "cjk":
		letters |= han | kana | hangul
	}
	return letters, letters | digit
}

// cjk are the blocks whose words are joined: Chinese, Japanese and Korean scripts, and others.
var cjk = []struct{ lo, hi rune }{
	{0x1100, 0x11FF}, {0x2E80, 0xA4CF}, {0xA840, 0xA87F}, {0xAC00, 0xD7AF}, {0xF900, 0xFAFF}, {0xFE30, 0xFE4F},
	{0xFF65, 0xFFDC}, {0x17000, 0x18AFF}, {0x1B000, 0x1B12F}, {0x1B170, 0x1B2FF}, {0x20000, 0x2FFFF},
}

func isCJK(r rune) bool {
	for _, block := range cjk {
		if r <= block.hi {
			return r >= block.lo
		}
	}
	return false
}
