package train

import (
	"context"
	"errors"
	"fmt"

	"tfm/mat"
	"tfm/model"
)

// Average sets the weights of t to the mean of the weights in model files, checkpoints or not, as
// the paper does with its last checkpoints (section 6.1). In the order of paths it adds 1/n of each
// file's weights. It needs the memory of a second model. After each file it calls report, if that
// is not nil, with the number of files so far. A file of another configuration than t's is an
// error, and leaves the weights unspecified.
func Average(t *model.Transformer, paths []string, report func(done int)) error {
	if len(paths) == 0 {
		return errors.New("train: there are no checkpoints to average")
	}
	return average(context.Background(), t, paths, report)
}

// errInterrupted is the error of work that was stopped by the end of its ctx.
var errInterrupted = errors.New("interrupted")

// average is Average, which returns errInterrupted before the next file when ctx ends.
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

// readWeights copies the weights in a model file or checkpoint to dst, which is laid out as
// t.Params.W.
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
