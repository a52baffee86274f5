// Package training trains a model, from its corpora to its file, and prints the progress: the
// common part of tfm train, tfm demo, and the commands for rounds.
//
//	job.go       Job: corpora, model, initial weights, training
//	rounds.go    a training in rounds
//	print.go     the settings and the events as lines
//	data.go      warnings about the data
//	detected.go  warnings about languages that the data is not in
//	watch.go     warnings about a run that goes wrong
//	save.go      the model file
//	log.go       its log; board.go: its event files for TensorBoard
package training
