// Package decode translates token ids with a trained Transformer. It holds immutable weights that
// any number of decoders share, the state of hypotheses and one decode step over them, and greedy
// search, beam search and sampling as strategies over that step. It imports attn, layer, mat, model
// and model/safetensors. Package translate and the validation of package train use it. It has no
// notion of text.
//
// The way of a sentence: Engine.Each → scheduler.addSources → State.Add encodes it and computes
// the keys and values of the cross-attention → search.step, once a step: State.Step appends a
// token to each hypothesis and returns the logits of the next; the sentence's strategy selects
// continuations and decides which hypotheses stay live and which are finished → Hypothesis, the
// finished one with the highest score → State.Remove.
//
// Sizes have the names of package layer. Numbers of tokens include EOS, or BOS, unless stated
// otherwise.
//
// The files: weights.go (Weights), file.go (model files for decoding), memory_linux.go (memory of
// weights), options.go (Options, the length penalty), decoder.go (Decoder), engine.go (Engine:
// calls of many goroutines), scheduler.go (which sources have rows in a step), state.go (State:
// adding and removing sources, a step), layers.go (the encoder, the decoder), unnormed_keys.go
// (Marian's self-attention in pre-norm), attention.go (attention of the newest tokens to keys and
// values in pages), marks.go (attention to the marks of sources), shortlist.go (logits of the
// pieces of a list), bounds.go (upper bounds of logits for greedy search), source.go (the nodes of
// a source's hypotheses), pages.go (memory for keys and values), search.go (a step of several
// searches), best.go (the best tokens of a row), greedy.go, beam.go, shrinking.go, open_beam.go,
// sample.go (the strategies), constraint.go (what may follow a hypothesis: length, repetitions),
// pieces.go (valid UTF-8), prefix.go (forced prefixes), suppress.go (pieces that no search
// selects), phrases.go (phrases that must appear), certain.go (tokens that cannot change), pairs.go
// (log-probabilities and attention of given translations, in one pass over all their positions).
//
// # Terms
//
//   - form: of matrices: packed float32 or int8; of a file: plain, or for decoding
//   - step, decode step: one target position, for all live hypotheses of some sources
//   - row: one hypothesis in a step
//   - node: a token of one or more hypotheses, with a key and a value in every layer
//   - page: the keys and values of 16 tokens in all layers
//   - hypothesis: a partial or complete translation
//   - live: not finished; it gets one more token in the next step
//   - finished: ended by EOS, or truncated at the length limit
//   - continuation: a hypothesis and a token that may follow it
//   - strategy: the rule that selects continuations: greedy, beam or sample
//   - beam: the live hypotheses of one source in beam search, and their limit
//   - length penalty: the function of the length by which the log-probability is divided
//   - score: log-probability divided by the length penalty
//   - list: the pieces that may follow the hypotheses of a source, see model.Shortlist
//   - constraint: an automaton that decides which tokens may follow a hypothesis
//   - n-best: the finished hypotheses of a source with the highest scores
package decode
