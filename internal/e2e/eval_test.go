package e2e

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"tfm/internal/format"
)

// -tokenize chooses the tokens that are scored, and the output has the lengths and the signature.
func TestEvalTokenize(t *testing.T) {
	m := toyModel(t)
	hyps := filepath.Join(t.TempDir(), "hyps")
	ref := write(t, "ref", strings.ReplaceAll(read(t, toy.testTgt), "noir", "noir-clair ."))
	eval := func(more ...string) string {
		return mustRun(t, "", append([]string{"eval", "-model", m, "-src", toy.testSrc, "-ref", ref, "-o", hyps}, more...)...).stdout
	}
	score := regexp.MustCompile(`^BLEU = \d+\.\d\d (\d+\.\d/){3}\d+\.\d \(BP = [01]\.\d{3} ratio = \d\.\d{3} hyp_len = (\d+) ref_len = (\d+)\)\nnrefs:1\|case:mixed\|eff:no\|tok:(\w+)\|smooth:exp\|version:tfm-`)
	for _, c := range []struct{ name, tokens string }{{"13a", "noir-clair ."}, {"intl", "noir - clair ."}} {
		out := eval("-tokenize", c.name, "-beam", "5", "-set", "length-penalty=power", "-set", "alpha=1")
		found := score.FindStringSubmatch(out)
		if found == nil {
			t.Fatalf("-tokenize %s printed\n%s", c.name, out)
		}
		count := func(path string) string {
			text := strings.ReplaceAll(read(t, path), "noir-clair .", c.tokens)
			return format.Thousands(len(strings.Fields(text)))
		}
		if found[2] != count(hyps) || found[3] != count(ref) || found[4] != c.name {
			t.Errorf("-tokenize %s printed\n%swant %s and %s tokens", c.name, out, count(hyps), count(ref))
		}
	}
	chinese := write(t, "ref.zh", strings.Repeat("那只红色的狗看见了那棵树。\n", strings.Count(read(t, toy.testTgt), "\n")))
	o := mustRun(t, "", "eval", "-model", m, "-src", toy.testSrc, "-ref", chinese)
	if !strings.Contains(o.stdout, "|tok:zh|") || !strings.Contains(o.stderr, "BLEU: -tokenize zh, chosen from the references") {
		t.Errorf("Chinese references: printed\n%s%swant tok:zh", o.stdout, o.stderr)
	}
}

// eval prints what score prints for the translations that it writes.
func TestEvalScoresAsScore(t *testing.T) {
	m, hyps := toyModel(t), filepath.Join(t.TempDir(), "hyps")
	other := write(t, "other", strings.ToUpper(read(t, toy.testTgt)))
	flags := []string{"-ref", toy.testTgt, "-ref", other, "-lowercase", "-chrf-words", "2", "-width", "3", "-json", "-confidence", "-ter"}
	eval := mustRun(t, "", append([]string{"eval", "-model", m, "-src", toy.testSrc, "-o", hyps}, flags...)...).stdout
	if want := mustRun(t, "", append(append([]string{"score"}, flags...), hyps)...).stdout; eval != want {
		t.Errorf("tfm eval printed\n%swant as tfm score\n%s", eval, want)
	}
	mustFail(t, runTFM(t, "", "eval", "-model", m, "-src", toy.testSrc, "-ref", toy.testTgt, "-ref", write(t, "short", "a\n")), 1, "unequal line counts", toy.testSrc+" has 49")
}

// Validation and eval score the same translations. That of an empty line is empty, which lowers
// BLEU in both.
func TestValidationScoresAsEvalDoes(t *testing.T) {
	makeToy(t)
	src := write(t, "valid.src", "\n"+strings.Replace(read(t, toy.testSrc), "\n", "\n \n", 1))
	tgt := write(t, "valid.tgt", "le chien noir voit le chat\n"+strings.Replace(read(t, toy.testTgt), "\n", "\nle chat vieux aime le livre\n", 1))
	args, m := trainArgs(t, "-steps", "60", "-valid-src", src, "-valid-tgt", tgt, "-valid-every", "60")
	o := mustRun(t, "", args...)
	found := regexp.MustCompile(`BLEU (\d+\.\d+)`).FindStringSubmatch(o.stderr)
	eval := mustRun(t, "", "eval", "-model", m, "-src", src, "-ref", tgt, "-beam", "1").stdout
	want := regexp.MustCompile(`^BLEU = (\d+\.\d+)`).FindStringSubmatch(eval)
	if found == nil || want == nil || found[1] != want[1] || want[1] == "0.00" {
		t.Errorf("validation printed %q, tfm eval %q:\n%s%s", found, want, o.stderr, eval)
	}
}

// swappedPairs are pairs of French and English.
var swappedPairs = strings.Repeat("Le chien que nous avons vu hier courait dans la rue.\tThe dog that we saw yesterday ran across the street.\n", 60)

// Pairs in one file are those of two, also in a translation memory whose sides have the languages
// of the model in the other order.
func TestEvalPairs(t *testing.T) {
	m := toyModel(t)
	sources, targets := strings.Split(strings.TrimSpace(read(t, toy.testSrc)), "\n"), strings.Split(strings.TrimSpace(read(t, toy.testTgt)), "\n")
	var tsv, tmx strings.Builder
	tmx.WriteString("<tmx version='1.4'><header srclang='fr'/><body>")
	for i, s := range sources {
		tsv.WriteString(s + "\t" + targets[i] + "\n")
		tmx.WriteString("<tu><tuv xml:lang='fr'><seg>" + targets[i] + "</seg></tuv><tuv xml:lang='en'><seg>" + s + "</seg></tuv></tu>")
	}
	tmx.WriteString("</body></tmx>")
	want := mustRun(t, "", "eval", "-model", m, "-src", toy.testSrc, "-ref", toy.testTgt).stdout
	for _, path := range []string{write(t, "test.tsv", tsv.String()), write(t, "test.tmx", tmx.String())} {
		if got := mustRun(t, "", "eval", "-model", m, "-tsv", path).stdout; got != want {
			t.Errorf("%s: printed\n%swant\n%s", path, got, want)
		}
		mustFail(t, runTFM(t, "", "eval", "-model", m, "-tsv", path, "-ref", toy.testTgt), 2, "either -tsv or -src and -ref")
	}
	swapped := write(t, "swapped.tsv", swappedPairs)
	mustHave(t, mustRun(t, "", "eval", "-model", m, "-tsv", swapped).stderr, "tfm: warning: "+swapped+": found sources that look like fr (60 of 60), expected en to fr\n")
	mustFail(t, runTFM(t, "", "translate", "-model", m, "-memory", swapped), 1, swapped+": found sources that look like fr")
	if got := mustRun(t, tsv.String(), "eval", "-model", m, "-tsv", "-").stdout; got != want {
		t.Errorf("standard input: printed\n%swant\n%s", got, want)
	}
}
