// Package bpe is byte-level byte-pair encoding: it learns the merges from text, and turns
// text into ids and back. It imports package text and the standard library.
//
//	words.go      cuts a text into the words that no merge may cross
//	train.go      learns the merges from a corpus
//	tokenizer.go  text to token ids and back
//	ranges.go     the bytes of the text that each id stands for
//	dropout.go    the same with merges left out at random, for training
//	cache.go      the words seen lately, with their ids
//	remap.go      the pieces of one tokenizer in those of another
//	file.go       the merges as bytes, for the model file
//	heap.go       the priority queue under tokenizer.go and train.go
package bpe
