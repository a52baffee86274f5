// Package grammar writes the corpus of `tfm demo`: Chinese sentences and their English
// translations. It imports the standard library alone.
//
// A grammar (grammar.go) over a lexicon (lexicon.go) writes both sides of a sentence at once. The
// two languages differ in what they leave unsaid: Chinese marks neither number, person, tense nor
// definiteness on the word, but has particles, classifiers, numerals and times from which the
// English forms follow. So each Chinese sentence has exactly one English translation, and finding
// it takes word order, agreement, articles and tense.
package grammar
