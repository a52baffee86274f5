// Package decode translates token ids with a trained Transformer. It holds immutable weights that
// any number of decoders share, the hypotheses of sources with their keys and values, one decode
// step over them, and greedy search, beam search and sampling as choices from its results. It
// imports attn, layer, mat, model and model/safetensors. Package translate and the validation of
// package train use it. It has no notion of text.
//
// The way of a sentence: Engine.Stream → scheduler.addSources → State.Add encodes it and computes
// the keys and values of the cross-attention → searches.step, once a step → Hypothesis, the
// finished one with the highest score → State.Remove.
//
// A step is a chain of stages:
//
//	rows        the live hypotheses of all sources
//	logits      State.step, the only stage with a model: Weights.decode, outputProjection.project
//	processors  mask, penalizeRepetition, suppress; partial.allows asks the constraint
//	candidates  mostProbable, largest or sampled: the tokens of a row that may be chosen
//	selection   selectFrom: which candidates stay live and which are finished
//	tree        search.advance adds their tokens to the hypotheses
//
// Sizes have the names of package layer. Numbers of tokens include EOS, or BOS, unless stated
// otherwise.
//
// The files, in the order in which a sentence goes through them: decoder.go (Decoder), engine.go
// (Engine: calls of many goroutines), pairs.go (log-probabilities and attention of given
// translations, in one pass over all their positions), scheduler.go (which sources have rows in a
// step), searches.go (a step of several searches), search.go (the search for one source, its n-best
// list, tokens that cannot change), request.go (a call), state.go (State: adding and removing
// sources, a step, one thread's share of these), output.go (logits, those of the pieces of a list,
// and for greedy search only those that may be the largest), bounds.go (upper bounds of logits),
// attention.go (the sublayers that mix the newest tokens with those before and with the source),
// step.go (a decode step of some rows), ssru.go (states of recurrent decoders), layers.go (the
// encoder, the decoder), sources.go (the sources of a State, with the keys and values of them and
// of the hypotheses that translate them), lists.go (lists of pieces), sample.go (candidates drawn
// at random), candidates.go (the most probable candidates), processors.go (logits of tokens that
// may be selected), constraint.go (what may follow a hypothesis, forced prefixes), pieces.go (valid
// UTF-8), options.go (Options, the length penalty), tree.go (the hypotheses of a source),
// selection.go (greedy search, beam search). They use settings.go (the settings in a model file),
// suppressed.go (the pieces that searches do not select), shortlist.go (the pieces that may
// translate a source), alignment.go (the heads that align), file.go (model files, also for
// decoding, and of imported models), weights.go (Weights), matrix.go (matrices in float32 or int8),
// pages.go (memory for keys and values), memory_linux.go (memory of weights).
//
// # Terms
//
//   - form: of matrices: packed float32 or int8; of a file: plain, or for decoding
//   - step, decode step: one target position, for all live hypotheses of some sources
//   - row: one hypothesis in a step
//   - mixer: the sublayers that mix the tokens of a sentence: of a step, or of a pass over pairs
//   - node: a token of one or more hypotheses, in the tree of a source
//   - lane: the place of a node's keys and values in pages
//   - page: the keys and values of 16 tokens in all layers
//   - hypothesis: a partial or complete translation
//   - live: not finished; it gets one more token in the next step
//   - finished: ended by EOS, or truncated at the length limit
//   - candidate: a hypothesis and a token that may follow it
//   - selection: the rule that chooses from candidates
//   - beam: the live hypotheses of one source in beam search, and their limit
//   - length penalty: the function of the length by which the log-probability is divided
//   - score: log-probability divided by the length penalty
//   - shortlist: for each source piece, the target pieces that may translate it
//   - list: the pieces that may follow the hypotheses of a source, see Shortlist
//   - constraint: what decides which tokens may follow a hypothesis
//   - n-best: the finished hypotheses of a source with the highest scores
package decode
