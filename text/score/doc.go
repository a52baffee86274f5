// Package score scores translations against references with BLEU, chrF and TER, equal to sacreBLEU
// digit by digit, and tests whether systems differ. It imports text packages.
//
//	bleu.go          BLEU
//	chrf.go          chrF and chrF++
//	ter.go           TER
//	statistics.go    statistics of each segment, from which a bootstrap computes many scores
//	bootstrap.go     confidence intervals and comparisons by resampling segments
//	ngrams.go        the n-grams that hypothesis and reference have in common
//	shifts.go        the shifts of TER
//	editdistance.go  the edit distance of TER
//	tokenizer.go     sacreBLEU's tokenizers for BLEU
//	choose.go        the tokenizer that suits a text
//	case.go          Python's lower case and white space
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
//   - statistics: the counts of a segment whose sums over a corpus give its score
//   - resample: segments drawn from a test set with replacement, in the number of the test set
//   - p-value: the probability of a larger difference of scores between two equally good systems
//   - signature: sacreBLEU's notation of all settings of a score
package score
