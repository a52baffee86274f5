//go:build !purego && !noasm

package mat

import "testing"

// eachBF16 calls f for each way to multiply numbers in bfloat16 that the machine has.
func eachBF16(f func(name string)) {
	defer func(k isa, bf16, amx bool, fast func() bool) {
		kernel, hasBF16, hasAMX, pairsAreFast = k, bf16, amx, fast
	}(kernel, hasBF16, hasAMX, pairsAreFast)
	bf16, amx := hasBF16, hasAMX && mayUseAMX()
	pairsAreFast = func() bool { return true } // as it may be elsewhere
	for _, kernel = range supported {
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
			t.Errorf("%s twice", name)
		}
		seen[name] = true
	})
	for _, k := range supported {
		if !seen[k.String()] {
			t.Errorf("nothing runs on %v", k)
		}
	}
	if supported[0] == avx512 && (seen["avx512bf16"] != hasBF16 || seen["amx"] != (hasAMX && mayUseAMX())) {
		t.Errorf("what runs is %v", seen)
	}
}

// The processor may be taken away from most measurements of the faster loop, and from none of the
// other's.
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
		t.Error("a loop at 200 in one of 8 measurements is not faster than one at 100")
	}
	if n = 0; isFaster(idle, busy) {
		t.Error("a loop at 100 is faster than one at 200 in one of 8 measurements")
	}
}
