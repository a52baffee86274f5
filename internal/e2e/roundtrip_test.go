package e2e

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

func TestTrainTranslateEval(t *testing.T) {
	m := toyModel(t)
	mustHave(t, toy.training.stderr, "training pairs:   1,487", "vocabulary:", "parameters:", "machine:", "300 steps", "translate with:")
	if toy.training.stdout != "" {
		t.Errorf("training wrote to standard output: %s", toy.training.stdout)
	}

	o := mustRun(t, "the red dog sees the cat\n\nthe old tree likes the house\n", "translate", "-model", m)
	if o.stdout != "le chien rouge voit le chat\n\nle arbre vieux aime le maison\n" {
		t.Errorf("translated to:\n%s", o.stdout)
	}
	if o.stderr != "" {
		t.Errorf("unasked on standard error: %s", o.stderr)
	}

	hyps := filepath.Join(t.TempDir(), "hyps")
	o = mustRun(t, "", "eval", "-model", m, "-src", toy.testSrc, "-ref", toy.testTgt, "-o", hyps)
	var bleu float64
	if _, err := fmt.Sscanf(o.stdout, "BLEU = %f", &bleu); err != nil || bleu < 90 {
		t.Errorf("BLEU %v, %v:\n%s", bleu, err, o.stdout)
	}
	mustHave(t, o.stdout, "tok:13a", "chrF2 = ", "nc:6")
	mustHave(t, o.stderr, "49 sentences in")
	files := mustRun(t, "", "translate", "-model", m, "-set", "batch=7", "-threads", "1", toy.testSrc).stdout
	if read(t, hyps) != files || strings.Count(files, "\n") != 49 {
		t.Error("eval -o, and translate with other batches and threads, differ")
	}

	info := mustRun(t, "", "info", "-model", m).stdout
	mustHave(t, info, "d_model:         32", "post-norm", "300 steps", "parameters: ")
}
