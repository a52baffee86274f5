//go:build !purego && !noasm

package mat

import (
	"testing"

	"golang.org/x/sys/cpu"
)

// eachBF16 calls f for each way to multiply in bfloat16 that the machine supports, even if it is
// slow.
func eachBF16(f func(name string)) {
	defer func(k isa, fast, amx bool) { kernel, fastBF16, hasAMX = k, fast, amx }(kernel, fastBF16, hasAMX)
	if kernel = tested[0]; kernel == avx512 {
		if hasAMX && mayUseAMX() {
			f("amx")
		}
		if hasAMX, fastBF16 = false, cpu.X86.HasAVX512BF16; fastBF16 {
			f("avx512bf16")
		}
	}
	kernel, fastBF16 = tested[len(tested)-1], false
	f("generic")
}

func TestKernelBF16(t *testing.T) {
	eachBF16(func(name string) {
		if got := KernelBF16(); got != name {
			t.Errorf("KernelBF16() = %q, want %q", got, name)
		}
	})
}

func TestMultipliesFastBF16(t *testing.T) {
	for _, c := range []struct {
		processor, vendor string
		family, model     uint32
		want              bool
	}{
		{"Zen 4", "AuthenticAMD", 15, 0x11, true},
		{"Zen 5", "AuthenticAMD", 15, 0x02, true},
		{"Cooper Lake", "GenuineIntel", 6, 0x55, true},
		{"Sapphire Rapids", "GenuineIntel", 6, 0x8F, false},
		{"Emerald Rapids", "GenuineIntel", 6, 0xCF, false},
		{"Granite Rapids", "GenuineIntel", 6, 0xAD, false},
		{"another vendor", "CentaurHauls", 6, 0x55, false},
	} {
		if got := multipliesFastBF16(c.vendor, c.family, c.model); got != c.want {
			t.Errorf("%s: %v, want %v", c.processor, got, c.want)
		}
	}
	if vendor, family, model := cpuModel(); vendor == "" || family == 0 {
		t.Errorf("cpuModel() = %q, %d, %#x", vendor, family, model)
	}
}

// The strips that prefetch an operand fetch all of its cache lines, and nothing else.
func TestAheadCoversTheOperand(t *testing.T) {
	const depth, tiles = 64, 64 / stepBF16
	for _, rows := range []int{32, 128} {
		for _, panels := range []int{1, 4, 8} {
			for _, x := range []Matrix{New(rows, depth), New(depth, rows).T()} {
				missing := map[int]bool{}
				for i := 0; i < len(x.Data)*size; i += line {
					missing[i] = true
				}
				for unit := 0; unit < rows; unit += panels {
					a := aheadOf(x, unit, tiles)
					for i := range panels * tiles * 2 {
						at := a.at + prefetchAddress(i/2/tiles)*prefetchAddress(a.panel) + prefetchAddress(i/2%tiles)*prefetchAddress(a.tile) + prefetchAddress(i%2)*line
						from := int(at - address(x.Data))
						if from < 0 || from >= len(x.Data)*size {
							t.Fatalf("%d rows, %d panels, unit %d: byte %d of %d", rows, panels, unit, from, len(x.Data)*size)
						}
						delete(missing, from)
					}
				}
				if len(missing) > 0 {
					t.Errorf("%d rows, %d panels, column stride %d: %d lines are not fetched", rows, panels, x.ColStride, len(missing))
				}
				if a := aheadOf(x, rows, tiles); a.panel != 0 || a.tile != 0 {
					t.Errorf("%d rows: unit %d is %+v, want one address", rows, rows, a)
				}
			}
		}
	}
}
