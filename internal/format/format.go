// Package format writes numbers as people read them. It imports the standard library alone.
package format

import "strconv"

// Thousands writes n with a comma between groups of three digits: 60,522,496.
func Thousands[N int | int64](n N) string {
	s := strconv.FormatInt(int64(n), 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Count writes a number of things: "1 thread", "6,096 steps".
func Count(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return Thousands(n) + " " + thing
}
