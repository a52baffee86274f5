package golden

import (
	"maps"
	"math"
	"path/filepath"
	"strings"
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

// Each runs a test for the files that it finds, so that a missing one would not fail it.
func TestNoGoldenIsMissing(t *testing.T) {
	want := map[string]int{
		"attention": 6, "clip": 2, "cross_entropy": 3, "decoder": 3, "decoder_layer": 6, "embedding": 1,
		"encoder": 3, "encoder_layer": 6, "feed_forward": 5, "layer_norm": 4, "optimizer": 4, "positions": 4,
		"rms_norm": 1, "scaled_dot_product": 4, "schedule": 1, "training": 2, "transformer": 4,
	}
	paths, err := filepath.Glob("../../testdata/*.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for _, path := range paths {
		kind, _, _ := strings.Cut(filepath.Base(path), ".")
		got[kind]++
	}
	if !maps.Equal(got, want) {
		t.Errorf("files of each kind: %v, want %v", got, want)
	}
}
