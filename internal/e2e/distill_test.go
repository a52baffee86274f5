package e2e

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A student is made of a teacher's translations. The same command again does nothing, or what
// other settings make different; killed at any moment and repeated, it makes the same file.
func TestDistill(t *testing.T) {
	teacher := toyModel(t)
	src, _ := toyCorpus(t)
	dir := t.TempDir()
	config := filepath.Join(dir, "small.conf")
	var lines strings.Builder
	for i := 2; i+3 < len(toySmall); i += 2 { // without -save-every
		if toySmall[i] == "-set" {
			lines.WriteString(toySmall[i+1] + "\n")
		} else {
			lines.WriteString(strings.TrimPrefix(toySmall[i], "-") + " = " + toySmall[i+1] + "\n")
		}
	}
	noError(t, os.WriteFile(config, []byte(lines.String()+"save-every = 5\n"), 0o666))
	args := func(out string, more ...string) []string {
		return append([]string{"distill", "-teacher", teacher, "-src", src, "-valid-src", toy.testSrc, "-valid-tgt", toy.testTgt, "-preset", "demo", "-config", config, "-steps", "40", "-beam", "1", "-o", filepath.Join(dir, out)}, more...)
	}
	o := mustRun(t, "", args("a.safetensors")...)
	mustHave(t, o.stderr, "1/6 translate with the teacher\n", "\n2/6 leave out", " of 1,487 pairs\n", "\n3/6 drop faulty pairs\n  tfm clean -src ", "\n4/6 train the student\n  tfm train -src ", " -src-lang en -tgt-lang fr -steps 40 ", "\n5/6 ", "\n6/6 ", "\nteacher ", "\nstudent ", "words/s")
	want := read(t, filepath.Join(dir, "a.safetensors"))
	if o := mustRun(t, "", args("a.safetensors")...); strings.Count(o.stderr, " done before\n") != 6 {
		t.Errorf("again: %s", o.stderr)
	}
	// With another share the pairs are others, and so are all later stages but the first.
	o = mustRun(t, "", args("a.safetensors", "-drop", "0.3")...)
	if strings.Count(o.stderr, "done before") != 1 || read(t, filepath.Join(dir, "a.safetensors")) == want {
		t.Errorf("-drop 0.3: %s", o.stderr)
	}
	got := read(t, filepath.Join(dir, "a.distill", "pairs.tgt"))

	// What somebody else wrote into the files is made again, and not replaced in place of the
	// model.
	noError(t, os.WriteFile(filepath.Join(dir, "a.distill", "pairs.src"), []byte("x\n"), 0o666))
	if o := mustRun(t, "", args("a.safetensors", "-drop", "0.3")...); !strings.Contains(o.stderr, "\n2/6 leave out the translations with the lowest scores\n") || read(t, filepath.Join(dir, "a.distill", "pairs.tgt")) != got {
		t.Errorf("after a change of a file: %s", o.stderr)
	}
	out := filepath.Join(dir, "a.safetensors")
	noError(t, os.WriteFile(out, []byte("x"), 0o666))
	mustFail(t, runTFM(t, "", args("a.safetensors")...), 1, out+" already exists: -force replaces it")
	mustRun(t, "", args("a.safetensors", "-force")...)
	// A kill after the last stage, before its record.
	noError(t, os.Rename(filepath.Join(dir, "a.distill", "quantize.done"), filepath.Join(dir, "a.distill", "quantize.begun")))
	mustRun(t, "", args("a.safetensors")...)
	if read(t, out) != want {
		t.Error("with the first settings again the student is another")
	}

	random := rand.New(rand.NewPCG(1, 2))
	kills := 8
	if testing.Short() {
		kills = 4
	}
	for i := range kills {
		more := []string{"-force", "-threads", fmt.Sprint(1 + i%3)}
		if i < kills/2 { // other settings, whose work must not be continued
			more = append(more, "-drop", []string{"0.1", "0.3"}[i%2], "-steps", []string{"100000", "200000"}[i%2])
		}
		c := tfm(args("b.safetensors", more...)...)
		noError(t, c.Start())
		time.Sleep(time.Duration(50+random.IntN(900)) * time.Millisecond)
		c.Process.Kill()
		c.Wait()
	}
	mustRun(t, "", args("b.safetensors")...)
	if read(t, filepath.Join(dir, "b.safetensors")) != want {
		t.Error("after kills the student is another")
	}
	// The checkpoints of an unfinished training with other settings are not lost by mistake.
	noError(t, os.Rename(filepath.Join(dir, "b.distill", "train.done"), filepath.Join(dir, "b.distill", "train.begun")))
	mustFail(t, runTFM(t, "", args("b.safetensors")...), 1, filepath.Join(dir, "b.distill", "student.ckpt")+" has the checkpoints of a training that has not ended")
	mustRun(t, "", args("b.safetensors", "-force")...)

	// A text in another language is told before it is translated.
	german := write(t, "german.txt", strings.Repeat("Der Hund, den wir gestern sahen, lief über die Straße.\n", 60))
	o = runTFM(t, "", "distill", "-teacher", teacher, "-src", german, "-beam", "1", "-steps", "1", "-o", filepath.Join(dir, "german.safetensors"))
	if warning := "1/6 translate with the teacher\n  warning: " + teacher + " translates from en, but " + german + " looks like de (60 of 60 lines)\n"; !strings.Contains(o.stderr, warning) {
		t.Errorf("standard error has no %q\n%s", warning, o.stderr)
	}

	mustFail(t, runTFM(t, "", args("d.safetensors", "-src", write(t, "empty.txt", ""))...), 1, "empty.txt is empty, expected sentences")
}
