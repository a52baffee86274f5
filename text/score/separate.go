package score

import (
	"strings"
	"unicode/utf8"
)

// surround puts spaces around the characters of a class.
func surround(s string, class func(rune) bool) string {
	var b strings.Builder
	b.Grow(2 * len(s))
	for i, size := 0, 0; i < len(s); i += size {
		var r rune
		r, size = utf8.DecodeRuneInString(s[i:])
		if class(r) {
			b.WriteString(" " + s[i:i+size] + " ")
		} else {
			b.WriteString(s[i : i+size])
		}
	}
	return b.String()
}

// splitPairs puts a space between two characters of the given classes, and texts before and after
// the pair. Pairs do not overlap and are found from left to right.
func splitPairs(s string, first, second func(rune) bool, before, after string) string {
	var b strings.Builder
	b.Grow(2 * len(s))
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		end := i + size
		next, size := utf8.DecodeRuneInString(s[end:])
		if size > 0 && first(r) && second(next) {
			b.WriteString(before + s[i:end] + " " + s[end:end+size] + after)
			i = end + size
		} else {
			b.WriteString(s[i:end])
			i = end
		}
	}
	return b.String()
}
