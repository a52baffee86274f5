// Package moses normalizes, tokenizes and detokenizes text by the rules of Moses (Koehn et al.
// 2007, "Moses: Open Source Toolkit for Statistical Machine Translation"), with the results of
// sacremoses 0.2.0, its port to Python, except that digits are those of Go's version of Unicode.
//
//	chain.go        raw text to words and back, in the order of a model
//	tokenize.go     text to words
//	detokenize.go   words to text
//	punctuation.go  Moses' scripts that make punctuation uniform, as rules
//	line.go         a line while rules replace its characters
//	classes.go      classes of characters; classes.txt
//	prefixes.go     abbreviations and other words before a full stop; prefixes.txt
//
// A rule of Moses is a regular expression that is replaced everywhere in a line. The rules of
// punctuation are such. Those of words are scans of the line, in the same order, so that time is
// linear in the length of a line. A rule for another language belongs into the file of its step.
// testdata/tables.py writes the .txt files, whose licence is that of sacremoses (MIT), and
// testdata/golden.py what the tests expect.
//
// # Terms
//
//   - language: a code of Moses, such as "en"; an unknown one has the general rules, with the
//     prefixes of English
//   - word: what tokenizing separates: a word, a number or punctuation
//   - prefix: a word that keeps the full stop after it, such as an abbreviation
package moses
