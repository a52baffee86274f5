package e2e

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"tfm/model"
	"tfm/model/decode"
)

func wantDecoding(t *testing.T, path string, want decode.Settings) {
	t.Helper()
	h, err := model.LoadHeader(path)
	if err != nil {
		t.Fatal(err)
	}
	got, err := decode.ParseSettings(h.Decoding)
	got.SplitSentences, got.AlignHeads = false, "" // not in checkpoints
	if err != nil || got != want {
		t.Errorf("%s: decoding %+v, %v; want %+v", path, got, err, want)
	}
}

// Training records its length penalty in the checkpoints and the model. A resumed run, fine-tuning
// and an average keep it, unless a flag changes it.
func TestTrainRecordsTheLengthPenalty(t *testing.T) {
	power := func(alpha float64) decode.Settings {
		return decode.Settings{LengthPenalty: decode.PenaltyPower, Alpha: alpha}
	}
	args, m := trainArgs(t, "-set", "length-penalty=power", "-set", "alpha=1.5", "-save-every", "2")
	checkpoint := func(step int) string {
		return filepath.Join(strings.TrimSuffix(m, ".safetensors")+".ckpt", fmt.Sprintf("step-%08d.safetensors", step))
	}
	mustRun(t, "", append(args, "-steps", "2")...)
	wantDecoding(t, m, power(1.5))
	wantDecoding(t, checkpoint(2), power(1.5))
	src, tgt := toyCorpus(t)
	corpus := []string{"train", "-src", src, "-tgt", tgt}
	mustRun(t, "", append(corpus, "-o", m, "-resume", "-steps", "4")...)
	wantDecoding(t, m, power(1.5))
	mustRun(t, "", append(corpus, "-o", m, "-resume", "-steps", "6", "-set", "alpha=2")...)
	wantDecoding(t, m, power(2))
	wantDecoding(t, checkpoint(6), power(2))

	out := filepath.Join(t.TempDir(), "other.safetensors")
	mustRun(t, "", "average", "-o", out, checkpoint(4), checkpoint(6))
	wantDecoding(t, out, power(2))
	mustRun(t, "", "average", "-force", "-o", out, m, toyModel(t))
	wantDecoding(t, out, decode.PaperSettings())

	tune := append(corpus, "-o", out, "-force", "-init", m, "-steps", "1", "-batch-tokens", "300", "-max-len", "40", "-valid-every", "0")
	mustRun(t, "", tune...)
	wantDecoding(t, out, power(2))
	mustRun(t, "", append(tune, "-set", "length-penalty=wu")...)
	wantDecoding(t, out, decode.Settings{LengthPenalty: decode.PenaltyWu, Alpha: 2})

	args, m = trainArgs(t, "-preset", "tiny", "-steps", "1")
	mustRun(t, "", args...)
	wantDecoding(t, m, power(1))
	if o := mustRun(t, "", "info", "-model", m); !strings.Contains(o.stdout, "\nlength penalty:  power, n^1 for n tokens with EOS\n") {
		t.Errorf("info, want the length penalty:\n%s", o.stdout)
	}
}

// translate and eval use the length penalty of the model, and each flag replaces its part of it.
func TestFlagsOverrideTheModelsLengthPenalty(t *testing.T) {
	args, m := trainArgs(t, "-steps", "20", "-set", "length-penalty=power", "-set", "alpha=4")
	mustRun(t, "", args...)
	input := strings.Join(strings.SplitAfterN(read(t, toy.testSrc), "\n", 9)[:8], "")
	src, ref := write(t, "src", input), write(t, "ref", input)
	run := func(flags ...string) (lists, evaluated string) {
		t.Helper()
		lists = mustRun(t, input, append([]string{"translate", "-model", m, "-nbest", "2"}, flags...)...).stdout
		out := filepath.Join(t.TempDir(), "out")
		mustRun(t, "", append([]string{"eval", "-model", m, "-src", src, "-ref", ref, "-o", out}, flags...)...)
		return lists, read(t, out)
	}
	distinct := map[string]string{}
	for _, c := range []struct{ flags, full []string }{
		{nil, []string{"-set", "length-penalty=power", "-set", "alpha=4"}},
		{[]string{"-set", "alpha=0"}, []string{"-set", "length-penalty=power", "-set", "alpha=0"}},
		{[]string{"-set", "length-penalty=wu"}, []string{"-set", "length-penalty=wu", "-set", "alpha=4"}},
	} {
		lists, evaluated := run(c.flags...)
		wantLists, wantEvaluated := run(c.full...)
		if lists != wantLists || evaluated != wantEvaluated {
			t.Errorf("%q: translate\n%s, eval\n%s; want as with %q\n%s%s", c.flags, lists, evaluated, c.full, wantLists, wantEvaluated)
		}
		if other, ok := distinct[lists]; ok {
			t.Errorf("%q and %s give the same lists", c.flags, other)
		}
		distinct[lists] = fmt.Sprintf("%q", c.flags)
	}
	_, long := run()
	if _, short := run("-set", "alpha=0"); short == long {
		t.Errorf("eval translates as with alpha 0:\n%s", long)
	}
}
