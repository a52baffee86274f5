package mat

import (
	"testing"
	"time"
)

func TestMeasurePeak(t *testing.T) {
	forEachKernel(t, func(t *testing.T) {
		if peak := MeasurePeak(time.Millisecond); !(peak > 0) {
			t.Errorf("MeasurePeak = %v GFLOP/s", peak)
		}
	})
}

func TestMeasurePeakBF16(t *testing.T) {
	forEachBF16(t, func(t *testing.T) {
		if peak := MeasurePeakBF16(time.Millisecond); !(peak > 0) {
			t.Errorf("MeasurePeakBF16 = %v GFLOP/s", peak)
		}
	})
}
