package mat

import (
	"runtime"
	"time"
)

// MeasurePeak runs multiply-adds on registers for about d and returns the GFLOP/s of one core: the
// peak rate of the kernels in use, counting a multiply-add as two operations. It returns the best
// of many short runs, because other programs can only slow one down.
func MeasurePeak(d time.Duration) float64 { return measurePeak(d, fmaLoop) }

// MeasurePeakBF16 is MeasurePeak for the instruction that KernelBF16 names, or MeasurePeak if that
// is "generic".
func MeasurePeakBF16(d time.Duration) float64 { return measurePeak(d, bf16Loop) }

// measurePeak returns the best rate of loop, which runs n rounds and returns the number of
// operations.
func measurePeak(d time.Duration, loop func(n int) float64) float64 {
	best := 0.0
	for start := time.Now(); ; {
		t := time.Now()
		flops := loop(10000)
		if now := time.Now(); now.Sub(t) > 0 {
			best = max(best, flops/float64(now.Sub(t).Nanoseconds()))
			if now.Sub(start) >= d {
				return best
			}
		}
	}
}

// fmaLoopGeneric is fmaLoop without assembly: n rounds of 8 independent multiply-adds.
func fmaLoopGeneric(n int) float64 {
	var x [8]float32
	a, b := float32(n), float32(1)
	for range n {
		x[0] += a * b
		x[1] += a * b
		x[2] += a * b
		x[3] += a * b
		x[4] += a * b
		x[5] += a * b
		x[6] += a * b
		x[7] += a * b
		b = -b
	}
	runtime.KeepAlive(x)
	return 16 * float64(n)
}
