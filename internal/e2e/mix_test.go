package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// mixOf writes the settings of two sources, the toy corpus and a few of its pairs, in two stages
// and with modifiers, and returns the file.
func mixOf(t *testing.T) string {
	t.Helper()
	src, tgt := toyCorpus(t)
	dir := t.TempDir()
	sources, targets := strings.Split(read(t, src), "\n"), strings.Split(read(t, tgt), "\n")
	var few strings.Builder
	for i := range 60 {
		few.WriteString(sources[i] + "\t" + targets[i] + "\t0-0\n")
	}
	mix := filepath.Join(dir, "mix.yml")
	for path, content := range map[string]string{
		filepath.Join(dir, "few.tsv"): few.String(),
		mix: "datasets:\n  all:\n    src: " + src + "\n    tgt: " + tgt + "\n  few: few.tsv\nstages: [one, two]\none:\n- all 0.6\n- few 0.4\n- until few 4\ntwo:\n- all 0.1\n- few 0.9\n- until few inf\n" +
			"modifiers:\n- UpperCase: 0.1\n- Typos: 0.1\n- Merge: 0.1\n- Copy: 0.1\n",
	} {
		noError(t, os.WriteFile(path, []byte(content), 0o666))
	}
	return mix
}

// A training with several sources makes the same model on any number of threads, after it was
// stopped and resumed, and in rounds with one worker; it is not resumed with other shares.
func TestMix(t *testing.T) {
	mix := mixOf(t)
	dir, config := filepath.Dir(mix), read(t, mix)
	write := func(path, content string) {
		t.Helper()
		noError(t, os.WriteFile(path, []byte(content), 0o666))
	}
	args := func(command string, more ...string) []string {
		return append(append([]string{command, "-mix", mix, "-src-lang", "en", "-tgt-lang", "fr", "-set", "cooldown=0", "-set", "average=1"}, toySmall...), more...)
	}
	model := func(name string) string { return filepath.Join(dir, name+".safetensors") }
	o := mustRun(t, "", args("train", "-o", model("want"), "-steps", "40", "-threads", "1", "-set", "shuffle-window=50")...)
	mustHave(t, o.stderr, "training pairs:   1,547 from "+mix, "\n                  few: 60 pairs\n", "\nstage one:        60% all + 40% few, until 4 passes of few\n", "\nstage two:        10% all + 90% few\n", "\nfew: ", " pairs read, ")
	for i, steps := range []string{"3", "29", "40"} {
		more := []string{"-o", model("got"), "-steps", steps, "-threads", []string{"3", "1", "2"}[i], "-set", "shuffle-window=50"}
		if i > 0 {
			more = append(more, "-resume")
		}
		mustRun(t, "", args("train", more...)...)
	}
	sameFiles(t, model("got"), model("want"), "a training that was resumed makes another model")
	plan := filepath.Join(dir, "plan")
	small := args("plan", "-set", "shuffle-window=50", "-workers", "1", "-local-steps", "20", "-rounds", "2", plan)
	for i, a := range small {
		if a == "-save-every" { // a plan saves every round
			small = append(small[:i:i], small[i+2:]...)
		}
	}
	mustRun(t, "", small...)
	mustRun(t, "", "train", "-plan", plan)
	if a, b := loadModel(t, filepath.Join(plan, "model.safetensors")), loadModel(t, model("want")); !slices.Equal(a.Model.Params.W, b.Model.Params.W) {
		t.Error("rounds of one worker make another model")
	}

	mustFail(t, runTFM(t, "", args("train", "-o", model("new"), "-tsv", "x")...), 2, "either -mix, or -src and -tgt, or -tsv")
	write(mix, strings.Replace(config, "few 0.9", "few 0.8", 1))
	mustFail(t, runTFM(t, "", args("train", "-o", model("got"), "-steps", "50", "-resume", "-set", "shuffle-window=50")...), 1, "-resume needs the training and validation files of the run, with the contents that they had")
}
