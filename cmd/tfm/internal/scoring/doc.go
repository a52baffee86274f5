// Package scoring computes and prints the scores of `tfm score` and `tfm eval`.
//
//	flags.go      the scores' settings and their flags
//	read.go       reads hypotheses and references
//	measure.go    the scores of systems, and tests of significance
//	scores.go     the scores of one system, as text or JSON
//	table.go      those of several systems
//	sentences.go  those of each line
package scoring
