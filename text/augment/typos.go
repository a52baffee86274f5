package augment

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode"

	"tfm/text"
)

// typoClasses are the classes of typing errors, with the probability that a text with errors has
// one of them. Each occurs once in a text at most.
var typoClasses = map[string]float64{
	"char_swap":     0.1, // two letters exchanged
	"extra_char":    0.1, // a neighbouring key inserted
	"missing_char":  0.1,
	"nearby_char":   0.1, // a neighbouring key instead
	"random_space":  0.1, // within a word
	"repeated_char": 0.1,
	"similar_char":  0.1, // one that looks like it instead
	"skipped_space": 0.1,
	"unichar":       0.1, // one letter instead of a double one
}

var typoOrder = slices.Sorted(maps.Keys(typoClasses))

// keys are rows of a keyboard. The neighbours of a key are beside it, in its row and the rows above
// and below.
var keys = []string{"1234567890", "qwertyuiop", "asdfghjkl", "zxcvbnm"}

// similar has characters that look alike.
var similar = []string{"0oO", "1lI", "2Z", "5S", "8B", "uv", "vy", "nm", "ce", "gq", "bd", "pq", "ij", "rn", "eé", "aá", "oö", "uü", "cç"}

// typos makes typing errors in the source.
func typos(m *Modifier, r *rand.Rand, p *text.Pair) {
	s := []rune(p.Source)
	for _, class := range typoOrder {
		if probability := m.numbers[class]; probability > 0 && r.Float64() < probability {
			s = typo(class, r, s)
		}
	}
	p.Source = string(s)
}

// typo returns s with an error of a class at a random place, or s if it has no such place.
func typo(class string, r *rand.Rand, s []rune) []rune {
	letter := func(i int) bool { return i < len(s) && (unicode.IsLetter(s[i]) || unicode.IsDigit(s[i])) }
	space := func(i int) bool { return s[i] == ' ' && i > 0 && i+1 < len(s) }
	fits := letter
	var other string // to choose from
	switch class {
	case "char_swap":
		fits = func(i int) bool { return letter(i) && letter(i+1) && s[i] != s[i+1] }
	case "random_space":
		fits = func(i int) bool { return letter(i) && letter(i+1) }
	case "skipped_space":
		fits = space
	case "unichar":
		fits = func(i int) bool { return letter(i) && letter(i+1) && s[i] == s[i+1] }
	case "extra_char", "nearby_char":
		fits = func(i int) bool { return neighbours(s[i]) != "" }
	case "similar_char":
		fits = func(i int) bool { return lookAlikes(s[i]) != "" }
	}
	var places []int
	for i := range s {
		if fits(i) {
			places = append(places, i)
		}
	}
	if len(places) == 0 {
		return s
	}
	i := places[r.IntN(len(places))]
	switch class {
	case "extra_char", "nearby_char":
		other = neighbours(s[i])
	case "similar_char":
		other = lookAlikes(s[i])
	}
	var drawn rune
	if of := []rune(other); len(of) > 0 {
		drawn = of[r.IntN(len(of))]
	}
	switch class {
	case "char_swap":
		s[i], s[i+1] = s[i+1], s[i]
	case "extra_char":
		return slices.Insert(s, i+1, drawn)
	case "nearby_char", "similar_char":
		s[i] = drawn
	case "random_space":
		return slices.Insert(s, i+1, ' ')
	case "repeated_char":
		return slices.Insert(s, i, s[i])
	case "missing_char", "skipped_space", "unichar":
		return slices.Delete(s, i, i+1)
	}
	return s
}

// neighbours returns the keys beside that of a character, in its case; "" if it is not on the
// keyboard.
func neighbours(c rune) string {
	lower := unicode.ToLower(c)
	var found strings.Builder
	for row, line := range keys {
		column := strings.IndexRune(line, lower)
		if column < 0 {
			continue
		}
		for y := max(0, row-1); y <= min(len(keys)-1, row+1); y++ {
			for x := max(0, column-1); x <= min(len(keys[y])-1, column+1); x++ {
				if key := rune(keys[y][x]); key != lower {
					found.WriteRune(key)
				}
			}
		}
	}
	if unicode.IsUpper(c) {
		return strings.ToUpper(found.String())
	}
	return found.String()
}

// lookAlikes returns the characters that look like one.
func lookAlikes(c rune) string {
	var found strings.Builder
	for _, of := range similar {
		if strings.ContainsRune(of, c) {
			found.WriteString(strings.ReplaceAll(of, string(c), ""))
		}
	}
	return found.String()
}
