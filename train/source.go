package train

import "context"

// Source is training pairs that do not fit in memory, or that differ from epoch to epoch. An epoch
// is a sequence of windows. The pairs of a window are in memory, shuffled and cut into batches
// together, while those of the next one are read.
type Source interface {
	// Windows returns the number of windows of every epoch, at least 1.
	Windows() int

	// Read adds the pairs of a window, counted from 0, to dst, which is empty. They may depend on
	// the epoch, but not on earlier reads, because a run that is resumed reads only what it still
	// needs and must get the same pairs. An error ends the run, after a checkpoint of the last
	// step; it should name file and line. When ctx ends, Read returns an error soon.
	//
	// There is one call at a time: for every window of the first epoch on the goroutine of Run,
	// before the first step, and then on another one.
	Read(ctx context.Context, dst *Pairs, epoch, window int) error
}
