package train

import "context"

// Stream provides training pairs that do not fit in memory or that differ between epochs. An epoch
// is a sequence of windows. The pairs of a window are shuffled and divided into batches in memory
// while the next window is read.
type Stream interface {
	// Windows returns the number of windows in every epoch, at least 1.
	Windows() int

	// Read adds the pairs of a window, counted from 0, to the empty dst. The pairs can depend
	// on the epoch, but not on earlier calls, because a resumed run does not read earlier
	// windows. An error ends the run, after a checkpoint of the last step; it should name file
	// and line. When ctx ends, Read must return an error soon.
	//
	// Calls are sequential: first on the goroutine of Run for every window of the first epoch,
	// before the first step, and then on another goroutine.
	Read(ctx context.Context, dst *Pairs, epoch, window int) error
}
