// Package training trains a model from its corpora to its file and shows how far it is: what `tfm
// train` and `tfm demo` have in common. It prints what packages corpus and train report, and
// imports these and the terminal.
//
//	job.go    Job: corpora, model, weights to begin with, training
//	print.go  lines of what is trained, and of every event
//	save.go   the model file, and the line about it
package training
