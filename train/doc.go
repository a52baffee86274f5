// Package train trains a model.Transformer on pairs of sentences.
//
// The map, in the order in which a step passes through it:
//
//	pairs.go       the corpus as token ids; source.go one that is read in windows
//	batches.go     epochs: shuffled, grouped by length, cut into ragged batches by tokens
//	loader.go      the next window and the next batches made ready while the model trains
//	loop.go        Run: steps, accumulation, when to validate, save and stop; resume.go how it begins or goes on,
//	               finish.go the weights that it ends with
//	clip.go        the gradient's norm and clipping
//	divergence.go  what to do when it is not a number, and whom to blame
//	schedule.go    the learning rate
//	optimizer.go   what an optimizer is; adam.go Adam and AdamW, sgd.go momentum
//	ema.go         the moving average of the weights
//	validate.go    loss and BLEU on held-out pairs
//	entropy.go     how widely each attention head looks around there
//	checkpoint.go  everything a run needs to go on, in one file; lock.go keeps a second run away from it
//	average.go     the mean of the last checkpoints' weights
//	options.go     every setting and its default
//	event.go       what a run reports, log.go writes it to a runlog; speed.go how fast it is
//
// The folder runlog holds the format of a run's log, tensorboard the writer of event files, peers the comparisons with PyTorch.
//
// # The same weights again
//
// The weights after a step are a function of the weights before it and of numbers that a checkpoint holds:
// the order of the pairs follows from (Seed, epoch, window), dropout from (Seed, batch), the learning rate and the bias
// corrections from the step. Sums over the parameters are taken in blocks of fixed size and added in order.
// So a run, a run on other threads, and a run stopped and resumed at any step end in the same bits.
//
// # The same speed
//
// All memory is taken before the first step: batches, activations, moments. After that a step allocates nothing, and
// waits for no text: goroutines read, shuffle, group and copy ahead of it.
package train
