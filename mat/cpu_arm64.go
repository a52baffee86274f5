//go:build !purego && !noasm

package mat

import "golang.org/x/sys/cpu"

// native lists the assembly kernels that this machine can run: NEON, which every arm64 machine that
// Go supports has.
func native() []isa { return []isa{neon} }

// features implements Features. asimddp is the dot product of 8-bit integers.
func features() []Feature {
	any := kernel != generic
	return []Feature{
		{"asimd", true, any},
		{"asimddp", cpu.ARM64.HasASIMDDP, any && cpu.ARM64.HasASIMDDP},
	}
}

// pause executes YIELD, the hint that a loop waits for another thread.
func pause()
