package distill

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
)

// Course is how the student is trained.
type Course struct {
	Given          func() map[string]string // flags of the command line
	Preset, Config string
	Time           time.Duration
	Steps          int

	SrcLang, TgtLang string // of the pairs, "" if unknown

	file *settings.Run // of Config, if any
}

// AddFlags declares the flags. Those of the command, and their defaults, are in c.
func (c *Course) AddFlags(f *cli.Flags) {
	c.Given = f.Given
	f.StringVar(&c.Preset, "preset", c.Preset, "model and options of its training").Choices(append([]string{settings.Auto}, model.PresetNames()...)...)
	f.DurationVar(&c.Time, "time", "training `time`, such as 2h").Common()
	f.IntVar(&c.Steps, "steps", 0, "steps of the training in place of -time, so that it is the same on every machine").Range(0, math.MaxInt32)
	f.StringVar(&c.Config, "config", "", "settings `file` of the training, as of 'tfm train', without corpora; flags of this command override it")
}

// Check reads Config and reports settings that no training has.
func (c *Course) Check() error {
	if err := cli.UsageIf(c.Time <= 0 && c.Steps == 0, "-time is %v, expected more than 0", c.Time); err != nil || c.Config == "" {
		return err
	}
	r := settings.NewRun(cli.NewFlags())
	r.ConfigFile = c.Config
	if err := r.Load(); err != nil {
		return err
	}
	c.file = r
	return cli.UsageIf(r.Src+r.Tgt+r.TSV+r.Mix+r.ValidSrc+r.ValidTgt+r.ValidTSV != "", "-config %s names corpora, which are those of this command", c.Config)
}

// overrides reports whether a setting is that of the command, a flag or its default, because Config
// does not have it.
func (c *Course) overrides(name string) bool {
	_, given := c.Given()[name]
	return given || c.file == nil || c.file.Origin(name) < settings.File
}

// Train trains a model on pairs, with the arguments args, or continues its training.
func (w *Work) Train(ctx context.Context, c Course, args, inputs []string, out string) error {
	args, inputs = append(args, "-o", out), slices.Clone(inputs)
	if c.Config != "" {
		args, inputs = append(args, "-config", c.Config), append(inputs, c.Config)
		for l := range text.Lines(c.Config) {
			_, value, _ := strings.Cut(l, "=")
			if found, _ := exists(strings.TrimSpace(value)); found { // vocab
				inputs = append(inputs, strings.TrimSpace(value))
			}
		}
	}
	if c.overrides("preset") {
		args = append(args, "-preset", c.Preset)
	}
	for _, l := range [][2]string{{"src-lang", c.SrcLang}, {"tgt-lang", c.TgtLang}} {
		if l[1] != "" && c.overrides(l[0]) {
			args = append(args, "-"+l[0], l[1])
		}
	}
	_, timed := c.Given()["time"]
	switch {
	case c.Steps > 0:
		args = append(args, "-steps", strconv.Itoa(c.Steps), "-time", "0")
	case timed || c.overrides("time") && c.overrides("steps"):
		args = append(args, "-time", c.Time.String())
	}
	s := Stage{Title: "4/6 train the student", Name: "train", Args: args, Inputs: inputs, Outputs: []string{out}, partial: strings.TrimSuffix(out, ".safetensors") + ".ckpt"}
	return w.Once(s, func(resumed bool) error {
		w.Progress.Line("  tfm train %s", shellWords(args))
		more := "-force"
		if resumed && s.hasCheckpoints() {
			more = "-resume"
		}
		return w.Program(ctx, "train", slices.Concat(args, w.threadsArgs(), []string{more})...)
	})
}
