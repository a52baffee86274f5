// Package text reads lines and sentence pairs, and defines the interface of tokenizers. It imports
// charset and the standard library.
//
//	corpus.go       lines and sentence pairs from two files, one TSV file, or gzip
//	tmx.go          the pairs of a translation memory
//	pair_reader.go  pairs one at a time, without allocating, with seeking
//	pair_repair.go  pairs with faults, for cleaning a corpus
//	line.go         lines for a filter, repaired where they are invalid
//	batches.go      the available lines as a batch, for a filter that answers at once
//	edits.go        replaced ranges of a text, which carry ranges to the result and back
//	oneline.go      a model's output as one valid line
//	warning.go      prints the first warnings of each kind and counts the others
//	tokenizer.go    the interface Tokenizer and the ids that all tokenizers share
//
// Packages bpe, sentencepiece and subword implement Tokenizer, package moses stands around subword,
// package vocab holds the tokenizers of a model, package split splits running text into sentences,
// package clean drops faulty pairs from a corpus, package score computes BLEU and chrF.
//
// # Terms
//
//   - source, target: the language that a model reads and the one that it writes; src and tgt in
//     names
//   - pair: a source sentence and its translation
//   - corpus: the pairs of a TSV file or a translation memory, or of two files in which equal line
//     numbers make a pair
//   - unit: of a translation memory, a text in two languages or more
//   - vocabulary: the pieces of one side of a model
//   - piece: an entry of a vocabulary, a byte string with an id
//   - id: the number of a piece
//   - special id: Pad, BOS or EOS, whose piece has no text
//   - token: one element of a sequence that a model reads or writes, represented by an id
//   - tokenizer: turns text into ids and back
//   - blank: without a word, that is empty or only white space
package text
