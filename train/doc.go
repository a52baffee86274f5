// Package train trains a model.Transformer on pairs of sentences: batches, optimizers, schedules,
// the loop, validations, checkpoints and averages. It imports model, model/decode for the
// translations of a validation, the packages below them, text/score, and train/runlog; it never
// prints.
//
// The files, in the order in which a step passes through them:
//
//	pairs.go       Pairs, a corpus as token ids; source.go is one that is read in windows
//	batches.go     Batches: epochs, shuffled, grouped by length, and cut into ragged batches
//	loader.go      the next window and the next batches, prepared while the model trains
//	run.go         Run: what it is given and what it leaves
//	resume.go      how a run begins or is resumed
//	loop.go        steps, accumulation, and when to validate, save and stop
//	clip.go        the norm of the gradient, and clipping
//	divergence.go  steps whose loss or gradient is not a finite number
//	schedule.go    the learning rate
//	optimizer.go   what an optimizer is; adam.go is Adam and AdamW, sgd.go SGD with momentum
//	ema.go         the moving average of the weights
//	validate.go    loss and BLEU on held-out pairs
//	entropy.go     the entropies of attention there
//	checkpoint.go  all that a run needs to go on, in one file; lock.go keeps other runs out
//	finish.go      the weights that a run ends with; average.go is the mean of checkpoints
//	options.go     every setting and its default
//	event.go       what a run reports; log.go writes it to a runlog
//	timing.go      how fast a run is, and how long it will take
//
// Below it are corpus (pairs from files), runlog (the log of a run), tensorboard (event files) and
// peers (comparisons with PyTorch).
//
// # The same weights again
//
// The weights after a step are a function of the weights before it and of numbers that a checkpoint
// holds: the order of the pairs follows from (Seed, epoch, window), dropout from (Seed, batch), the
// learning rate and the bias corrections from the step. Sums over the parameters are computed in
// blocks of fixed size and added in order. So a run, a run on other threads, and a run that is
// stopped and resumed at any step end in the same bits.
//
// # The same speed
//
// All memory is allocated before the first step: batches, activations, moments. After that a step
// allocates nothing and waits for no text: goroutines read, shuffle, group and copy ahead of it.
package train
