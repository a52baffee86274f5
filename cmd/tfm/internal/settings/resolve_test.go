package settings

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"tfm/cmd/tfm/internal/cli"
	"tfm/cmd/tfm/recipes"
	"tfm/model"
	"tfm/model/decode"
	"tfm/text/score"
	"tfm/train"
)

// given returns the settings of a recipe, a file and the command line, each written "name=value
// name=value".
func given(recipe, file, typed string) (*Run, error) {
	r := NewRun(cli.NewFlags())
	for _, field := range strings.Fields(typed) {
		name, value, _ := strings.Cut(field, "=")
		if err := r.flags.Set(name, value); err != nil {
			return nil, err
		}
		r.given[name] = CommandLine
	}
	if err := r.fill(File, "run.conf", strings.Fields(file)); err != nil {
		return nil, err
	}
	return r, r.fill(Recipe, "recipe.conf", strings.Fields(recipe))
}

// resolved returns the settings of a command line.
func resolved(t *testing.T, typed string, facts Facts) *Run {
	t.Helper()
	r, err := given("", "", typed)
	if err == nil {
		err = r.Resolve(facts)
	}
	if err != nil {
		t.Fatalf("%q: %v", typed, err)
	}
	return r
}

// check compares settings with "name=value:origin ...", where the origin may be missing.
func check(t *testing.T, what string, r *Run, want string) {
	t.Helper()
	origins := map[Origin]string{Default: "default", Recipe: "recipe", File: "file", CommandLine: "command-line"}
	for _, want := range strings.Fields(want) {
		setting, origin, hasOrigin := strings.Cut(want, ":")
		name, _, _ := strings.Cut(setting, "=")
		found, from := name+"="+r.flags.Lookup(name).Value.String(), origins[r.Origin(name)]
		if slices.ContainsFunc(r.Choices(), func(c Choice) bool { return c.Name == name }) {
			from = "chosen"
		}
		if found != setting || hasOrigin && from != origin {
			t.Errorf("%s: %s:%s, want %s", what, found, from, want)
		}
	}
}

// trained returns a model of a preset with a vocabulary of 8,000, after a change.
func trained(preset string, change func(*Trained)) *Trained {
	t := &Trained{Path: "old.safetensors", Options: train.OptionsFor(preset), Joint: true}
	t.Config, _ = model.Preset(preset)
	t.Config.SrcVocab, t.Config.TgtVocab = 8000, 8000
	t.Options.Schedule = t.Options.LearningRate(t.Config.DModel).Name
	if change != nil {
		change(t)
	}
	return t
}

// Each row is a rule: the settings of each origin, the contents of the files, and the resolved
// values with their origins, or the error.
func TestResolve(t *testing.T) {
	joint, separate := &Tokenizers{"t.bpe", true}, &Tokenizers{"t.bpe", false}
	init := func(preset string, change func(*Trained)) Facts {
		return Facts{Init: trained(preset, change), Tokenizers: joint}
	}
	resume := func(preset string, change func(*Trained)) Facts {
		return Facts{Resume: trained(preset, change)}
	}
	for _, c := range []struct {
		rule                string
		recipe, file, typed string
		facts               Facts
		want                string // "name=value:origin …", or after "error " a part of the error
	}{
		// Which origin decides.
		{"the program's defaults", "", "", "", Facts{}, "preset=tiny:chosen d-model=128:default batch-tokens=1500:default seed=1:default"},
		{"a preset sets model and options", "", "", "preset=base", Facts{}, "preset=base:command-line d-model=512:default batch-tokens=4096:default save-every=1000:default"},
		{"a file overrides a recipe", "dropout=0.15 steps=7", "steps=8", "", Facts{}, "dropout=0.15:recipe steps=8:file"},
		{"the command line overrides a file", "steps=7", "steps=8 seed=2", "steps=9", Facts{}, "steps=9:command-line seed=2:file"},
		{"a preset in a file", "", "preset=base d-model=64", "", Facts{}, "preset=base:file d-model=64:file d-ff=2048:default"},
		{"another preset, the rest of the file stays", "", "preset=base d-model=64", "preset=tiny", Facts{}, "preset=tiny:command-line d-model=64:file d-ff=256:default"},
		{"no such preset", "", "", "preset=huge", Facts{}, `error -preset is "huge", expected base, big`},
		{"the length penalty of a preset", "", "", "preset=tiny", Facts{}, "length-penalty=power:default alpha=1:default"},
		{"an exponent out of range", "", "", "alpha=11", Facts{}, "error alpha is 11, expected 0 to 10"},
		{"a value that cannot be", "", "norm=sideways", "", Facts{}, `error run.conf:1: norm is "sideways"`},
		{"the checkpoints' folder", "", "", "o=en-de.safetensors average=2", Facts{}, "average=2:command-line"},

		// Tokenizers.
		{"tokenizers say whether they are joint", "", "", "vocab=t.bpe", Facts{Tokenizers: separate}, "joint=false tie=decoder"},
		{"as directly as -joint, which is another", "", "", "vocab=t.bpe joint=true", Facts{Tokenizers: separate}, "error -joint=true, but in t.bpe it is false"},
		{"more directly than -joint", "joint=true", "", "vocab=t.bpe", Facts{Tokenizers: separate}, "joint=false"},

		// The embeddings and the output projection.
		{"no joint vocabulary, no shared matrix", "", "", "joint=false", Facts{}, "tie=decoder output-bias=false:default"},
		{"tie all as directly as -joint", "", "", "joint=false tie=all", Facts{}, "error tie all needs a joint vocabulary"},
		{"tie all more directly than -joint", "", "joint=false", "tie=all", Facts{}, "error tie all needs a joint vocabulary"},
		{"an output projection of its own has a bias", "", "", "tie=none", Facts{}, "output-bias=true"},
		{"unless it is given as directly", "", "", "tie=none output-bias=false", Facts{}, "output-bias=false:command-line"},
		{"a shared one has none", "output-bias=true", "", "tie=decoder", Facts{}, "output-bias=false"},

		// The learning rate.
		{"factor over a peak", "lr=0.003 schedule=inverse-sqrt", "", "factor=2", Facts{}, "lr=0 factor=2:command-line schedule=paper"},
		{"factor beside -lr", "", "", "factor=2 lr=0.1", Facts{}, "error either -lr or the setting factor"},
		{"-lr over a factor", "", "factor=2", "lr=0.003", Facts{}, "lr=0.003:command-line schedule=constant:default"},
		{"the paper's schedule over a peak", "", "lr=0.003", "schedule=paper", Facts{}, "lr=0 schedule=paper:command-line"},
		{"-lr over the paper's schedule", "", "schedule=paper lr=0", "lr=0.003", Facts{}, "lr=0.003:command-line schedule=inverse-sqrt"},

		// The optimizer.
		{"adamw has a weight decay", "", "", "optimizer=adamw", Facts{}, "weight-decay=0.01"},
		{"another optimizer has none", "", "optimizer=adamw weight-decay=0.1", "optimizer=adam", Facts{}, "weight-decay=0"},
		{"sgd keeps it", "", "optimizer=sgd momentum=0.9", "optimizer=sgd", Facts{}, "momentum=0.9:file"},
		{"muon has a momentum and a scale", "", "optimizer=sgd momentum=0.9", "optimizer=muon", Facts{}, "momentum=0.95 muon-scale=0.2:default"},
		{"another optimizer has no scale", "", "optimizer=muon muon-scale=0.2", "optimizer=adam", Facts{}, "momentum=0 muon-scale=0"},
		{"sgd without a preset's momentum", "", "", "optimizer=sgd", Facts{}, "momentum=0 muon-scale=0"},
		{"Adam's settings typed with sgd", "", "", "optimizer=sgd beta1=0.8", Facts{}, "error beta1 needs -optimizer adam, adamw or muon, found sgd"},
		{"Adam's settings of a file with sgd", "", "optimizer=sgd beta1=0.8", "", Facts{}, "optimizer=sgd:file"},

		// The mean of the last checkpoints.
		{"no more than are kept", "", "", "preset=demo keep=2", Facts{}, "average=2"},
		{"keep beside average", "", "", "keep=2 average=4", Facts{}, "error average is 4, expected at most 2, the checkpoints to keep"},

		// Invalid combinations.
		{"all that is invalid is named", "", "", "d-ff=0 keep=0", Facts{}, "error d-ff is 0, expected 1 to 16777216\nkeep is 0,"},
		{"by its flag", "", "", "smoothing-over=all label-smoothing=0", Facts{}, `error smoothing-over is "all", expected others`},
		{"R-Drop without dropout", "", "", "r-drop=5 dropout=0", Facts{}, "error -r-drop 5 needs dropout"},
		{"a language in its canonical form", "", "", "src-lang=EN tgt-lang=zh-hant", Facts{}, "src-lang=en tgt-lang=zh-Hant"},
		{"no language", "", "", "tgt-lang=e", Facts{}, `error -tgt-lang is "e"`},

		// Fine-tuning.
		{"its configuration, and the options of its size", "", "", "init=old", init("small", nil), "preset=small d-model=256 batch-tokens=2000:default"},
		{"a size of no preset", "", "", "init=old", init("small", func(t *Trained) { t.Config.DFF = 999 }), "preset=tiny d-ff=999 batch-tokens=1500:default"},
		{"what no weight depends on may change", "", "", "init=old dropout=0.2", init("small", nil), "dropout=0.2:command-line d-model=256"},
		{"its dropout and smoothing", "", "", "init=old", init("small", func(t *Trained) { t.Config.Dropout, t.Config.LabelSmoothing = 0.25, 0 }), "dropout=0.25:chosen label-smoothing=0:chosen"},
		{"those of an imported model", "", "", "init=old", init("small", func(t *Trained) { t.Imported, t.Config.Dropout, t.Config.LabelSmoothing = "Marian", 0.25, 0 }), "dropout=0.25:chosen label-smoothing=0.1:chosen"},
		{"no smoothing of a model that spread it over all", "", "", "init=old label-smoothing=0", init("small", func(t *Trained) { t.Config.Smoothing = model.SmoothAll }), "smoothing-over=others:default"},
		{"its rate falls with the width", "", "", "init=old", init("tiny", nil), "optimizer=muon:default momentum=0.95:default lr=0.0005:chosen schedule=constant:default warmup=100:default cooldown=0.4:default"},
		{"of the paper's base model", "", "", "init=old", init("base", nil), "optimizer=adam:default lr=0.000125:chosen schedule=constant:chosen warmup=100:chosen cooldown=0.4:chosen batch-tokens=4096:default"},
		{"an imported model has Adam", "", "", "init=old", init("tiny", func(t *Trained) { t.Imported = "Marian" }), "optimizer=adam:chosen momentum=0:default muon-scale=0:default"},
		{"in a few steps", "", "", "init=old steps=60", init("tiny", nil), "warmup=6:chosen"},
		{"another rate", "", "", "init=old lr=0.002 optimizer=muon warmup=9", init("tiny", nil), "optimizer=muon:command-line momentum=0.95:default muon-scale=0.2:default lr=0.002:command-line schedule=constant:default warmup=9:command-line"},
		{"a factor", "", "", "init=old factor=2", init("tiny", nil), "optimizer=muon:default schedule=paper:default lr=0:default"},
		{"the rate does not depend on a named preset", "", "", "init=old preset=small", init("small", func(t *Trained) { t.Config.Dropout = 0.25 }), "dropout=0.1:default optimizer=muon:default lr=0.00025:chosen schedule=constant:default warmup=100:default batch-tokens=2000:default"},
		{"nothing else", "", "norm=post", "init=old", init("small", nil), "error norm post conflicts with the model of -init: norm pre in old.safetensors"},
		{"a preset must be the model's", "", "", "init=old preset=tiny", init("small", nil), "error conflicts with the model of -init"},
		{"given settings are reported first", "", "", "init=old preset=small norm-eps=1e-3", init("tiny", nil), "error norm-eps 0.001 conflicts"},
		{"tokenizers of each side untie its embeddings", "", "", "init=old vocab=t.bpe", Facts{Init: trained("tiny", nil), Tokenizers: separate}, "joint=false tie=decoder"},
		{"tokenizers of each side with the ids of one matrix", "", "", "init=old", Facts{Init: trained("tiny", nil), Tokenizers: separate}, "joint=false tie=all:default"},
		{"and without some of their pieces", "", "", "init=old trim=true", Facts{Init: trained("tiny", nil), Tokenizers: separate}, "joint=false tie=decoder"},
		{"its output bias", "", "", "init=old", init("tiny", func(t *Trained) { t.Config.Tie = model.TieNone }), "tie=none output-bias=false"},
		{"its languages", "", "", "init=old", init("tiny", func(t *Trained) { t.SrcLang, t.TgtLang = "en", "de" }), "src-lang=en tgt-lang=de"},
		{"another language", "", "", "init=old tgt-lang=fr", init("tiny", func(t *Trained) { t.SrcLang, t.TgtLang = "en", "de" }), "src-lang=en tgt-lang=fr:command-line"},
		{"its length penalty", "", "", "init=old", init("tiny", func(t *Trained) { t.Decoding = decode.PaperSettings() }), "length-penalty=wu alpha=0.6"},
		{"half of another", "", "", "init=old alpha=2", init("tiny", func(t *Trained) { t.Decoding = decode.PaperSettings() }), "length-penalty=wu alpha=2:command-line"},
		{"learned positions bound the length", "", "", "init=old", init("E", func(t *Trained) { t.Config.MaxLen = 41 }), "max-len=40"},
		{"a longer one", "", "", "init=old max-len=41", init("E", func(t *Trained) { t.Config.MaxLen = 41 }), "error -max-len is 41, expected at most 40"},

		// A resumed run.
		{"its settings", "", "", "resume=true", resume("small", nil), "d-model=256 batch-tokens=2000 steps=0 joint=true"},
		{"what no weight depends on may change", "", "", "resume=true steps=7 keep=9 valid-every=5", resume("small", nil), "steps=7:command-line keep=9:command-line average=0"},
		{"nothing else", "", "", "resume=true dropout=0.2", resume("small", nil), "error -dropout 0.2 conflicts with the run to resume: -dropout 0.1 in old.safetensors"},
		{"given settings are reported first", "", "", "resume=true preset=base seed=2", resume("small", nil), "error -seed 2 conflicts"},
		{"a new file of settings", "", "dropout=0.2", "resume=true", resume("small", nil), "error -dropout 0.2 conflicts"},
		{"rules leave alone what is not given", "", "", "resume=true optimizer=adamw", resume("small", func(t *Trained) {
			t.Options.Optimizer, t.Options.WeightDecay, t.Options.Momentum, t.Options.MuonScale = "adamw", 0.1, 0, 0
		}), "weight-decay=0.1"},
		{"a smaller vocabulary", "", "", "resume=true vocab-size=300", resume("small", nil), "error -vocab-size 300 conflicts with the run to resume: -vocab-size 8000"},
		{"the vocabulary that it was to have", "", "", "resume=true vocab-size=9000", resume("small", nil), "vocab-size=9000:command-line"},
		{"separate vocabularies", "", "", "resume=true", resume("small", func(t *Trained) { t.Joint, t.Config.Tie = false, model.TieDecoder }), "joint=false tie=decoder"},
		{"-joint of a file below the tokenizers", "", "joint=true", "resume=true vocab=t.bpe", resume("small", func(t *Trained) { t.Joint, t.Config.Tie = false, model.TieDecoder }), "joint=false"},
		{"its preset with separate vocabularies", "", "", "resume=true preset=small joint=false", resume("small", func(t *Trained) { t.Joint, t.Config.Tie = false, model.TieDecoder }), "tie=decoder"},
		{"the model that it began with", "", "", "resume=true", resume("small", func(t *Trained) { t.Options.Init = "first" }), "init=first"},
		{"another one", "", "", "resume=true init=second", resume("small", func(t *Trained) { t.Options.Init = "first" }), "error -init second conflicts with the run to resume: -init first"},
		{"its languages", "", "", "resume=true", resume("small", func(t *Trained) { t.SrcLang = "en" }), "src-lang=en tgt-lang="},
		{"other languages", "", "", "resume=true src-lang=de", resume("small", func(t *Trained) { t.SrcLang = "en" }), "src-lang=de:command-line"},
		{"its length penalty", "", "", "resume=true", resume("small", func(t *Trained) { t.Options.Search.Penalty, t.Options.Search.Alpha = "wu", 0.6 }), "length-penalty=wu alpha=0.6"},
		{"another length penalty", "", "", "resume=true alpha=2", resume("small", nil), "length-penalty=power alpha=2:command-line"},
		{"BLEU's tokenizer that was chosen", "", "", "resume=true tokenize=auto", resume("small", func(t *Trained) { t.Options.Tokenize = score.TokZh }), "tokenize=zh"},
		{"one that was not chosen yet", "", "", "resume=true tokenize=zh", resume("small", func(t *Trained) { t.Options.Tokenize = score.Auto }), "tokenize=zh:command-line"},
		{"another one", "", "", "resume=true tokenize=zh", resume("small", func(t *Trained) { t.Options.Tokenize = score.TokChar }), "error -tokenize zh conflicts with the run to resume: -tokenize char"},
		{"what becomes invalid", "", "", "resume=true steps=-1", resume("small", nil), "error -steps is -1"},

		// Invalid settings that others are chosen from.
		{"a negative time", "", "", "time=-5m", Facts{}, "error -time is -5m0s, expected 0 or more"},
	} {
		r, err := given(c.recipe, c.file, c.typed)
		if err == nil {
			err = r.Resolve(c.facts)
		}
		if want, ok := strings.CutPrefix(c.want, "error "); ok {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: error %v, want %q", c.rule, err, want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.rule, err)
			continue
		}
		check(t, c.rule, r, c.want)
	}
}

// Given settings of every kind stay when others are set from a lower origin.
func TestHold(t *testing.T) {
	const typed = "init=old steps=7 time=5m0s seed=9 dropout=0.25 norm-eps=0.001 lr=0.5 tie=none bias=ff final-norm=false scale-embeddings=false tokenize=zh"
	r, err := given("", "", typed)
	if err != nil {
		t.Fatal(err)
	}
	restore := r.hold()
	r.Config, r.Options = model.Config{Init: model.PyTorchInit}, train.Options{Init: "new", Keep: 9}
	restore()
	check(t, "after others", r, typed+" keep=9")
	if r.Config.Init != model.PyTorchInit {
		t.Errorf("a file of weights replaces the way to draw them, now %v", r.Config.Init)
	}
}

// The lengths that no flag shows are those of the run.
func TestResolveLengths(t *testing.T) {
	for _, c := range []struct {
		typed string
		facts Facts
		want  int // most tokens of the model
	}{
		{"max-len=100", Facts{}, 1024},
		{"max-len=2000 batch-tokens=3000", Facts{}, 2001},
		{"max-len=100 positions=learned", Facts{}, 101},
		{"max-len=100 init=old", Facts{Init: trained("tiny", func(t *Trained) { t.Config.MaxLen = 3000 })}, 3000},
		{"max-len=20 batch-tokens=300 init=old", Facts{Init: trained("E", func(t *Trained) { t.Config.MaxLen = 41 })}, 41},
		{"resume=true", Facts{Resume: trained("tiny", func(t *Trained) { t.Config.MaxLen = 77 })}, 77},
	} {
		if r := resolved(t, c.typed, c.facts); r.Config.MaxLen != c.want {
			t.Errorf("%s: sentences of at most %d tokens, want %d", c.typed, r.Config.MaxLen, c.want)
		}
	}
}

func TestCheckpointDir(t *testing.T) {
	for file, want := range map[string]string{"en-de.safetensors": "en-de.ckpt", "models/en-de": "models/en-de.ckpt", "": ".ckpt"} {
		if found := (&Run{Out: file}).CheckpointDir(); found != want {
			t.Errorf("%q: %q, want %q", file, found, want)
		}
	}
}

// Every recipe can be resolved, and as a preset gives its settings.
func TestLoad(t *testing.T) {
	for _, name := range recipes.Names() {
		r, err := given("", "", "seed=7 preset="+name)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(r.Load(), r.Resolve(Facts{})); err != nil {
			t.Fatal(err)
		}
		if r.Preset != name || r.Origin("dropout") != Recipe {
			t.Errorf("%s: preset %s, the dropout's origin %v", name, r.Preset, r.Origin("dropout"))
		}
		check(t, name, r, "seed=7:command-line")
	}
	r, err := given("", "", "config="+t.TempDir()+"/none")
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Load(); err == nil || !strings.Contains(err.Error(), "none") {
		t.Errorf("error %v, want it to name the file", err)
	}
}

// The flag that an invalid field is called by is one.
func TestErrorNamesFlags(t *testing.T) {
	f := cli.NewFlags()
	NewRun(f)
	var invalid []error
	c, _ := model.Preset("tiny")
	c.SrcVocab, c.TgtVocab = 10, 10
	for _, change := range []func(*model.Config){
		func(c *model.Config) { c.DModel = 0 }, func(c *model.Config) { c.Biases = 9 }, func(c *model.Config) { c.Init = 9 },
		func(c *model.Config) { c.Smoothing, c.LabelSmoothing = model.SmoothAll, 0 }, func(c *model.Config) { c.Tie = "x is y" },
		func(c *model.Config) { c.NormKind = 9 }, func(c *model.Config) { c.Activation = 9 }, func(c *model.Config) { c.DK = -1 },
		func(c *model.Config) { c.FinalNorm = 9 }, func(c *model.Config) { c.FFDropout = 2 }, func(c *model.Config) { c.FirstPosition = 3 },
	} {
		changed := c
		change(&changed)
		invalid = append(invalid, changed.Validate())
	}
	o := train.DefaultOptions()
	for _, change := range []func(*train.Options){
		func(o *train.Options) { o.Optimizer = "a is b" }, func(o *train.Options) { o.ValidEvery = -1 }, func(o *train.Options) { o.RDrop = -1 },
		func(o *train.Options) { o.ShuffleWindow = -1 }, func(o *train.Options) { o.Schedule = "x" },
	} {
		changed := o
		change(&changed)
		invalid = append(invalid, changed.Validate())
	}
	for _, err := range invalid {
		if err == nil {
			t.Error("a field that should be invalid is not")
			continue
		}
		said := Error(err).Error()
		label, _, _ := strings.Cut(said, " ")
		if g := f.Lookup(strings.TrimPrefix(label, "-")); g == nil || g.Label() != label {
			t.Errorf("%q is said as %q, which names no flag", err, said)
		}
	}
	if err := Error(nil, nil); err != nil {
		t.Errorf("of no errors: %v", err)
	}
}
