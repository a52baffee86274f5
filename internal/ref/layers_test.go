package ref_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"tfm/internal/ref"
	"tfm/mat"
)

func TestLayersPanicOnShapes(t *testing.T) {
	x, y := random(rand.New(rand.NewPCG(1, 1)), 2, 4), mat.New(3, 4)
	four := make([]float32, 4)
	for name, f := range map[string]func(){
		"3 gains":       func() { ref.LayerNorm(x, four[:3], nil, 1e-5) },
		"3 biases":      func() { ref.UnbiasedNorm(x, four, four[:3], 1e-5) },
		"2 and 3 rows":  func() { ref.Residual(x, y, mat.Dropout{}) },
		"W1 of 3 rows":  func() { ref.FeedForward(x, y, nil, x, nil) },
		"3 hidden of 4": func() { ref.FeedForward(x, x.T(), nil, y, nil) },
	} {
		func() {
			defer func() {
				if s, ok := recover().(string); !ok || !strings.HasPrefix(s, "ref: ") {
					t.Errorf("%s: panic %q, want one that begins with \"ref: \"", name, s)
				}
			}()
			f()
		}()
	}
}
