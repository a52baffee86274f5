// Package layer holds the parts of the Transformer that see one token at a time: linear maps,
// norms, embeddings with positions, the position-wise feed-forward network, dropout with the
// residual connection, and the loss. It imports mat alone.
//
// Each layer is a struct of parameters with two methods beside each other, Forward and Backward,
// and above Backward stands the derivation. Package internal/ref has the same equations written
// out.
//
// A batch is ragged: the tokens of its sentences one after another, a matrix row each, no padding.
// One vocabulary of sizes is used everywhere:
//
//	n      tokens in the batch (source or target)
//	d      d_model
//	h      heads, of d_k numbers in queries and keys and d_v in values; in the paper both are d/h
//	ff     d_ff, the inner size of the feed-forward network
//	V      vocabulary entries
//
// dx is the derivative of the loss with respect to x. Derivatives of parameters are added to
// Param.G; derivatives of activations are set, or added where a Mode says Add.
//
// Forward leaves what Backward needs, its input included, in a struct of activations:
// FeedForwardAct, NormAct. A layer itself holds nothing but parameters, so that any number of
// batches may go through it at once, each with activations of its own. The memory of activations
// comes from an Arena: every layer has Alloc, and Arena.Alloc measures before it gives. Backward
// runs for one batch at a time, or for microbatches that an Accumulator keeps in order.
//
// The default of each choice is the paper's; the others are made when a layer is declared.
//
// The files: param.go (parameters and their gradients), order.go (in which order microbatches add
// to them), arena.go (memory), linear.go, norm.go, residual.go, embedding.go, positions.go,
// feedforward.go, loss.go, rdrop.go, precision.go (float32 or bfloat16 products), init.go (random
// weights).
package layer
