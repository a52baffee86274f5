package golden

import (
	"math"
	"testing"

	"tfm/mat"
)

// recorder records a failure without failing the test.
type recorder struct {
	testing.TB
	failed bool
}

func (r *recorder) Helper()               {}
func (r *recorder) Errorf(string, ...any) { r.failed = true }

func TestClose(t *testing.T) {
	nan := float32(math.NaN())
	want := mat.Of([]float32{1, -10, 3, 4}, 2, 2)
	for name, c := range map[string]struct {
		got []float32
		ok  bool
	}{
		"equal":              {[]float32{1, -10, 3, 4}, true},
		"within":             {[]float32{1.009, -10, 3, 4}, true},
		"beyond":             {[]float32{1, -10, 3, 4.02}, false},
		"not a number first": {[]float32{nan, -10, 3, 4}, false},
		"not a number last":  {[]float32{1, -10, 3, nan}, false},
	} {
		r := &recorder{TB: t}
		CheckClose(r, name, mat.Of(c.got, 2, 2), want, 1e-3)
		if r.failed == c.ok {
			t.Errorf("%s: failed = %v, want %v", name, r.failed, !c.ok)
		}
	}
	for name, m := range map[string]mat.Matrix{"another shape": mat.New(1, 4), "all zero": mat.New(2, 2)} {
		r := &recorder{TB: t}
		if CheckClose(r, name, mat.New(2, 2), m, 1); !r.failed {
			t.Errorf("%s: failed = false, want true", name)
		}
	}
}
