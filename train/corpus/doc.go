// Package corpus reads files of sentence pairs as training data. Read validates and counts the
// pairs, learns the tokenizers, holds pairs out for validation, and encodes the others: in memory,
// or as a stream of windows with BPE-dropout. The package imports train and the text packages.
//
//	text.go     Text: sentence pairs in two files, in one TSV, or in memory
//	read.go     Read: a Corpus from a Text
//	holdout.go  the choice of the held-out pairs
//	stream.go   a corpus that is read from its files in every epoch
//
// # Terms
//
//   - pair: a source sentence and its translation, line n of two files or one line of a TSV
//   - held out: used for validation instead of training
//   - reference: target sentence of a validation pair, for BLEU
//   - window: consecutive pairs that are shuffled together, in memory; see train.Stream
//   - stream: a corpus that is read window by window in every epoch
//   - BPE-dropout: encoding with merges dropped at random, differently in every epoch
package corpus
