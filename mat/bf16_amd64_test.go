//go:build !purego && !noasm

package mat

import "testing"

// eachBF16 calls f for each way to multiply in bfloat16 that the machine supports.
func eachBF16(f func(name string)) {
	defer func(k isa, bf16, amx bool, fast func() bool) {
		kernel, hasBF16, hasAMX, pairsAreFast = k, bf16, amx, fast
	}(kernel, hasBF16, hasAMX, pairsAreFast)
	bf16, amx := hasBF16, hasAMX && mayUseAMX()
	pairsAreFast = func() bool { return true } // tests them even if they are slow here
	for _, kernel = range tested {
		for _, hasAMX = range []bool{true, false} {
			for _, hasBF16 = range []bool{true, false} {
				best := kernel == avx512 && (hasAMX || hasBF16)
				if hasAMX && (!amx || !best) || hasBF16 && (!bf16 || !best) || hasAMX && !hasBF16 {
					continue
				}
				f(KernelBF16())
			}
		}
	}
}

func TestKernelBF16(t *testing.T) {
	seen := map[string]bool{}
	eachBF16(func(name string) {
		if seen[name] {
			t.Errorf("%s is listed twice", name)
		}
		seen[name] = true
	})
	for _, k := range tested {
		if !seen[k.String()] {
			t.Errorf("no way to multiply uses %v", k)
		}
	}
	if tested[0] == avx512 && (seen["avx512bf16"] != hasBF16 || seen["amx"] != (hasAMX && mayUseAMX())) {
		t.Errorf("the ways to multiply are %v", seen)
	}
}

// Most measurements of the faster loop may be slow, and none of the other.
func TestIsFasterOnABusyMachine(t *testing.T) {
	n := 0
	busy := func() float64 {
		if n++; n%8 != 0 {
			return 10
		}
		return 200
	}
	idle := func() float64 { return 100 }
	if !isFaster(busy, idle) {
		t.Error("isFaster = false for a loop with a rate of 200 in one of 8 measurements against one of 100")
	}
	if n = 0; isFaster(idle, busy) {
		t.Error("isFaster = true for a loop with a rate of 100 against one of 200 in one of 8 measurements")
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
						at := a.at + uintptr(i/2/tiles)*a.panel + uintptr(i/2%tiles)*a.tile + uintptr(i%2)*line
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
