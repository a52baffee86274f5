package layer_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"tfm/internal/ref"
	"tfm/layer"
	"tfm/mat"
)

// The reference with dropout against the tuned layer: the same masks, in float64.
func TestReferenceAddNorm(t *testing.T) {
	drop := mat.Dropout{Rate: 0.4, Key: 77}
	var l layer.AddNorm
	ps, r := setUp(func(ps *layer.Params) { l = layer.NewAddNorm(ps, "l", d, eps) })
	x, sub := random(r, n, d), random(r, n, d)
	var act layer.NormAct
	arena(func(a *layer.Arena) { act = l.Alloc(a, n) })
	want := layer.ReferenceAddNorm(x, sub, drop, ps.List[0].W, ps.List[1].W, eps)
	ref.Close(t, "y", l.Forward(nil, &act, x, sub, drop), ref.Of(want), 1e-6) // some ten roundings of 6e-8
}

func TestReferencesRefuseWhatDoesNotFit(t *testing.T) {
	x, y := random(rand.New(rand.NewPCG(1, 1)), 2, 4), mat.New(3, 4)
	four := make([]float32, 4)
	for name, f := range map[string]func(){
		"3 gains":       func() { layer.ReferenceLayerNorm(x, four[:3], nil, eps) },
		"3 biases":      func() { layer.ReferenceUnbiasedNorm(x, four, four[:3], eps) },
		"2 and 3 rows":  func() { layer.ReferenceResidual(x, y, mat.Dropout{}) },
		"a map of 3":    func() { layer.ReferenceFeedForward(x, y, nil, x, nil) },
		"3 hidden of 4": func() { layer.ReferenceFeedForward(x, x.T(), nil, y, nil) },
	} {
		func() {
			defer func() {
				if s, ok := recover().(string); !ok || !strings.HasPrefix(s, "layer: ") {
					t.Errorf("%s must panic and say so: %q", name, s)
				}
			}()
			f()
		}()
	}
}
