//go:build !purego && !noasm

package mat

import "golang.org/x/sys/cpu"

// native lists the assembly kernels that this machine can run, best first: every arm64 that Go runs
// on has NEON.
func native() []isa { return []isa{neon} }

// features: asimddp is the dot product of 8-bit integers.
func features() []Feature {
	any := kernel != generic
	return []Feature{
		{"asimd", true, any},
		{"asimddp", cpu.ARM64.HasASIMDDP, any && cpu.ARM64.HasASIMDDP},
	}
}

// pause tells the processor that a loop waits for another thread.
func pause()
