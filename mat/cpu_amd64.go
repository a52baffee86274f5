//go:build !purego && !noasm

package mat

import "golang.org/x/sys/cpu"

// native lists the assembly kernels that this machine can run, best first. HasFMA says nothing of whether
// the operating system keeps the wide registers; HasAVX2 does.
func native() (kernels []isa) {
	if x := cpu.X86; x.HasAVX2 && x.HasFMA {
		if x.HasAVX512F && x.HasAVX512VL && x.HasAVX512BW && x.HasAVX512DQ {
			kernels = append(kernels, avx512)
		}
		kernels = append(kernels, avx2)
	}
	return kernels
}

// pause tells the processor that a loop waits for another thread.
func pause()
