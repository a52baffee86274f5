package format

import (
	"testing"
	"time"
)

func TestThousands(t *testing.T) {
	for n, want := range map[int]string{0: "0", 7: "7", 999: "999", 1000: "1,000", 60522496: "60,522,496", -1234: "-1,234", -123: "-123"} {
		if got := Thousands(n); got != want {
			t.Errorf("Thousands(%d) = %q, want %q", n, got, want)
		}
	}
	if got, want := Thousands(int64(999_999_999_999_999)), "999,999,999,999,999"; got != want {
		t.Errorf("Thousands(int64) = %q, want %q", got, want)
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0 steps", 1: "1 step", 6096: "6,096 steps"} {
		if got := Count(n, "step"); got != want {
			t.Errorf("Count(%d, \"step\") = %q, want %q", n, got, want)
		}
	}
}

func TestLeft(t *testing.T) {
	for d, want := range map[time.Duration]string{65*time.Second + 400*time.Millisecond: "1m5s", 59*time.Minute + 59*time.Second: "59m59s", 130*time.Minute + 20*time.Second: "2h10m"} {
		if got := Left(d); got != want {
			t.Errorf("Left(%v) = %q, want %q", d, got, want)
		}
	}
}
