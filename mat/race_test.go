//go:build race

package mat

// race makes tests draw a tenth of what they check: it is arithmetic mostly, which the detector
// slows and does not judge.
const race = true
