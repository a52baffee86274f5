// Package align learns from the pairs of a corpus which words translate which, and finds the words
// of a sentence that the words of its translation translate. It is a reference for the alignments
// of a model, and the source of shortlists. It imports the standard library and a text package.
//
// Its model is IBM Model 1 (Brown et al., 1993, "The Mathematics of Statistical Machine
// Translation") with a prior that favours equal relative positions, as in fast_align (Dyer et al.,
// 2013, "A Simple, Fast, and Effective Reparameterization of IBM Model 2").
//
// The files: lexicon.go (the model), counts.go (the words that it considers), align.go
// (alignments), scorer.go (how well one side of a pair explains the other).
//
// # Terms
//
//   - word: an id of a vocabulary
//   - link: a target word with the source word that generates it
//   - entry: a source word and a target word that may translate it
package align
