//go:build !purego && !noasm

package mat

// native lists the assembly kernels that this machine can run, best first: every arm64 that Go runs on has NEON.
func native() []isa { return []isa{neon} }

// pause tells the processor that a loop waits for another thread.
func pause()
