package report

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestTicksAreRoundAndInside(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		log    bool
		want   string
	}{
		{0, 10000, false, "0 2,000 4,000 6,000 8,000 10,000"},
		{0, 6096, false, "0 2,000 4,000 6,000"},
		{0, 300000, false, "0 100k 200k 300k"},
		{0, 2e6, false, "0 0.5M 1M 1.5M 2M"},
		{1.6, 9.4, false, "2 4 6 8"},
		{0, 0.0011, false, "0 0.0002 0.0004 0.0006 0.0008 0.0010"},
		{0, 3.9e-6, false, "0 1e-6 2e-6 3e-6"},
		{-0.3, 0.3, false, "-0.2 0 0.2"},
		{2, 9000, true, "10 100 1,000"},
		{0.3, 40, true, "0.3 1 3 10 30"},
		{1.2e-8, 6e-5, true, "1e-7 1e-6 1e-5"},
		{40, 130, true, "40 60 80 100 120"},
	} {
		var got []string
		for _, x := range ticks(c.lo, c.hi, 5, c.log) {
			got = append(got, x.String())
			if x.at < c.lo*(1-1e-9) || x.at > c.hi*(1+1e-9) {
				t.Errorf("ticks(%v, %v): tick at %v", c.lo, c.hi, x.at)
			}
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("ticks(%v, %v), log %v: %s, want %s", c.lo, c.hi, c.log, s, c.want)
		}
	}
}

// Every range has 2 to 11 ticks.
func TestTicksOfAnyRange(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		lo := math.Pow(10, r.Float64()*20-10)
		hi := lo * (1 + math.Pow(10, r.Float64()*8-3))
		for _, log := range []bool{false, true} {
			if n := len(ticks(lo, hi, 5, log)); n < 2 || n > 11 {
				t.Errorf("ticks(%v, %v), log %v: %d ticks, want 2 to 11", lo, hi, log, n)
			}
		}
	}
}

func TestFigureAndDuration(t *testing.T) {
	for x, want := range map[float64]string{0: "0", 3: "3", -17: "-17", 37.423: "37.42", 2.0083: "2.008", 123456.7: "123,457", 0.00085: "8.5e-4", 1.5e-9: "1.5e-9",
		0.5: "0.5000", math.Inf(1): "Inf", math.Inf(-1): "-Inf", 1e300: "1e300"} {
		if got := figure(x); got != want {
			t.Errorf("figure(%v) = %q, want %q", x, got, want)
		}
	}
	if got := figure(math.NaN()); got != "–" {
		t.Errorf("figure(NaN) = %q, want –", got)
	}
	for s, want := range map[float64]string{0.04: "0.0 s", 9.94: "9.9 s", 42: "42 s", 59.7: "1 min 0 s", 200: "3 min 20 s", 3600: "1 h 0 min", 100000: "1 d 3 h", math.Inf(1): "–"} {
		if got := duration(s); got != want {
			t.Errorf("duration(%v) = %q, want %q", s, got, want)
		}
	}
}

// noisy returns a line of n points with two spikes.
func noisy(n int) (l line) {
	r := rand.New(rand.NewPCG(3, uint64(n)))
	for i := range n {
		y := r.NormFloat64()
		switch i {
		case n / 3:
			y = 50
		case n / 2:
			y = -40
		}
		l.add(10+3*i, y)
	}
	return l
}

// A thinned line has at most two points per range and the ends, all of them points of the line,
// and keeps the minimum and the maximum.
func TestThinKeepsSpikes(t *testing.T) {
	for _, n := range []int{1, 2, 39, 40, 41, 1000, 12345} {
		l := noisy(n)
		s := l.thin(20)
		if len(s.x) > 42 || len(s.x) != len(s.y) || !slices.IsSorted(s.x) {
			t.Errorf("%d points: thinned to %d, want at most 42 in ascending order", n, len(s.x))
		}
		if slices.Max(s.y) != slices.Max(l.y) || slices.Min(s.y) != slices.Min(l.y) || s.x[0] != l.x[0] || s.x[len(s.x)-1] != l.x[n-1] {
			t.Errorf("%d points: from %v to %v within %v, %v; want from %v to %v within %v, %v", n, s.x[0], s.x[len(s.x)-1], slices.Min(s.y), slices.Max(s.y), l.x[0], l.x[n-1], slices.Min(l.y), slices.Max(l.y))
		}
		for i, x := range s.x {
			if l.y[(x-10)/3] != s.y[i] {
				t.Errorf("%d points: %v at %d is not a point of the line", n, s.y[i], x)
			}
		}
	}
}

func TestSmooth(t *testing.T) {
	l := noisy(101)
	for _, radius := range []int{0, 1, 7, 500} {
		s := l.smooth(radius)
		for i := range l.y {
			before := min(radius, i)
			window := l.y[i-before : min(i+before+1, len(l.y))]
			sum := 0.0
			for _, y := range window {
				sum += y
			}
			// differences of prefix sums round
			if want := sum / float64(len(window)); math.Abs(s.y[i]-want) > 1e-12 {
				t.Errorf("radius %d: %v at %d, want %v", radius, s.y[i], i, want)
			}
		}
	}
}

func TestLineOmitsNonFiniteValues(t *testing.T) {
	var l line
	for i, y := range []float64{1, math.NaN(), math.Inf(1), 2, math.Inf(-1)} {
		l.add(i, y)
	}
	if !slices.Equal(l.x, []int{0, 3}) || !slices.Equal(l.y, []float64{1, 2}) {
		t.Errorf("line %+v, want 1 at 0 and 2 at 3", l)
	}
}

func TestLayoutOfZeros(t *testing.T) {
	c := chart{Title: "BLEU"}
	c.add("a", "a", 1, line{[]int{0, 5}, []float64{0, 0}})
	c.layout(0, 5)
	if first, last := c.Y[0], c.Y[len(c.Y)-1]; first != (tick{100, "0"}) || last.Label != "1.0" && last.Label != "1" {
		t.Errorf("ticks from %v to %v, want from 0 to 1", first, last)
	}
}

// Paths and ticks stay inside the chart.
func TestLayoutStaysInside(t *testing.T) {
	for _, log := range []bool{false, true} {
		c := chart{Title: "t", log: log}
		c.add("a", "a", 1, line{[]int{0, 5, 10}, []float64{1, 1000, 10}})
		c.layout(0, 10)
		if c.log != log {
			t.Errorf("c.log = %v, want %v", c.log, log)
		}
		for _, y := range c.Y {
			if y.At < 0 || y.At > 100 {
				t.Errorf("log %v: tick %s at %v %%, want 0 to 100", log, y.Label, y.At)
			}
		}
		if p := c.Series[0].Path; !strings.HasPrefix(p, "M0 ") || !strings.Contains(p, "L1000 ") || !strings.Contains(p, "L2000 ") || strings.Contains(p, "-") || strings.Contains(p, "NaN") {
			t.Errorf("log %v: path %s", log, p)
		}
	}
}
