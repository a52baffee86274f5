// Package layer holds the parts of the Transformer that see one token at a time: linear maps, layer norm,
// embeddings with positions, the position-wise feed-forward network, dropout with the residual, and the
// loss. Each is a struct of parameters with two methods beside each other, Forward and Backward, and above
// Backward stands the derivation.
//
// A batch is ragged: the tokens of its sentences one after another, a matrix row each, no padding. One
// vocabulary of sizes is used everywhere:
//
//	n      tokens in the batch (source or target)
//	d      d_model
//	h      heads, of d_k numbers in queries and keys and d_v in values; in the paper both are d/h
//	ff     d_ff, the inner size of the feed-forward network
//	V      vocabulary entries
//
// dx is the derivative of the loss with respect to x. Derivatives of parameters are added to what is there
// already (Param.G); derivatives of activations are set, or added where a method's `how` says Add.
//
// Forward stores what Backward needs in matrices that the caller provides, so a layer itself holds nothing
// but parameters: any number of batches may pass through it at once, each with its own activations. Backward
// adds to Param.G and so must run for one batch at a time, or for the parts of one that take turns: Params.Share.
//
// The default of each choice is the paper's; the others are made when a layer is declared.
//
// The files: param.go, arena.go (where numbers live), order.go (which microbatch adds to a gradient next), linear.go, norm.go, residual.go, embedding.go, positions.go,
// feedforward.go, loss.go, rdrop.go, precision.go, init.go; reference.go (the paper's equations one by one, slow, for learning and testing).
package layer
