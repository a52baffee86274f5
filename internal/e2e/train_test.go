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
	if o := mustRun(t, "", "info", "-model", m); !strings.Contains(o.stdout, "tied: decoder") {
		t.Errorf("info:\n%s", o.stdout)
	}
	if o := mustRun(t, "the dog\n", "translate", "-model", m); strings.Count(o.stdout, "\n") != 1 {
		t.Errorf("translated to %q", o.stdout)
	}
	src := mustRun(t, "", "vocab", "-vocab", m, "-show").stdout
	tgt := mustRun(t, "", "vocab", "-vocab", m, "-side", "target", "-show").stdout
	if src == tgt {
		t.Error("the sides have one tokenizer")
	}
	mustRun(t, "", append(args, "-resume", "-steps", "4")...)
	mustFail(t, runTFM(t, "", append(args, "-resume", "-set", "tie=none")...), 2, "tie none", "tie decoder")
	other, _ := trainArgs(t, "-vocab", m, "-steps", "2")
	mustRun(t, "", other...)
	mustFail(t, runTFM(t, "", append(other, "-force", "-joint")...), 2, "-joint=true", m)
	args, _ = trainArgs(t, "-joint=false", "-set", "tie=all")
	mustFail(t, runTFM(t, "", args...), 2, "tie all", "joint")
}

func TestValidation(t *testing.T) {
	src, tgt := toyCorpus(t)
	args, m := trainArgs(t, "-steps", "6", "-valid-every", "3", "-valid-src", toy.testSrc, "-valid-tgt", toy.testTgt, "-save-every", "3", "-set", "average=2")
	o := mustRun(t, "", args...)
	for _, want := range []string{"49 from " + toy.testSrc, "step 3: validation perplexity", "BLEU", "best so far", "average of the last checkpoints: validation"} {
		if !strings.Contains(o.stderr, want) {
			t.Errorf("standard error has no %q\n%s", want, o.stderr)
		}
	}
	if o := mustRun(t, "", "info", "-model", m); !strings.Contains(o.stdout, "validation perplexity") {
		t.Errorf("info:\n%s", o.stdout)
	}

	long := write(t, "long", "the red dog\n\n"+strings.Repeat("a dog ", 100)+"\n")
	three := write(t, "three", "un\ndeux\ntrois\n")
	args, _ = trainArgs(t, "-steps", "1", "-valid-every", "1", "-valid-src", long, "-valid-tgt", three)
	if o := mustRun(t, "", args...); !strings.Contains(o.stderr, " 2 of them count only for BLEU") {
		t.Errorf("pairs that cannot be scored:\n%s", o.stderr)
	}

	args, _ = trainArgs(t, "-steps", "2", "-valid-every", "2")
	if o := mustRun(t, "", args...); !strings.Contains(o.stderr, "74 held out") || !strings.Contains(o.stderr, "training pairs:   1,413") {
		t.Errorf("held out:\n%s", o.stderr)
	}
	mustFail(t, runTFM(t, "", append(args, "-resume", "-steps", "3", "-valid-every", "0")...), 1, "other training pairs", "found -src "+src+" -tgt "+tgt+" -valid-every 0, expected -src "+src+" -tgt "+tgt+" without -valid-src (pairs are held out)")
	files := []string{"-valid-src", toy.testSrc, "-valid-tgt", toy.testTgt}
	args, m = trainArgs(t, "-steps", "2", "-valid-every", "1")
	mustRun(t, "", append(args, files...)...)
	mustFail(t, runTFM(t, "", append(args, "-resume", "-steps", "3")...), 1, "other training pairs", "-valid-src "+toy.testSrc, "without -valid-src")
	mustFail(t, runTFM(t, "", append(args, "-resume", "-steps", "3", "-valid-src", src, "-valid-tgt", tgt)...), 1,
		"other validation pairs: found ", "-valid-src "+src, ", expected ", "-valid-src "+toy.testSrc)
	mustRun(t, "", append(append(args, files...), "-resume", "-steps", "3")...)
	mustFail(t, runTFM(t, "", append(args, "-resume", "-o", m+"x")...), 1, "found no checkpoint in "+m+"x.ckpt", "check -o", "without -resume")
	tsv := write(t, "pairs.tsv", "a dog\tun chien\na cat\tun chat\n")
	model := filepath.Join(t.TempDir(), "m.safetensors")
	o = mustRun(t, "", append([]string{"train", "-tsv", tsv, "-o", model, "-steps", "2"}, append(toySmall, "-valid-every", "1")...)...)
	if !strings.Contains(o.stderr, "none, because the corpus is too small") {
		t.Errorf("a corpus of two pairs:\n%s", o.stderr)
	}
	mustFail(t, runTFM(t, "", "train", "-src", src, "-tgt", tgt, "-tsv", tsv, "-o", model), 2, "either -tsv or -src and -tgt")
	mustFail(t, runTFM(t, "", "train", "-src", src, "-tgt", tgt, "-valid-src", tsv, "-o", model), 2, "-valid-src and -valid-tgt belong together: -valid-tgt is missing")
}

func TestLeftOutPairsAreCounted(t *testing.T) {
	src := write(t, "src", "a dog\n"+strings.Repeat("a dog ", 100)+"\n\na cat\n")
	tgt := write(t, "tgt", "un chien\nun chien\nun chat\nun chat\n")
	args := append([]string{"train", "-src", src, "-tgt", tgt, "-o", filepath.Join(t.TempDir(), "m.safetensors"), "-steps", "1"}, toySmall...)
	o := mustRun(t, "", args...)
	for _, want := range []string{"warning: -max-len 40 skips 1 training pair (25%)", "skipped:          1 pair with an empty side"} {
		if !strings.Contains(o.stderr, want) {
			t.Errorf("standard error has no %q\n%s", want, o.stderr)
		}
	}
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
	if read(t, m1) != read(t, m2) {
		t.Error("a run that was resumed, with other threads, gives another model")
	}

	// Settings need not be repeated.
	src, tgt := toyCorpus(t)
	short := []string{"train", "-src", src, "-tgt", tgt, "-o", m2, "-resume", "-steps", "14"}
	mustRun(t, "", short...)
	mustRun(t, "", append(straight, "-resume", "-steps", "14")...)
	if read(t, m1) != read(t, m2) {
		t.Error("a run that was resumed without its flags gives another model")
	}

	ckpt := strings.TrimSuffix(m2, ".safetensors") + ".ckpt"
	for _, c := range []struct {
		flags []string
		wants []string
	}{
		{[]string{"-batch-tokens", "300"}, []string{"-batch-tokens 300", "-batch-tokens 200", ckpt}},
		{[]string{"-set", "d-model=64"}, []string{"d-model 64", "d-model 32", ckpt}},
		{[]string{"-preset", "tiny"}, []string{"conflicts", ckpt}},
		{[]string{"-seed", "2"}, []string{"-seed 2", "-seed 1"}},
		{[]string{"-joint=false"}, []string{"-joint false", "-joint true"}},
		{[]string{"-vocab-size", "300"}, []string{"-vocab-size 300", "320"}},
	} {
		mustFail(t, runTFM(t, "", append(short, c.flags...)...), 2, c.wants...)
	}
	mustFail(t, runTFM(t, "", append(short, "-src", tgt)...), 1, "other training pairs", ckpt)

	// Nothing is replaced before the input is known to be good.
	mustFail(t, runTFM(t, "", steps("12", "-force", "-tgt", write(t, "short", "un chien\n"))...), 1, "unequal line counts")
	long := write(t, "long", strings.Repeat("a dog ", 100)+"\n")
	mustFail(t, runTFM(t, "", steps("12", "-force", "-src", long, "-tgt", long)...), 1, "no usable pairs", "1 have a side of more than 40 tokens")
	mustRun(t, "", steps("14", "-resume")...)

	mustRun(t, "", steps("12", "-force")...)
	mustRun(t, "", steps("14", "-resume")...)
	if read(t, m1) != read(t, m2) {
		t.Error("a run that replaced another gives another model")
	}
}

// A run prints the settings of its flags, and resumes to the same weights.
func TestOptimizersAndSchedules(t *testing.T) {
	for _, c := range []struct {
		flags []string
		wants []string
	}{
		{nil, []string{"learning rate:    inverse-sqrt: warmup to 0.005 at step 50, then"}},
		{[]string{"-optimizer", "adamw", "-set", "schedule=constant", "-set", "accumulate=2"},
			[]string{"optimizer:        adamw, beta1 0.9, beta2 0.98, eps 1e-09, weight decay 0.01; gradient norm limited to 1\n", "a step:           2 batches\n", "learning rate:    constant: warmup to 0.005 at step 50, then constant\n"}},
		{[]string{"-optimizer", "sgd", "-set", "momentum=0.99", "-set", "schedule=constant", "-set", "warmup=0", "-lr", "1e-3", "-set", "clip-norm=0"},
			[]string{"optimizer:        sgd, momentum 0.99\n", "learning rate:    constant: 0.001 from step 1, then constant\n"}},
		{[]string{"-r-drop", "2", "-dropout", "0.1"}, []string{"R-Drop:           alpha 2\n"}},
	} {
		straight, m1 := trainArgs(t, append(c.flags, "-steps", "7")...)
		o := mustRun(t, "", straight...)
		for _, want := range c.wants {
			if !strings.Contains(o.stderr, want) {
				t.Errorf("%v: standard error has no %q\n%s", c.flags, want, o.stderr)
			}
		}
		parts, m2 := trainArgs(t, c.flags...)
		mustRun(t, "", append(parts, "-steps", "3")...)
		mustRun(t, "", append(parts, "-steps", "7", "-resume")...)
		if read(t, m1) != read(t, m2) {
			t.Errorf("%v: a run that was resumed gives another model", c.flags)
		}
		if len(c.flags) == 0 {
			mustFail(t, runTFM(t, "", append(parts, "-optimizer", "sgd", "-resume")...), 2, "-optimizer sgd", "-optimizer adam", m2[:len(m2)-len(".safetensors")])
			mustFail(t, runTFM(t, "", append(parts, "-set", "schedule=constant", "-resume")...), 2, "schedule constant", "schedule inverse-sqrt")
			mustFail(t, runTFM(t, "", append(parts, "-r-drop", "1", "-resume")...), 2, "-r-drop 1", "-r-drop 0")
		}
	}
}

func TestSchedulePaperTakesThePresetsPeakBack(t *testing.T) {
	src, tgt := toyCorpus(t)
	m := filepath.Join(t.TempDir(), "m.safetensors")
	o := mustRun(t, "", "train", "-src", src, "-tgt", tgt, "-o", m, "-preset", "demo", "-set", "schedule=paper", "-set", "factor=2", "-vocab-size", "320", "-steps", "1", "-valid-every", "0")
	if want := "learning rate:    paper: warmup to 0.00625 at step 800"; !strings.Contains(o.stderr, want) {
		t.Errorf("standard error has no %q\n%s", want, o.stderr)
	}
}

func TestCheckpointOfAnotherConfiguration(t *testing.T) {
	args, m := trainArgs(t, "-steps", "2")
	mustRun(t, "", args...)
	other, m2 := trainArgs(t, "-steps", "3", "-set", "d-ff=32")
	mustRun(t, "", other...)
	// The checkpoint of the other run comes to lie where the first one looks for its own.
	dir := func(m string) string { return strings.TrimSuffix(m, ".safetensors") + ".ckpt" }
	if err := os.Rename(filepath.Join(dir(m2), "step-00000003.safetensors"), filepath.Join(dir(m), "step-00000003.safetensors")); err != nil {
		t.Fatal(err)
	}
	mustFail(t, runTFM(t, "", append(args, "-resume")...), 2, "d-ff 64", "d-ff 32", "step-00000003")
}

func TestDamagedCheckpoint(t *testing.T) {
	args, m := trainArgs(t, "-steps", "4", "-save-every", "2")
	mustRun(t, "", args...)
	newest := filepath.Join(strings.TrimSuffix(m, ".safetensors")+".ckpt", "step-00000004.safetensors")
	data := []byte(read(t, newest))
	data[len(data)/2] ^= 1
	if err := os.WriteFile(newest, data, 0o666); err != nil {
		t.Fatal(err)
	}
	mustFail(t, runTFM(t, "", append(args, "-resume", "-steps", "6")...), 1, newest, "checksum", "step-00000002")
	os.Remove(newest)
	mustRun(t, "", append(args, "-resume", "-steps", "6")...)
}

func TestTimeThatIsTooShortForAStep(t *testing.T) {
	args, m := trainArgs(t, "-time", "1ns")
	mustFail(t, runTFM(t, "", args...), 1, "-time 1ns is too short for one step")
	if _, err := os.Stat(m); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a model that has learned nothing was written: %v", err)
	}
}

func TestPeakAndFactorAreTwoWaysToSayOneThing(t *testing.T) {
	args, _ := trainArgs(t, "-set", "factor=2")
	mustFail(t, runTFM(t, "", args...), 2, "either -lr or the setting factor")
}

// The validation's BLEU cuts text as suits its language. The choice is shown, logged and kept by a
// resumed run.
func TestValidationTokenizer(t *testing.T) {
	chinese := write(t, "valid.zh", "那只红色的狗看见了那棵树。\n那只黑色的猫喜欢那所房子。\n")
	english := write(t, "valid.en", "the red dog sees the tree\nthe black cat likes the house\n")
	args, m := trainArgs(t, "-valid-every", "2", "-valid-src", english, "-valid-tgt", chinese)
	o := mustRun(t, "", append(args, "-steps", "2")...)
	if want := "validation BLEU:  tokenize zh, chosen from the text"; !strings.Contains(o.stderr, want) {
		t.Errorf("no %q in\n%s", want, o.stderr)
	}
	if found := readLog(t, m).Starts[0].Settings["tokenize"]; found != "zh" {
		t.Errorf("the log has -tokenize %q, want zh", found)
	}
	resumed := append(args, "-resume", "-steps", "3")
	mustFail(t, runTFM(t, "", append(resumed, "-tokenize", "13a")...), 2, "-tokenize 13a conflicts with the run to resume: -tokenize zh")
	o = mustRun(t, "", append(resumed, "-tokenize", "auto")...)
	if want := "validation BLEU:  tokenize zh\n"; !strings.Contains(o.stderr, want) {
		t.Errorf("resumed: no %q in\n%s", want, o.stderr)
	}

	// Until something has been validated any tokenizer will do.
	args, _ = trainArgs(t, "-valid-every", "0")
	mustRun(t, "", append(args, "-steps", "2")...)
	later := append(args, "-resume", "-valid-src", english, "-valid-tgt", chinese, "-valid-every", "1")
	o = mustRun(t, "", append(later, "-steps", "3", "-tokenize", "char")...)
	if want := "validation BLEU:  tokenize char\n"; !strings.Contains(o.stderr, want) {
		t.Errorf("resumed with a validation: no %q in\n%s", want, o.stderr)
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
	mustFail(t, runTFM(t, "", append(resumed, "-set", "bias=true")...), 2, "bias all conflicts with the run to resume: bias none")
	mustFail(t, runTFM(t, "", append(resumed, "-tokenize", "zh")...), 2, "-tokenize zh conflicts with the run to resume: -tokenize char")
	mustRun(t, "", resumed...)
	o := mustRun(t, "", "info", "-model", m)
	for _, want := range []string{"2 of d_k = 8 and d_v = 16, without biases", "silu, without biases", "pre-norm", "RMSNorm", "one after each stack",
		"learned, 41 on each side", "tied: none, with an output bias", "0.1 on the weights of attention; 0.1 inside", "over all entries", "pytorch", "5 steps"} {
		if !strings.Contains(o.stdout, want) {
			t.Errorf("no %q in\n%s", want, o.stdout)
		}
	}
	if o := mustRun(t, "the red dog sees the cat\nthe old tree\n", "translate", "-model", m); strings.Count(o.stdout, "\n") != 2 {
		t.Errorf("translations:\n%s", o.stdout)
	}
}

// A stream of one window trains to the same weights as the corpus in memory. A resumed run cannot
// change -shuffle-window.
func TestTrainStreamed(t *testing.T) {
	memory, m1 := trainArgs(t, "-steps", "12")
	mustRun(t, "", memory...)
	args, m2 := trainArgs(t, "-set", "shuffle-window=500", "-set", "bpe-dropout=0.1")
	o := mustRun(t, "", append(args, "-steps", "12")...)
	for _, want := range []string{"1,487 from", "495 in memory at a time", "BPE-dropout 0.1"} {
		if !strings.Contains(o.stderr, want) {
			t.Errorf("standard error has no %q\n%s", want, o.stderr)
		}
	}
	if read(t, m1) == read(t, m2) {
		t.Error("windows and BPE-dropout change nothing")
	}
	short := args[:7]
	mustFail(t, runTFM(t, "", append(args, "-resume", "-set", "shuffle-window=600")...), 2, "shuffle-window 600", "shuffle-window 500")
	mustFail(t, runTFM(t, "", append(args, "-resume", "-set", "bpe-dropout=0")...), 2, "bpe-dropout 0", "bpe-dropout 0.1")
	mustFail(t, runTFM(t, "", append(args, "-force", "-set", "bpe-dropout=1.5")...), 2, "bpe-dropout is 1.5, expected 0 to 1")
	mustRun(t, "", append(short, "-resume", "-steps", "14")...)
	straight, m3 := trainArgs(t, "-set", "shuffle-window=500", "-set", "bpe-dropout=0.1", "-steps", "14")
	mustRun(t, "", straight...)
	if read(t, m2) != read(t, m3) {
		t.Error("a streamed run that was resumed gives another model")
	}

	// Held out pairs are not in the windows.
	valid, _ := trainArgs(t, "-set", "shuffle-window=500", "-steps", "2", "-valid-every", "2")
	if o := mustRun(t, "", valid...); !strings.Contains(o.stderr, "74 held out") || !strings.Contains(o.stderr, "1,413 from") || !strings.Contains(o.stderr, "BLEU") {
		t.Errorf("held out:\n%s", o.stderr)
	}
}
