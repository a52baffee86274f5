// Package attn is attention: the scaled dot product over heads, forward and backward, the two multi-head
// layers built on it (self and cross), and masks. Package decode has the same one token at a time.
//
// Batches are ragged (see package layer): a sentence's queries attend to its own keys and nothing else, which
// is what a padding mask says about padded batches. The look-ahead mask is the Causal field. Sizes: n queries,
// m keys, d d_model, h heads, d_k numbers of a query or key in a head and d_v of a value (in the paper both d/h).
//
// Shapes that do not fit panic with the shapes in the message. As in package layer, the methods may be called
// concurrently with states, caches and results of their own, and Backward for one batch at a time.
//
// The files: scaled.go (the tuned computation over a ragged batch), multihead.go (self- and cross-attention with
// their projections), weights.go (the weights, to be looked at). For learning, and the
// oracles of the tests: reference.go (the paper's equation 1 for one head with any mask, and its derivative), heads.go
// (single-head attention and many heads, both ways), mask.go, padded.go (a padded batch under masks).
package attn
