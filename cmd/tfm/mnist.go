package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"tfm/cmd/tfm/internal/cli"
	"tfm/cmd/tfm/internal/terminal"
	"tfm/digits"
	"tfm/internal/format"
	"tfm/mat"
	"tfm/model"
)

func mnistCommand(f *cli.Flags) cli.Action {
	var m mnist
	f.StringVar(&m.data, "data", "", "`folder` with the four files")
	f.StringVar(&m.preset, "preset", digits.Names()[0], "name of the model and its training: "+strings.Join(digits.Names(), ", ")).Choices(digits.Names()...)
	f.IntVar(&m.epochs, "epochs", 0, "number of epochs; 0 is the preset's")
	f.IntVar(&m.valid, "valid-images", 0, "number of images at the end of the training set to hold out and evaluate instead of the test set")
	f.Uint64Var(&m.seed, "seed", 1, "seed of the initial weights, the order, the shifts and dropout")
	cli.ThreadsFlag(f, &m.threads)
	return m.run
}

// mnist is the command with its flags.
type mnist struct {
	data, preset  string
	epochs, valid int
	seed          uint64
	threads       int
}

func (c *mnist) run(ctx context.Context, _ []string) error {
	recipe, err := c.recipe()
	if err != nil {
		return err
	}
	training, test, err := digits.Load(c.data)
	if err != nil {
		return err
	}
	if c.valid >= training.Len() {
		return cli.Usagef("-valid-images is %d, expected 0 to %d, of %d images", c.valid, training.Len()-1, training.Len())
	}
	heldOut := "test"
	if c.valid > 0 {
		heldOut = "validation"
		training, test = training.Split(c.valid)
	}
	ctx, stop := cli.Interruptible(ctx)
	defer stop()
	pool := mat.NewPool(c.threads)
	defer pool.Close()
	m, err := c.train(ctx, recipe, training, pool)
	if err != nil {
		return err
	}
	var out strings.Builder
	for _, set := range []struct {
		name string
		digits.Set
	}{{"train", training}, {heldOut, test}} {
		l, err := digits.Evaluate(ctx, m, recipe, set.Set, pool)
		if err != nil {
			return err
		}
		fmt.Fprintf(&out, "%s accuracy: %.2f%% (%d/%d)\n", set.name, percent(l), l.Correct, l.Tokens)
	}
	_, err = os.Stdout.WriteString(out.String())
	return err
}

// recipe checks the flags and returns the model and its training.
func (c *mnist) recipe() (digits.Recipe, error) {
	if c.data == "" {
		return digits.Recipe{}, cli.Usagef("-data is missing: the folder with the files of MNIST")
	}
	if c.valid < 0 {
		return digits.Recipe{}, cli.Usagef("-valid-images is %d, expected 0 or more", c.valid)
	}
	if c.epochs < 0 || c.epochs > 10_000 {
		return digits.Recipe{}, cli.Usagef("-epochs is %d, expected 0 to 10000", c.epochs)
	}
	recipe, err := digits.Preset(c.preset)
	if err != nil {
		return recipe, cli.UsageError{Message: err.Error()}
	}
	if c.epochs > 0 {
		recipe.Epochs = c.epochs
	}
	return recipe, nil
}

// train trains a model and prints the progress.
func (c *mnist) train(ctx context.Context, recipe digits.Recipe, training digits.Set, pool *mat.Pool) (*model.Classifier, error) {
	p := terminal.NewProgress(os.Stderr)
	start := time.Now()
	m, err := digits.Train(ctx, recipe, training, c.seed, pool, func(at digits.Progress) {
		state := fmt.Sprintf("epoch %d of %d  step %s of %s  loss %.4f  accuracy %.2f%%", at.Epoch, at.Epochs, format.Thousands(at.Step), format.Thousands(at.Steps),
			at.Loss.Sum/float64(at.Loss.Tokens), percent(at.Loss))
		if at.EpochEnded {
			p.Line("%s  %.1f s", state, at.Elapsed.Seconds())
		} else {
			p.Update(time.Now(), fmt.Sprintf("%s  %v left", state, at.Left.Round(time.Second)))
		}
	})
	if err != nil {
		p.Clear()
		return nil, err
	}
	p.Line("%s parameters, %.1f s", format.Thousands(m.Params.Count()), time.Since(start).Seconds())
	return m, nil
}

// percent returns the accuracy of the predictions of a loss.
func percent(l model.Loss) float64 { return 100 * float64(l.Correct) / float64(l.Tokens) }
