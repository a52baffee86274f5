// Package train trains a model.Transformer on pairs of sentences: batches, optimizers, schedules,
// the training loop, validations, checkpoints and averages. It imports model and what model
// imports, model/decode for the translations of a validation, text/score, and train/runlog. It
// never prints.
//
// The files, in the order in which a step uses them:
//
//	pairs.go       Pairs: a corpus as token ids; stream.go: a corpus that is read in windows
//	batches.go     Batches: ragged batches of similar lengths in random order
//	loader.go      prepares windows and batches ahead of the training; count.go: their tokens
//	data.go        Data, the inputs of a run
//	run.go         Run and its result
//	state.go       State, what a checkpoint has of a run, and the run in memory
//	resume.go      the start and the resume of a run
//	loop.go        the steps, gradient accumulation, and when to validate, save and stop
//	clip.go        the norm of the gradient, and clipping
//	divergence.go  steps whose loss or gradient is not finite, or whose gradient is too large
//	schedule.go    the learning rate
//	optimizer.go   the interface Optimizer
//	adam.go        Adam and AdamW
//	muon.go        Muon
//	sgd.go         SGD with momentum
//	validate.go    loss and BLEU of the validation pairs
//	entropy.go     the entropies of the attention weights in a validation
//	checkpoint.go  checkpoint files; sums.go: checksums of the parts of those of rounds
//	paths.go       names of the files of a run; lock.go: exclusive use of their folder
//	finish.go      the final weights of a run; average.go: the mean of checkpoints
//	rounds.go      training in rounds
//	work.go        a worker's part of a round; merge.go: the mean of the workers
//	options.go     every setting and its default
//	event.go       the progress reports of a run; log.go writes them to a runlog
//	speed.go       tokens per second; timing.go: estimates of the remaining time
//
// Subpackages: corpus (pairs from files), runlog (the log of a run), tensorboard (event files) and
// peers (comparisons with PyTorch).
//
// # Reproducibility
//
// The weights after a step are a function of the weights before it and of the state in a
// checkpoint: the order of the pairs depends on (Seed, epoch, window), dropout on (Seed, batch),
// the learning rate and the bias corrections on the step. Sums over the parameters are computed in
// blocks of fixed size and added in order. Therefore a run, a run with another number of threads,
// and a run that is stopped and resumed at any step end in the same bits.
//
// # Performance
//
// All memory is allocated before the first step: batches, activations, moments. A step allocates
// nothing and does not wait for text, because goroutines read, shuffle, sort and copy ahead of it.
//
// # Terms
//
//   - run: one training from step 1 to its end, resumes included
//   - step: one optimizer update, of the gradient of Options.Accumulate batches
//   - epoch: one pass over the training pairs
//   - window: the pairs that are in memory and shuffled together: of a Stream, or all of an epoch
//   - batch: pairs of similar lengths, at most Options.BatchTokens target tokens
//   - seed: the number that determines the order of the pairs and dropout
//   - validation: loss and BLEU of the weights on held-out pairs; it chooses the best step
//   - checkpoint: a model file with all state that a run needs to continue
//   - resume: to continue a run from a checkpoint
//   - round: steps of several workers, each on its own, and the mean of their weights; see
//     Rounds
//   - moments: the optimizer's state, one value per weight or more
package train
