// Package vocab holds the tokenizers of a model: one for the source and one for the target, or a
// joint one for both. It imports package text, the packages of tokenizers and the standard library.
//
//	tokenizers.go  the two tokenizers, and their encoding in a model file
//	kinds.go       the kinds of tokenizers
//	train.go       learns the two from a corpus
//
// # Terms
//
//   - vocabulary: the pieces of one side of a model
//   - joint vocabulary: one vocabulary, with one tokenizer, for both sides
//   - kind: an implementation of text.Tokenizer, identified by the first bytes of its encoding
package vocab
