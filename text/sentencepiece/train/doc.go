// Package train learns models of SentencePiece from texts, as spm_train does, and makes the
// normalizations of a model. It imports text packages and the standard library.
//
//	train.go          a Trainer: settings, required characters, the model
//	fragments.go      counts the fragments of texts
//	pieces.go         the strings that can be pieces
//	seeds.go          the possible pieces of a unigram model
//	unigram.go        learns the pieces of a unigram model
//	bpe.go            learns the pieces of byte-pair encoding
//	normalization.go  the normalizations by their names
//	compile.go        the map of a normalization from a file of rules
//
// # Terms
//
// Those of package sentencepiece, and:
//
//   - fragment: normalized text between two places that no piece can cross
//   - seed: a string that a unigram model can have as a piece when its training begins
//   - lattice: the places of a text where a piece occurs
package train
