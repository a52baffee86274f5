package stages

import (
	"context"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"tfm/cmd/tfm/internal/cli"
	"tfm/cmd/tfm/internal/settings"
	"tfm/model"
	"tfm/text"
	"tfm/train"
)

// Course is how a stage trains a model.
type Course struct {
	Given          func() map[string]string // flags of the command line
	Preset, Config string
	Time           time.Duration
	Steps          int
}

// AddFlags declares the flags. Those of the command, and their defaults, are in c.
func (c *Course) AddFlags(f *cli.Flags) {
	c.Given = f.Given
	f.StringVar(&c.Preset, "preset", c.Preset, "model and options of its training").Choices(append([]string{settings.Auto}, model.PresetNames()...)...)
	f.DurationVar(&c.Time, "time", "training `time`, such as 2h").Common()
	f.IntVar(&c.Steps, "steps", 0, "steps of the training in place of -time, so that it is the same on every machine").Range(0, math.MaxInt32)
	f.StringVar(&c.Config, "config", "", "settings `file` of the training, as of 'tfm train'; -preset and -time, if given, override it")
}

// Check reports settings that no training has.
func (c *Course) Check() error {
	if err := cli.UsageIf(c.Time <= 0 && c.Steps == 0, "-time is %v, expected more than 0", c.Time); err != nil || c.Config == "" {
		return err
	}
	r := settings.NewRun(cli.NewFlags())
	r.ConfigFile = c.Config
	if err := r.Load(); err != nil {
		return err
	}
	return cli.UsageIf(r.Src+r.Tgt+r.TSV+r.Mix+r.ValidSrc+r.ValidTgt+r.ValidTSV != "", "-config %s names corpora, which are those of this command", c.Config)
}

// Train trains a model on pairs, with the arguments args, or continues its training.
func (w *Work) Train(ctx context.Context, c Course, title string, args, inputs []string, out string) error {
	args, inputs = append(args, "-o", out), slices.Clone(inputs)
	if c.Config != "" {
		args, inputs = append(args, "-config", c.Config), append(inputs, c.Config)
		for l := range text.Lines(c.Config) {
			if _, value, _ := strings.Cut(l, "="); Exists(strings.TrimSpace(value)) { // vocab
				inputs = append(inputs, strings.TrimSpace(value))
			}
		}
	}
	given := c.Given()
	if _, ok := given["preset"]; ok || c.Config == "" {
		args = append(args, "-preset", c.Preset)
	}
	if _, ok := given["time"]; c.Steps > 0 {
		args = append(args, "-steps", strconv.Itoa(c.Steps), "-time", "0")
	} else if ok || c.Config == "" {
		args = append(args, "-time", c.Time.String())
	}
	s := Stage{Title: title, Name: "train", Args: args, Inputs: inputs, Outputs: []string{out}, partial: strings.TrimSuffix(out, ".safetensors") + ".ckpt"}
	return w.Once(s, func(resumed bool) error {
		w.Progress.Line("  tfm train %s", shellWords(args))
		more := "-force"
		if checkpoints, err := train.Checkpoints(s.partial); resumed && err == nil && len(checkpoints) > 0 {
			more = "-resume"
		}
		return w.Program(ctx, "train", slices.Concat(args, w.threadsArgs(), []string{more})...)
	})
}
