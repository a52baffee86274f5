// Package attn is attention (section 3.2): scaled dot-product attention over heads, and the two
// multi-head layers built on it, Self and Cross, forward and backward. It imports layer and mat.
//
// Package model/decode has the same for one token at a time, and package internal/ref has the
// paper's equations as plain loops, with masks and padded batches.
//
// Batches are ragged (see package layer): the queries of a sentence attend to the keys of the same
// sentence only, as under a padding mask in a padded batch. The look-ahead mask is Ragged.Causal.
//
// Shapes that do not fit panic with the shapes in the message. As in package layer, methods may be
// called concurrently with different activations and results, and Backward for one batch at a time.
//
// # Sizes
//
//	n      queries: tokens that attend
//	m      keys: tokens attended to
//	d      d_model
//	h      heads
//	d_k    elements of a query or key in a head; d/h in the paper
//	d_v    elements of a value in a head; d/h in the paper
//
// # Terms
//
//   - query, key, value: the rows Q, K and V of a token, linear maps of its row x
//   - score: the element of Q·Kᵀ/sqrt(d_k) for a query and a key
//   - weight: softmax of a query's scores; the attention weights of a head are P [n × m]
//   - head: one attention function of the h in a layer, with its own columns of Q, K and V
//   - context: P·V of all heads side by side, ctx, before the output projection W^O
//   - memory: the encoder's output, which Cross attends to
//   - visible: a key that a query may attend to; all others have weight 0, as under the masks of
//     section 3.2.3. mask in a formula is a dropout mask, as in package layer
//   - ragged: of a batch, without padding; a Ragged has the boundaries of its sentences
//
// # Files
//
// scaled.go (equation 1 over a ragged batch), multihead.go (self- and cross-attention with their
// linear maps), weights.go (attention weights, for inspection).
package attn
