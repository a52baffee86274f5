// Package text is everything that happens to text before it is numbers and
// after it has been numbers. It imports only the standard library, and no
// other package of this module.
//
// Where to find what, in the order a sentence meets it:
//
//	corpus.go         reads lines and sentence pairs: two files, one TSV, gzip
//	pair_reader.go    the pairs one at a time, without allocating, from any place again
//	words.go          cuts a text into the words that no merge may cross
//	bpe_train.go      learns the merges from a corpus
//	bpe.go            text to token ids and back
//	bpe_dropout.go    the same with merges left out at random, for training
//	bpe_cache.go      the words seen lately, with their ids
//	bpe_in.go         the pieces of one encoding in those of another
//	bpe_file.go       the merges as bytes, for the model file
//	bleu.go           scores translations: BLEU, number for number as sacreBLEU
//	bleu_tokenize.go  the five ways in which sacreBLEU cuts text before BLEU
//	chrf.go           scores translations: chrF and chrF++
//	case.go           lower case and white space as Python sees them
//	heap.go           the priority queue under bpe.go and bpe_train.go
package text
