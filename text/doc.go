// Package text reads lines and sentence pairs, and says what a tokenizer is. It imports only
// the standard library.
//
//	corpus.go       reads lines and sentence pairs: two files, one TSV, gzip
//	pair_reader.go  the pairs one at a time, without allocating, from any place again
//	line.go         lines for a filter, which mends what the others refuse
//	batches.go      the lines that are there together, for a filter that answers at once
//	oneline.go      what a model says as one valid line
//	warning.go      shows warnings, and counts them when there are many
//	tokenizer.go    the interface Tokenizer and the ids that all tokenizers share
//
// Package bpe implements Tokenizer, package vocab holds the tokenizers of a model, package score
// computes BLEU and chrF.
package text
