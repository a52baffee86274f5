//go:build race

package mat

// race makes tests draw a tenth of their cases: most of the time is arithmetic, which the detector
// slows down and does not check.
const race = true
