//go:build !purego && !noasm

package mat

import "golang.org/x/sys/cpu"

// native lists the assembly kernels that this machine can run, best first. HasAVX2, unlike HasFMA,
// includes the operating system's support for wide registers.
func native() (kernels []isa) {
	if x := cpu.X86; x.HasAVX2 && x.HasFMA {
		if x.HasAVX512F && x.HasAVX512VL && x.HasAVX512BW && x.HasAVX512DQ {
			kernels = append(kernels, avx512)
		}
		kernels = append(kernels, avx2)
	}
	return kernels
}

// features implements Features. The further extensions of AVX-512 are in use only with the avx512
// kernels, because GODEBUG may disable what those kernels need and leave the extensions.
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

// pause executes PAUSE, the hint that a loop waits for another thread.
func pause()
