package e2e

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSeparateVocabularies(t *testing.T) {
	args, m := trainArgs(t, "-joint=false", "-steps", "3")
	mustRun(t, "", args...)
	mustHave(t, mustRun(t, "", "info", "-model", m).stdout, "tied: decoder")
	if o := mustRun(t, "the dog\n", "translate", "-model", m); strings.Count(o.stdout, "\n") != 1 {
		t.Errorf("translated to %q", o.stdout)
	}
	src := mustRun(t, "", "vocab", "-vocab", m, "-show").stdout
	tgt := mustRun(t, "", "vocab", "-vocab", m, "-side", "target", "-show").stdout
	if src == tgt {
		t.Error("the sides have one tokenizer")
	}
}

func TestValidation(t *testing.T) {
	src, tgt := toyCorpus(t)
	args, m := trainArgs(t, "-steps", "6", "-valid-every", "3", "-valid-src", toy.testSrc, "-valid-tgt", toy.testTgt, "-save-every", "3", "-set", "average=2")
	o := mustRun(t, "", args...)
	mustHave(t, o.stderr, "49 from "+toy.testSrc, "step 3: validation perplexity", "BLEU", "best so far", "average of the last checkpoints: validation")
	mustHave(t, mustRun(t, "", "info", "-model", m).stdout, "validation perplexity")

	args, _ = trainArgs(t, "-steps", "2", "-valid-every", "2")
	if o := mustRun(t, "", args...); !strings.Contains(o.stderr, "74 held out") || !strings.Contains(o.stderr, "training pairs:   1,413") {
		t.Errorf("held out:\n%s", o.stderr)
	}
	mustFail(t, runTFM(t, "", append(args, "-resume", "-steps", "3", "-valid-every", "0")...), 1, "other training pairs", "-resume needs the training and validation files of the run")
	files := []string{"-valid-src", toy.testSrc, "-valid-tgt", toy.testTgt}
	args, _ = trainArgs(t, "-steps", "2", "-valid-every", "1")
	mustRun(t, "", append(args, files...)...)
	mustFail(t, runTFM(t, "", append(args, "-resume", "-steps", "3", "-valid-src", src, "-valid-tgt", tgt)...), 1,
		"other validation pairs", "-resume needs the training and validation files of the run")
	mustRun(t, "", append(append(args, files...), "-resume", "-steps", "3")...)
	tsv := write(t, "pairs.tsv", "a dog\tun chien\na cat\tun chat\n")
	model := filepath.Join(t.TempDir(), "m.safetensors")
	o = mustRun(t, "", append([]string{"train", "-tsv", tsv, "-o", model, "-steps", "2"}, append(toySmall, "-valid-every", "1")...)...)
	mustHave(t, o.stderr, "none, because the corpus is too small")
	mustFail(t, runTFM(t, "", "train", "-src", src, "-tgt", tgt, "-valid-src", tsv, "-o", model), 2, "-valid-src and -valid-tgt belong together: -valid-tgt is missing")
}

func TestResume(t *testing.T) {
	straight, m1 := trainArgs(t, "-steps", "12")
	mustRun(t, "", straight...)
	args, m2 := trainArgs(t, "-threads", "1")
	steps := func(n string, more ...string) []string {
		return append(append(args[:len(args):len(args)], "-steps", n), more...)
	}
	mustRun(t, "", steps("5")...)
	mustFail(t, runTFM(t, "", steps("12")...), 1, m2+" already exists", "-resume", "-force")
	o := mustRun(t, "", steps("12", "-resume", "-threads", "2")...)
	if !strings.Contains(o.stderr, "resumed from:") || !strings.Contains(o.stderr, "step 5") {
		t.Errorf("standard error has no message:\n%s", o.stderr)
	}
	sameFiles(t, m1, m2, "a run that was resumed, with other threads, gives another model")

	// Settings need not be repeated.
	src, tgt := toyCorpus(t)
	short := []string{"train", "-src", src, "-tgt", tgt, "-o", m2, "-resume", "-steps", "14"}
	mustRun(t, "", short...)
	mustRun(t, "", append(straight, "-resume", "-steps", "14")...)
	sameFiles(t, m1, m2, "a run that was resumed without its flags gives another model")

	ckpt := strings.TrimSuffix(m2, ".safetensors") + ".ckpt"
	mustFail(t, runTFM(t, "", append(short, "-batch-tokens", "300")...), 2, "-batch-tokens 300", "-batch-tokens 200", ckpt)
	mustFail(t, runTFM(t, "", append(short, "-src", tgt)...), 1, "other training pairs", ckpt)

	// Nothing is replaced before the input is known to be good.
	mustFail(t, runTFM(t, "", steps("12", "-force", "-tgt", write(t, "short", "un chien\n"))...), 1, "unequal line counts")
	long := write(t, "long", strings.Repeat("a dog ", 100)+"\n")
	mustFail(t, runTFM(t, "", steps("12", "-force", "-src", long, "-tgt", long)...), 1, "no usable pairs", "1 have a side of more than 40 tokens")
	mustRun(t, "", steps("14", "-resume")...)
}

// A run prints the settings of its flags, and resumes to the same weights. Package train resumes
// every optimizer and schedule.
func TestOptimizersAndSchedules(t *testing.T) {
	flags := []string{"-optimizer", "adamw", "-set", "schedule=constant", "-set", "accumulate=2"}
	straight, m1 := trainArgs(t, append(flags, "-steps", "7")...)
	o := mustRun(t, "", straight...)
	mustHave(t, o.stderr, "optimizer:        adamw, beta1 0.9, beta2 0.98, eps 1e-09, weight decay 0.01; gradient norm limited to 1\n", "a step:           2 batches\n", "learning rate:    constant: warmup to 0.005 at step 50, then constant\n")
	parts, m2 := trainArgs(t, flags...)
	mustRun(t, "", append(parts, "-steps", "3")...)
	mustRun(t, "", append(parts, "-steps", "7", "-resume")...)
	sameFiles(t, m1, m2, "a run that was resumed gives another model")
	mustFail(t, runTFM(t, "", append(parts, "-optimizer", "sgd", "-resume")...), 2, "-optimizer sgd", "-optimizer adamw", strings.TrimSuffix(m2, ".safetensors"))
}

func TestTimeThatIsTooShortForAStep(t *testing.T) {
	args, m := trainArgs(t, "-time", "1ns")
	mustFail(t, runTFM(t, "", args...), 1, "-time 1ns is too short for one step")
	if _, err := os.Stat(m); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a model that has learned nothing was written: %v", err)
	}
}

// A reading of the paper goes from the flags into the checkpoint, from there into a resumed run,
// and into the model.
func TestTrainAnotherReading(t *testing.T) {
	args, m := trainArgs(t, "-save-every", "2", "-set", "norm=pre", "-set", "norm-kind=rms", "-set", "activation=silu", "-set", "positions=learned",
		"-set", "bias=false", "-set", "tie=none", "-set", "attention-dropout=0.1", "-set", "ff-dropout=0.1", "-set", "init-scheme=pytorch", "-set", "d-k=8", "-set", "smoothing-over=all",
		"-tokenize", "char")
	mustRun(t, "", append(args, "-steps", "3")...)
	resumed := append(args, "-steps", "5", "-resume")
	mustFail(t, runTFM(t, "", append(resumed, "-set", "norm=post")...), 2, "norm post conflicts with the run to resume: norm pre")
	mustRun(t, "", resumed...)
	o := mustRun(t, "", "info", "-model", m)
	mustHave(t, o.stdout, "2 of d_k = 8 and d_v = 16, without biases", "silu, without biases", "pre-norm", "RMSNorm", "one after each stack",
		"learned, 41 on each side", "tied: none, with an output bias", "0.1 on the weights of attention; 0.1 inside", "over all entries", "pytorch", "5 steps")
}

// A stream of one window trains to the same weights as the corpus in memory. A resumed run cannot
// change -shuffle-window.
func TestTrainStreamed(t *testing.T) {
	memory, m1 := trainArgs(t, "-steps", "12")
	mustRun(t, "", memory...)
	args, m2 := trainArgs(t, "-set", "shuffle-window=500")
	o := mustRun(t, "", append(args, "-steps", "12")...)
	mustHave(t, o.stderr, "1,487 from", "495 in memory at a time")
	if read(t, m1) == read(t, m2) {
		t.Error("windows change nothing")
	}
	short := args[:7]
	mustFail(t, runTFM(t, "", append(args, "-resume", "-set", "shuffle-window=600")...), 2, "shuffle-window 600", "shuffle-window 500")
	mustRun(t, "", append(short, "-resume", "-steps", "14")...)
	straight, m3 := trainArgs(t, "-set", "shuffle-window=500", "-steps", "14")
	mustRun(t, "", straight...)
	sameFiles(t, m2, m3, "a streamed run that was resumed gives another model")

	// Held out pairs are not in the windows.
	valid, _ := trainArgs(t, "-set", "shuffle-window=500", "-steps", "2", "-valid-every", "2")
	if o := mustRun(t, "", valid...); !strings.Contains(o.stderr, "74 held out") || !strings.Contains(o.stderr, "1,413 from") || !strings.Contains(o.stderr, "BLEU") {
		t.Errorf("held out:\n%s", o.stderr)
	}
}
