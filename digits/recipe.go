package digits

import (
	"fmt"
	"strings"

	"tfm/layer"
	"tfm/model"
	"tfm/train"
)

// Recipe is a model with its training settings.
type Recipe struct {
	Model  model.ClassifierConfig
	Epochs int
	Batch  int // images per step
	Shift  int // each use shifts an image by up to this many pixels in each direction
	Mean   float64
	Scale  float64 // a pixel p of 0 to 255 becomes (p/255 - Mean)/Scale
	Peak   float64 // learning rate after Warmup
	Warmup int     // steps
	Falls  bool    // the rate falls linearly to 0 after Warmup
	Beta2  float64
	Decay  float64 // weight decay, see train.Adam
}

var recipes = []struct {
	name string
	Recipe
}{
	// One encoder and one decoder layer, as in PyTorch's nn.Transformer, on the rows without
	// positions.
	{"source", Recipe{
		Model: model.ClassifierConfig{
			Config: model.Config{DModel: Side, Heads: 2, DFF: 64, EncoderLayers: 1, DecoderLayers: 1, Dropout: 0.1, NormEps: 1e-5,
				FinalNorm: model.FinalNormOn, Init: model.PyTorchInit},
			Rows: Side, Cols: Side, Classes: classes,
		},
		Epochs: 10, Batch: 64, Scale: 1, Peak: 1e-3, Beta2: 0.999,
	}},
	{"vit-rows", Recipe{
		Model: model.ClassifierConfig{
			Config: model.Config{DModel: 64, Heads: 4, DFF: 128, EncoderLayers: 4, Dropout: 0.05, NormEps: 1e-5, Norm: model.PreNorm,
				Activation: model.GELU, LabelSmoothing: 0.1},
			Rows: Side, Cols: Side, Embed: true, Classes: classes,
		},
		// mean and deviation of the training set
		Epochs: 10, Batch: 64, Shift: 2, Mean: 0.1307, Scale: 0.3081,
		Peak: 3e-3, Warmup: 600, Falls: true, Beta2: 0.98, Decay: 0.01,
	}},
}

// Names returns the names of the presets.
func Names() []string {
	names := make([]string, len(recipes))
	for i, r := range recipes {
		names[i] = r.name
	}
	return names
}

// Preset returns the recipe with the given name.
func Preset(name string) (Recipe, error) {
	for _, r := range recipes {
		if r.name == name {
			return r.Recipe, nil
		}
	}
	return Recipe{}, fmt.Errorf("unknown preset %q, expected one of %s", name, strings.Join(Names(), ", "))
}

func (r Recipe) optimizer(ps *layer.Params) train.Optimizer {
	const beta1, eps = 0.9, 1e-8
	if r.Decay == 0 {
		return train.NewAdam(ps.Count(), beta1, r.Beta2, eps)
	}
	return train.NewAdamW(ps, beta1, r.Beta2, eps, r.Decay)
}
