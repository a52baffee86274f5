// Package score scores translations against references: BLEU and chrF, number for number as
// sacreBLEU. It imports only the standard library.
//
//	bleu.go       BLEU
//	tokenizer.go  the five ways in which sacreBLEU cuts text before BLEU
//	choose.go     which of them suits a text
//	chrf.go       chrF and chrF++
//	case.go       lower case and white space as Python has them
package score
