// Package score scores translations against references with BLEU and chrF, equal to sacreBLEU digit
// by digit. It imports only the standard library.
//
//	bleu.go       BLEU
//	tokenizer.go  sacreBLEU's tokenizers for BLEU
//	choose.go     the tokenizer that suits a text
//	chrf.go       chrF and chrF++
//	case.go       Python's lower case and white space
//
// # Terms
//
//   - hypothesis: the output of a translation system for one segment
//   - reference: a human translation of the segment
//   - segment: a line of a test set, usually one sentence
//   - token: a unit that BLEU counts, made by a Tokenizer; unrelated to a model's tokens
//   - order: the length n of n-grams
//   - match: an n-gram of a hypothesis that is also in a reference, clipped to its count there
//   - smoothing: a precision above 0 for orders without matches
//   - effective order: leaving out the orders for which a hypothesis is too short
//   - signature: sacreBLEU's notation of all settings of a score
package score
