// Package lesson trains the paper's model on three sentences until it translates them word for
// word. It imports the model and its training.
//
//	lesson.go   the model and its training
//	decode.go   greedy decoding with the probabilities of each step
//	print.go    what the lesson prints
package lesson
