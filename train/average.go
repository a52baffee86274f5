package train

import (
	"fmt"

	"tfm/mat"
	"tfm/model"
)

// Average sets the weights of t to the mean of those of checkpoints (as the paper does, section 6.1). It
// is an error, and the weights are then unspecified, if one is not a checkpoint of t's configuration.
func Average(t *model.Transformer, paths []string) error {
	if len(paths) == 0 {
		return fmt.Errorf("train: there are no checkpoints to average")
	}
	clear(t.Params.W)
	weights := make([]float32, len(t.Params.W))
	for _, path := range paths {
		if err := readWeights(path, t, weights); err != nil {
			return err
		}
		mat.Axpy(t.Params.W, 1/float32(len(paths)), weights)
	}
	return nil
}

// readWeights copies a checkpoint's weights to dst, a slice laid out as t.Params.W.
func readWeights(path string, t *model.Transformer, dst []float32) error {
	c, err := OpenCheckpoint(path)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := sameFields(c.Config, t.Config); err != nil {
		return fmt.Errorf("%s: a checkpoint of another configuration: %w", path, err)
	}
	return c.copyTo(t.Params, "", dst)
}
