package e2e

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// planToy plans rounds on the toy corpus in a folder of the test's own.
func planToy(t *testing.T, more ...string) (dir string) {
	t.Helper()
	src, tgt := toyCorpus(t)
	dir = filepath.Join(t.TempDir(), "rounds")
	small := toySmall[:slices.Index(toySmall, "-save-every")] // a plan saves every round
	mustRun(t, "", slices.Concat([]string{"plan", "-src", src, "-tgt", tgt}, small, more, []string{dir})...)
	return dir
}

// Workers that run in any order, die, and are repeated on other threads, make the same model as
// train -plan.
func TestRoundsAreTrainPlan(t *testing.T) {
	plan := []string{"-workers", "3", "-local-steps", "6", "-rounds", "3"}
	want := planToy(t, plan...)
	mustRun(t, "", "train", "-plan", want, "-threads", "2")

	dir, random := planToy(t, plan...), rand.New(rand.NewPCG(1, 2))
	if read(t, filepath.Join(dir, "round-0001", "outer.safetensors")) != read(t, filepath.Join(want, "round-0001", "outer.safetensors")) {
		t.Fatal("two plans differ")
	}
	work := func(round, worker int) []string {
		return []string{"work", "-threads", strconv.Itoa(1 + worker), dir, strconv.Itoa(round), strconv.Itoa(worker)}
	}
	for round := 1; round <= 3; round++ {
		number := strconv.Itoa(round)
		mustFail(t, runTFM(t, "", "merge", dir, number), 75, "round "+number+" is incomplete", "worker-0.safetensors")
		mustFail(t, runTFM(t, "", work(round+1, 0)...), map[bool]int{true: 2, false: 75}[round == 3])
		for _, worker := range random.Perm(3) {
			killed := tfm(work(round, worker)...)
			noError(t, killed.Start())
			time.Sleep(time.Duration(random.IntN(100)) * time.Millisecond)
			killed.Process.Kill()
			killed.Wait()
			twice := tfm(work(round, worker)...)
			noError(t, twice.Start())
			mustRun(t, "", work(round, worker)...)
			if err := twice.Wait(); err != nil {
				t.Errorf("two attempts at once: %v", err)
			}
		}
		mustRun(t, "", "merge", dir, number)
		mustRun(t, "", "merge", dir, number)
		mustRun(t, "", work(round, 0)...) // late
	}
	sameFiles(t, filepath.Join(dir, "model.safetensors"), filepath.Join(want, "model.safetensors"), "the model differs from that of train -plan")
	if o := mustRun(t, "", "train", "-plan", dir); strings.Contains(o.stderr, "merged") {
		t.Errorf("a further run merges again:\n%s", o.stderr)
	}
}

// One worker that is averaged makes the same file as a plain training.
func TestOneWorkerIsTrain(t *testing.T) {
	dir := planToy(t, "-workers", "1", "-local-steps", "10", "-rounds", "4", "-valid-every", "1")
	mustRun(t, "", "train", "-plan", dir)
	args, m := trainArgs(t, "-steps", "40", "-valid-every", "10", "-save-every", "10")
	mustRun(t, "", args...)
	sameFiles(t, m, filepath.Join(dir, "model.safetensors"), "the model differs from that of tfm train")
}

// A round that is merged without a worker is recorded, and repeated with -replay.
func TestReplay(t *testing.T) {
	plan := []string{"-workers", "2", "-local-steps", "4", "-rounds", "2"}
	dir := planToy(t, plan...)
	mustRun(t, "", "work", dir, "1", "1")
	mustFail(t, runTFM(t, "", "merge", "-quorum", "2", dir, "1"), 75, "worker-0.safetensors is missing")
	mustRun(t, "", "merge", "-quorum", "1", dir, "1")
	mustRun(t, "", "train", "-plan", dir)

	again, last := planToy(t, plan...), filepath.Join(dir, "round-0003", "outer.safetensors")
	mustRun(t, "", "train", "-plan", again, "-replay", last)
	sameFiles(t, filepath.Join(dir, "model.safetensors"), filepath.Join(again, "model.safetensors"), "the repeated training made another model")
}

func TestWrongRounds(t *testing.T) {
	src, tgt := toyCorpus(t)
	dir := planToy(t, "-workers", "2", "-local-steps", "2", "-rounds", "2")
	file := write(t, "file", "text")
	for _, c := range []struct {
		code  int
		args  []string
		wants []string
	}{
		{2, []string{"plan", "-src", src, "-tgt", tgt}, []string{"found 0 folders"}},
		{1, []string{"plan", "-src", src, "-tgt", tgt, dir}, []string{"plan.conf already exists"}},
		{2, []string{"plan", "-src", src, "-tgt", tgt, "-preset", "multi30k", "-bf16", dir + "2"}, []string{"-bf16"}},
		{2, []string{"work", dir, "0", "0"}, []string{`round is "0", expected 1 to 2`}},
		{2, []string{"work", dir, "1", "2"}, []string{`worker is "2", expected 0 to 1`}},
		{1, []string{"work", filepath.Dir(dir), "1", "0"}, []string{"outer.safetensors is missing", "tfm plan"}},
		{2, []string{"merge", "-quorum", "3", dir, "1"}, []string{"-quorum is 3, expected 0 to 2"}},
		{2, []string{"train", "-plan", dir, "-seed", "2"}, []string{"either -seed or -plan"}},
		{1, []string{"train", "-plan", dir, "-replay", file}, []string{file}},
		{2, []string{"train", "-src", src, "-tgt", tgt, "-preset", "demo", "-steps", "1", "-o", file + ".safetensors", "-replay", file}, []string{"-replay needs -plan"}},
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			mustFail(t, runTFM(t, "", c.args...), c.code, c.wants...)
		})
	}
	mustRun(t, "", "plan", "-src", src, "-tgt", tgt, "-preset", "multi30k", dir+"2")
	portable := tfm("work", dir, "1", "0")
	portable.Env = append(portable.Env, "TFM_CPU=generic")
	mustFail(t, finish(t, portable), 1, "the products of the training are float32, those of this processor portable float32")
	conf := filepath.Join(dir, "plan.conf")
	other := strings.Replace(read(t, conf), "src = "+src, "src = "+tgt, 1)
	noError(t, os.WriteFile(conf, []byte(other), 0o666))
	mustFail(t, runTFM(t, "", "work", dir, "1", "0"), 1, "the checkpoint belongs to other training pairs")
}

// The learning rate grows with the root of the workers, up to eight, unless it is given or the
// weights are those of a model.
func TestRateOfRounds(t *testing.T) {
	src, tgt := toyCorpus(t)
	tuned := mustRun(t, "", "train", "-src", src, "-tgt", tgt, "-init", toyModel(t), "-steps", "10000", "-dump-config").stdout
	_, rate, _ := strings.Cut(tuned, "\nlr = ") // of one worker too
	rate, _, _ = strings.Cut(rate, "\n")
	for flags, want := range map[string]string{
		"-workers 1": "0.004", "-workers 4": "0.008", "-workers 8": "0.0113", "-workers 100": "0.0113",
		"-workers 4 -lr 0.001": "0.001", "-workers 4 -preset base": "0", "-workers 4 -init " + toyModel(t): rate,
	} {
		args := append([]string{"plan", "-src", src, "-tgt", tgt, "-dump-config"}, strings.Fields(flags)...)
		mustHave(t, mustRun(t, "", append(args, t.TempDir())...).stdout, "\nlr = "+want+"\n")
	}
	o := mustRun(t, "", "plan", "-src", src, "-tgt", tgt, "-vocab-size", "320", "-preset", "tiny", "-workers", "4", filepath.Join(t.TempDir(), "rounds"))
	mustHave(t, o.stderr, "-lr 0.008          suits 4 workers\n")
}
