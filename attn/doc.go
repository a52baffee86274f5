// Package attn is attention (section 3.2): the scaled dot product over heads and the two multi-head
// layers built on it, Self and Cross, forward and backward. It imports layer and mat.
//
// Package model/decode has the same one token at a time, and package internal/ref the paper's
// equations written out, with masks and padded batches.
//
// Batches are ragged (see package layer): a sentence's queries attend to its own keys and nothing
// else, which is what a padding mask says about padded batches. The look-ahead mask is
// Ragged.Causal. Sizes: n queries, m keys, d d_model, h heads, d_k numbers of a query or key in a
// head and d_v of a value (in the paper both d/h).
//
// Shapes that do not fit panic with the shapes in the message. As in package layer, methods may be
// called concurrently with activations and results of their own, and Backward for one batch at a
// time.
//
// The files: scaled.go (equation 1 over a ragged batch), multihead.go (self- and cross-attention
// with their linear maps), weights.go (the attention weights, to be looked at).
package attn
