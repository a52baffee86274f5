// Package profile has the profiles by which languages of one script are told apart, for package
// detect and for tools/languages, which makes them. It imports the standard library.
//
//	script.go  scripts
//	ngram.go   the n-grams of a text, as hashes
//	model.go   the profiles: a vector for each n-gram, weights for each language
//	file.go    their file
//
// # Method
//
// A text is the sum of the vectors of its n-grams, those of 1 to 5 characters and whole words,
// divided by the square root of their number. The score of a language is the product of this vector
// with the weights of the language, and the probabilities are the softmax of the scores of all
// languages of a script. It is the linear model with low rank of fastText (Joulin et al., Bag of
// Tricks for Efficient Text Classification, 2016), with the most useful n-grams only and
// integers of 8 bits.
package profile
