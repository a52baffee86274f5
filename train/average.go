package train

import (
	"context"
	"errors"
	"fmt"

	"tfm/mat"
	"tfm/model"
)

// Average sets the weights of t to the mean of those of model files, checkpoints or not (as the paper does with its last
// checkpoints, section 6.1): for each in the order given, 1/n of its weights is added. Beside t's it needs the memory of one
// model. After each file it calls report, if that is not nil, with the number of files so far. It is an error, and the
// weights are then unspecified, if one is not of t's configuration.
func Average(t *model.Transformer, paths []string, report func(done int)) error {
	if len(paths) == 0 {
		return errors.New("train: there are no checkpoints to average")
	}
	return average(context.Background(), t, paths, report)
}

// errInterrupted is the error of work that the end of its ctx stopped.
var errInterrupted = errors.New("interrupted")

// average is Average that ends with errInterrupted at the next file when ctx ends.
func average(ctx context.Context, t *model.Transformer, paths []string, report func(done int)) error {
	clear(t.Params.W)
	weights := make([]float32, len(t.Params.W))
	for i, path := range paths {
		if ctx.Err() != nil {
			return errInterrupted
		}
		if err := readWeights(path, t, weights); err != nil {
			return err
		}
		mat.Axpy(t.Params.W, 1/float32(len(paths)), weights)
		if report != nil {
			report(i + 1)
		}
	}
	return nil
}

// readWeights copies the weights of a model file, which may be a checkpoint, to dst, a slice laid out as t.Params.W.
func readWeights(path string, t *model.Transformer, dst []float32) error {
	c, err := openModel(path)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := sameFields(c.Config, t.Config); err != nil {
		return fmt.Errorf("%s: a model of another configuration: %w", path, err)
	}
	return c.copyTo(t.Params, "", dst)
}
