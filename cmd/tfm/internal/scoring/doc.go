// Package scoring computes and prints the scores of `tfm score` and `tfm eval`.
//
//	flags.go   the scores' settings and their flags
//	read.go    reads hypotheses and references
//	scores.go  corpus and sentence scores, as text or JSON
package scoring
