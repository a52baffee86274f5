// Package digits trains a model.Classifier to recognise handwritten digits: images of MNIST
// (LeCun, Cortes and Burges), each a sequence of 28 rows of 28 pixels. It imports train, model,
// layer and mat.
//
//	idx.go      reads the data set
//	recipe.go   presets: two models with their training settings
//	batches.go  batches of images as matrices
//	train.go    the training loop and the evaluation
package digits
