// Package digits trains a model.Classifier to read handwritten digits: images of MNIST (LeCun,
// Cortes and Burges), each a sequence of 28 rows of 28 numbers. It imports train, model,
// layer and mat, and knows no text.
//
// The files: idx.go (the data set's files), recipe.go (the two models and how they are trained),
// batches.go (images as rows), train.go (the loop).
package digits
