// Package clean drops faulty pairs from a corpus. It reads pairs as streams, in bounded memory,
// keeps their order, and depends on no language: it learns the usual from a sample of the corpus.
// It imports the standard library and text packages.
//
//	clean.go       Clean: the readings of a corpus, the verdict of each pair
//	options.go     Options
//	fault.go       the faults, the table of the rules
//	sample.go      the sample
//
// The rules:
//
//	characters.go  invalid UTF-8, columns, blank sides, U+FFFD, control characters
//	mojibake.go    UTF-8 that was decoded as Latin-1
//	markup.go      HTML and other markup
//	length.go      short and long sides, copies
//	scripts.go     scripts that are unusual on a side
//	repetition.go  repeated phrases and characters
//	ratio.go       unusual ratios of the lengths
//	numbers.go     different numbers
//	duplicates.go  pairs that repeat earlier ones
//	lexical.go     sides that do not translate each other
//	evidence.go    the evidence of the units of a pair for and against that
//	learn.go       translations and evidence, learned from the sample
//
// # Terms
//
//   - fault: a reason to drop a pair, found by one rule
//   - side: the source or target of a pair
//   - sample: the pairs from which Clean learns
//   - aligned, misaligned: whether the sides of a pair translate each other
//   - decoy: a source of the sample with the target of another pair, misaligned on purpose
//   - unit: a word stem, or a character of a script without spaces; has translations
//   - explanation: how well the other side of a pair explains a unit, as a bin
//   - evidence: logarithm of the ratio of the probabilities of an explanation in aligned and random
//     pairs
package clean
