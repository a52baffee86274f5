// Package decode translates token ids with a trained Transformer: immutable weights that any
// number of decoders share, the state of hypotheses and one step over them, and greedy search,
// beam search and sampling as strategies over that step. It imports model and what lies below it
// (attn, layer, mat), and is what package translate and the validation of package train are built
// on. It knows no text.
//
// The way of a sentence: Decoder.Translate → State.Begin encodes it once, and computes the keys
// and values of the cross-attention → search.run: State.Step gives every hypothesis its newest
// token and returns the logits of the next; the sentence's strategy takes continuations from them
// and says which hypotheses go on → a Hypothesis, the best that finished.
//
// Sizes have the names of package layer; a row is one hypothesis in a step.
//
// The files: weights.go (Weights), options.go (Options, the length penalty), decoder.go
// (Decoder), state.go (State: encoding and a step), attention.go and cache.go (attention of the
// newest token to cached keys and values), search.go (the loop over steps), greedy.go, beam.go,
// sample.go (the strategies).
package decode
