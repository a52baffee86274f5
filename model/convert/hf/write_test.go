package hf

import (
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"testing"

	"tfm/model"
	"tfm/model/convert/internal/parttest"
	"tfm/model/decode"
)

// sameWeights reports whether two models have the same parameters, bit for bit.
func sameWeights(a, b *model.Transformer) error {
	if a.Config != b.Config {
		return fmt.Errorf("found configuration %+v, want %+v", a.Config, b.Config)
	}
	for i, p := range a.Params.List {
		for j, x := range p.W {
			if y := b.Params.List[i].W[j]; math.Float32bits(x) != math.Float32bits(y) {
				return fmt.Errorf("found %v for element %d of %q, want %v", x, j, p.Name, y)
			}
		}
	}
	return nil
}

// Models of transformers that are written and read again are the same in every bit.
func TestMarianHFRoundTrip(t *testing.T) {
	for _, name := range marianFolders {
		f, err := ReadMarian(filepath.Join("../testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		if err := Write(dir, f); err != nil {
			t.Fatal(err)
		}
		got, err := ReadMarian(dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := sameWeights(got.Model, f.Model); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got.Model = f.Model; !reflect.DeepEqual(got, f) {
			t.Errorf("%s: found %+v, want %+v", name, got.Decoding, f.Decoding)
		}
	}
}

// Own models that are written and read again are the same in every bit, and alternating sinusoids
// change only the order of d_model: log-probabilities differ by rounding.
func TestWriteMarianHF(t *testing.T) {
	for name, change := range map[string]func(*model.Config){
		"halves":      func(c *model.Config) { c.Positions = model.Halves },
		"unscaled":    func(c *model.Config) { c.Positions, c.Unscaled, c.Activation = model.Halves, true, model.GELU },
		"output bias": func(c *model.Config) { c.Positions, c.OutputBias, c.Activation = model.Halves, true, model.SiLU },
		"interleaved": func(c *model.Config) {},
		"untied":      func(c *model.Config) { c.Tie, c.OutputBias = model.TieNone, true },
	} {
		for _, joint := range []bool{false, true} {
			f := parttest.RandomModelFile(t, joint, change)
			dir := t.TempDir()
			if err := Write(dir, f); err != nil {
				t.Fatal(err)
			}
			got, err := ReadMarian(dir)
			if err != nil {
				t.Fatal(err)
			}
			if f.Model.Config.Positions == model.Halves {
				if err := sameWeights(got.Model, f.Model); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
			if d := nextDiffers(got.Model, f.Model); !(d <= 1e-6) {
				t.Errorf("%s: probabilities differ by %v", name, d)
			}
			if got.Model = f.Model; !reflect.DeepEqual(got, f) {
				t.Errorf("%s: found %+v, want %+v", name, got, f)
			}
		}
	}
}

// nextDiffers returns the largest difference of the probabilities after some tokens.
func nextDiffers(a, b *model.Transformer) (worst float64) {
	src, given := []int32{5, 9, 20, 7}, []int32{8, 30, 31}
	x, y := decode.New(decode.NewWeights(a, nil), nil).Next(src, given), decode.New(decode.NewWeights(b, nil), nil).Next(src, given)
	for i := range x {
		worst = max(worst, math.Abs(float64(x[i])-float64(y[i])))
	}
	return worst
}
