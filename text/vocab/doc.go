// Package vocab is the tokenizers of a model, one of the source and one of the target or a joint
// one, and how a file holds them. It imports package text, its tokenizers and the standard library.
//
//	pair.go   the two tokenizers, to and from the bytes in a model file
//	kinds.go  which kind of tokenizer some bytes are
//	train.go  learns the two from a corpus
package vocab
