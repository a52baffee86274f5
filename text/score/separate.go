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
		if r, size = utf8.DecodeRuneInString(s[i:]); class(r) {
			b.WriteByte(' ')
			b.WriteString(s[i : i+size])
			b.WriteByte(' ')
		} else {
			b.WriteString(s[i : i+size])
		}
	}
	return b.String()
}

// spaceSide is the side of a split pair that gets a further space.
type spaceSide bool

const (
	spaceBefore spaceSide = false
	spaceAfter  spaceSide = true
)

// splitPairs puts a space between two characters of the given classes and a further one on a side
// of the pair. Pairs do not overlap and are found from left to right.
func splitPairs(s string, first, second func(rune) bool, side spaceSide) string {
	var b strings.Builder
	b.Grow(2 * len(s))
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		end := i + size
		if first(r) && end < len(s) {
			if r, size = utf8.DecodeRuneInString(s[end:]); second(r) {
				if side == spaceBefore {
					b.WriteByte(' ')
				}
				b.WriteString(s[i:end])
				b.WriteByte(' ')
				b.WriteString(s[end : end+size])
				if side == spaceAfter {
					b.WriteByte(' ')
				}
				i = end + size
				continue
			}
		}
		b.WriteString(s[i:end])
		i = end
	}
	return b.String()
}

// remove removes the characters of a class.
func remove(s string, class func(rune) bool) string {
	return strings.Map(func(r rune) rune {
		if class(r) {
			return -1
		}
		return r
	}, s)
}
