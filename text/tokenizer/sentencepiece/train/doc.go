// Package train learns unigram models of SentencePiece from texts, as spm_train does. It imports
// text packages and the standard library.
//
//	train.go      a Trainer: settings, the characters, the model
//	fragments.go  counts the fragments of texts
//	pieces.go     the strings that can be pieces
//	seeds.go      the possible pieces
//	unigram.go    chooses the pieces
//
// # Terms
//
// Those of package sentencepiece, and:
//
//   - fragment: normalized text between two places that no piece can cross
//   - seed: a string that a unigram model can have as a piece when its training begins
//   - lattice: the places of a text where a piece occurs
package train
