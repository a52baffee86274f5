// Package layer holds the layers of the Transformer that treat each token on its own: linear maps,
// norms and residual connections, embeddings with positional encodings, the position-wise
// feed-forward network, dropout, and the loss. Attention, which relates tokens to each other, is in
// package attn. Package layer imports only mat.
//
// Each layer is a struct of parameters with two methods, Forward and Backward. The derivation of
// Backward is above it, in the paper's notation; package internal/ref has the same equations as
// plain loops. Variants of the paper's layers are fields of a layer, set when it is declared.
//
// Forward stores what Backward needs, its input included, in a struct of activations such as
// NormAct. A layer itself holds only parameters, so that several batches may go through it at once,
// each with its own activations. Backward adds to shared gradients: call it for one batch at a
// time, or use an Accumulator.
//
// A nil pool runs loops on the calling goroutine. In a training step of package model each worker
// takes one microbatch through the layers with a nil pool; only Embedding.Backward, which runs for
// the whole batch, divides its columns among workers there.
//
// In derivations mask_j is 0 or 1/(1-Rate), the factor of element j in a mat.Dropout, and mask·x
// is element by element.
//
// A batch is ragged: the tokens of its sentences follow one another, one row of a matrix for each
// token, without padding.
//
// A loop that the workers of a pool share is a struct of its arguments with a method Range(lo, hi),
// for mat.Each, which allocates nothing: normRows computes rows lo to hi of a Norm.
//
// # Sizes
//
//	n      tokens of the batch (source or target)
//	d      d_model, the elements of a token's row
//	h      heads; d_k elements of a query or key and d_v of a value, in the paper both d/h
//	ff     d_ff, the inner size of the feed-forward network
//	V      pieces of the vocabulary
//
// # Terms
//
//   - parameter: a named tensor that training changes; its values are its weights
//   - activation: a value that Forward keeps for Backward; the function f of the feed-forward
//     network is the activation function
//   - gradient: the derivative of the loss with respect to a tensor, of the same shape; dx is the
//     gradient of x
//   - accumulate: to add to a gradient; gradients of parameters accumulate until the caller clears
//     them, gradients of activations are set, or added to where a Mode is Add
//   - sublayer: attention or a feed-forward network within a layer of the encoder or decoder
//   - residual: the connection x + Dropout(Sublayer(x)) around a sublayer
//   - norm: a layer normalization or one of its variants, see NormKind
//   - workspace: memory that one pass needs and leaves undefined
//   - alloc: to give a struct its memory from an Arena
//
// # Files
//
// param.go (parameters and their gradients), accumulator.go (the order in which microbatches add to
// them), arena.go (memory), parallel.go (how loops are divided), linear.go, norm.go, residual.go,
// embedding.go, positions.go, feedforward.go, ssru.go, loss.go, rdrop.go, precision.go (float32 or
// bfloat16 products), init.go (random weights).
package layer
