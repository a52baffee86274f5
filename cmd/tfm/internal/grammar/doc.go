// Package grammar generates the corpus of `tfm demo`: Chinese sentences and their English
// translations. It imports only the standard library.
//
//	grammar.go  clauses, random choices and sentence patterns
//	lexicon.go  the words of both languages and their inflection
//
// The grammar generates both sides of a sentence together. Chinese does not inflect for number,
// person, tense or definiteness; its particles, classifiers, numerals and times determine the
// English forms. Each Chinese sentence has exactly one English translation, which depends on word
// order, agreement, articles and tense.
package grammar
