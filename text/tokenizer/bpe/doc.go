// Package bpe implements byte-level byte-pair encoding: it learns merges from text, and turns text
// into ids and back. It imports text packages and the standard library.
//
//	words.go      splits a text into words, which no merge crosses
//	pattern.go    the same words as a regular expression, for other programs
//	train.go      learns the merges from a corpus
//	tokenizer.go  text to ids and back
//	ranges.go     the bytes of the text of each id
//	remap.go      the pieces of one tokenizer as pieces of another
//	trim.go       a tokenizer without the pieces that are not used
//	file.go       the merges as bytes, for the model file
//
// # Terms
//
//   - word: a run of letters, other characters or white space, or a digit, with the space before it
//   - symbol: a piece of a word while merges are applied to it; at first each byte is a symbol
//   - merge: a rule that replaces two adjacent symbols by one, and so makes a piece
//   - pair: the ids of two adjacent symbols; not a pair of sentences
//   - threshold: count below which words were sampled when the merges were learned; 1 if none were
package bpe
