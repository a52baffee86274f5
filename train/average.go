package train

import (
	"context"
	"errors"
	"fmt"

	"tfm/mat"
	"tfm/model"
	"tfm/model/safetensors"
)

// Average sets the weights of t to the mean of the weights of model files or checkpoints, as the
// paper does with its last checkpoints (section 6.1). It adds 1/n of each file's weights in the
// order of paths. It needs the memory of a second model. After each file it calls report, if that
// is not nil, with the number of files so far. A file whose configuration differs from t's, in more
// than dropout, smoothing, start and max_len, is an error, and so is the end of ctx before the next
// file; the weights are then unspecified.
func Average(ctx context.Context, t *model.Transformer, paths []string, report func(done int)) error {
	if len(paths) == 0 {
		return errors.New("train: found no checkpoints to average, expected at least one")
	}
	clear(t.Params.W)
	weights := make([]float32, len(t.Params.W))
	for i, path := range paths {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := readWeights(path, t, weights); err != nil {
			return err
		}
		mat.Axpy(1/float32(len(paths)), weights, t.Params.W)
		if report != nil {
			report(i + 1)
		}
	}
	return nil
}

// readWeights copies the weights of a model file or checkpoint to dst, in the layout of t.Params.W.
func readWeights(path string, t *model.Transformer, dst []float32) error {
	c, err := openModel(path, (*safetensors.File).Verify)
	if err != nil {
		return err
	}
	defer c.Close()
	// The settings of training alone may differ, as they do after a fine-tuning.
	config, own := c.Config, t.Config
	config.Dropout, config.AttentionDropout, config.FFDropout = own.Dropout, own.AttentionDropout, own.FFDropout
	config.LabelSmoothing, config.Smoothing, config.Init = own.LabelSmoothing, own.Smoothing, own.Init
	if config.Positions != model.Learned {
		config.MaxLen = own.MaxLen
	}
	if err := sameFields(config, own); err != nil {
		return fmt.Errorf("%s: the model's configuration differs: %w", path, err)
	}
	return c.copyTo(t.Params.List, "", dst)
}
