// Package format formats numbers and times for people. It imports only the standard library.
package format

import (
	"strconv"
	"strings"
	"time"
)

// Thousands returns n with commas between groups of three digits: 60,522,496.
func Thousands[N int | int64](n N) string {
	s := strconv.FormatInt(int64(n), 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Count returns n and a noun, in the plural unless n is 1: "1 thread", "6,096 steps".
func Count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return Thousands(n) + " " + noun
}

// Left returns a remaining time in seconds, or in minutes from one hour: "1m5s", "2h10m".
func Left(d time.Duration) string {
	if d < time.Hour {
		return d.Round(time.Second).String()
	}
	return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
}
