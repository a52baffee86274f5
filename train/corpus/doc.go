// Package corpus turns files of sentence pairs into the data of a training: it counts the pairs,
// learns the tokenizers, holds pairs out for validation, and encodes the rest, in memory or as a
// stream in windows with BPE-dropout. Read does all of it. It imports package train and the text
// packages.
//
//	text.go     pairs in two files, in one, or in memory
//	read.go     Read: what is done to them, and the counts
//	holdout.go  which pairs are held out
//	stream.go   pairs that are read again in each epoch
package corpus
