// Package ref is the paper's equations written out, for reading and as the oracle of the tests:
// slow, allocating, and as close to the text as Go allows. It imports mat, layer and attn, and
// nothing but tests imports it.
//
// Of the whole model there is the forward pass in float64, sentence by sentence (ref.go): tests
// hold the layers' results against it, and their derivatives against its central differences
// (check.go). Of single equations there is a function of float32 matrices, which computes in
// float64 and rounds its results once (layers.go, attention.go, heads.go, mask.go); the examples
// compute them by hand. padded.go is attention over a padded batch under masks, as tensor libraries
// compute it, with the kernels of package mat.
//
// Shapes that do not fit panic with the shapes in the message.
package ref
