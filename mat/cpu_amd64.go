//go:build !purego && !noasm

package mat

import "golang.org/x/sys/cpu"

// native lists the assembly kernels that this machine can run, best first. HasFMA says nothing of
// whether the operating system keeps the wide registers; HasAVX2 does.
func native() (kernels []isa) {
	if x := cpu.X86; x.HasAVX2 && x.HasFMA {
		if x.HasAVX512F && x.HasAVX512VL && x.HasAVX512BW && x.HasAVX512DQ {
			kernels = append(kernels, avx512)
		}
		kernels = append(kernels, avx2)
	}
	return kernels
}

// features: AVX-512's further extensions are of use to its kernels alone, for the processor may
// have them without what those need, as when GODEBUG switched that off.
func features() []Feature {
	x, any, wide := &cpu.X86, kernel != generic, kernel == avx512
	return []Feature{
		{"avx2", x.HasAVX2, any},
		{"fma", x.HasFMA, any},
		{"avx512f", x.HasAVX512F, wide},
		{"avx512vl", x.HasAVX512VL, wide},
		{"avx512bw", x.HasAVX512BW, wide},
		{"avx512dq", x.HasAVX512DQ, wide},
		{"avx512vnni", x.HasAVX512VNNI, wide && hasDot},
		{"avx512bf16", x.HasAVX512BF16, kernelBF16() == pairsBF16},
		{"amxbf16", x.HasAMXTile && x.HasAMXBF16, kernelBF16() == tilesBF16},
	}
}

// pause tells the processor that a loop waits for another thread.
func pause()
