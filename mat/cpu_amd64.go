//go:build !purego && !noasm

package mat

import "golang.org/x/sys/cpu"

// native lists the assembly kernels that this machine can run, best first. HasFMA says nothing of whether
// the operating system keeps the wide registers; HasAVX2 does.
func native() []isa {
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		return []isa{avx2}
	}
	return nil
}

// pause tells the processor that a loop waits for another thread.
func pause()
