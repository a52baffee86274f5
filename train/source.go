package train

import "context"

// Source is training pairs that are not all in memory, or that are others in each epoch. An epoch has windows, one
// after another; the pairs of one are in memory together, are shuffled together and make batches of their own, while
// the pairs of the next are read.
type Source interface {
	// Windows is the number of windows of every epoch, at least 1.
	Windows() int

	// Read adds the pairs of a window, from 0, to dst, which is empty. They may depend on the epoch, but not on what
	// was read before: a run that is resumed reads only what it still needs, and must get the same pairs. Errors
	// end the run, with a checkpoint of the last step; they should say which file and line is to blame. A ctx that
	// ends makes it return soon, with an error.
	//
	// One call at a time is made: before the first step by the goroutine of Run, of every window of the first epoch, and then
	// by another one.
	Read(ctx context.Context, dst *Pairs, epoch, window int) error
}
