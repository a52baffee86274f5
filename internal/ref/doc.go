// Package ref is the paper's equations as plain loops, for readers and as the oracle of the tests:
// slow, allocating, and as close to the text as Go allows. It imports mat, layer and attn; only
// tests import it.
//
// The layers and the whole model have a forward pass in float64, sentence by sentence (ref.go).
// Tests compare the layers' results with it, and their gradients with its central differences
// (check.go). Equation 1 also has a backward pass (attention.go), and masks (mask.go). padded.go is
// attention over a padded batch with masks, as tensor libraries compute it, with the kernels of
// package mat. The examples compute results by hand.
//
// Shapes that do not fit panic.
package ref
