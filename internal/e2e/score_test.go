package e2e

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

const (
	scoreHyps = "The ferry leaves at 7.30, doesn't it?\nNobody knew \"why\" the lamp went out.\nShe paid 3,000 kroner for a second-hand boat.\n\n"
	scoreRef1 = "The ferry leaves at 7.30, does it not?\nNo one knew why the lamp went out.\nShe paid 3,000 kroner for a used boat.\nNothing.\n"
	scoreRef2 = "Does the ferry not leave at 7.30?\nNobody knew \"why\" the lamp had gone out.\nA second-hand boat cost her 3,000 kroner.\n\n"
)

// The scores come from sacreBLEU 2.6.0.
func TestScore(t *testing.T) {
	hyps, ref1 := write(t, "hyps", scoreHyps), write(t, "ref1", scoreRef1)
	three := func(path string) string { // the first lines
		return write(t, "three", strings.Join(strings.SplitAfter(read(t, path), "\n")[:3], ""))
	}
	lines := func(s ...string) string { return strings.Join(s, "\n") + "\n" }
	for _, c := range []struct {
		name   string
		args   []string
		stdout string
	}{
		{"defaults", []string{"-ref", ref1, hyps}, lines(
			"BLEU = 52.84 82.1/60.0/50.0/42.1 (BP = 0.931 ratio = 0.933 hyp_len = 28 ref_len = 30)",
			"nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:tfm-2.6.0",
			"chrF2 = 71.04",
			"nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:tfm-2.6.0")},
		{"every option", []string{"-ref", ref1, "-tokenize", "none", "-lowercase",
			"-chrf-words", "2", "-width", "4", hyps}, lines(
			"BLEU = 52.0564 77.3/63.2/56.2/46.2 (BP = 0.873 ratio = 0.880 hyp_len = 22 ref_len = 25)",
			"nrefs:1|case:lc|eff:no|tok:none|smooth:exp|version:tfm-2.6.0",
			"chrF2++ = 69.9976",
			"nrefs:1|case:mixed|eff:yes|nc:6|nw:2|space:no|version:tfm-2.6.0")},
		{"sentences as sacreBLEU names them", []string{ref1, "-i", hyps, "-sl"}, "56.48\t82.67\n42.73\t62.00\n66.06\t78.08\n0.00\t0.00\n"},
		{"intervals", []string{"-ref", three(ref1), "-confidence", "-ter", three(hyps)}, lines(
			"BLEU = 56.76 (μ = 56.18 ± 8.52) 82.1/60.0/50.0/42.1 (BP = 1.000 ratio = 1.000 hyp_len = 28 ref_len = 28)",
			"nrefs:1|bs:1000|case:mixed|eff:no|tok:13a|smooth:exp|version:tfm-2.6.0",
			"chrF2 = 74.83 (μ = 75.10 ± 7.33)",
			"nrefs:1|bs:1000|case:mixed|eff:yes|nc:6|nw:0|space:no|version:tfm-2.6.0",
			"TER = 29.17 (μ = 28.86 ± 12.50)",
			"nrefs:1|bs:1000|case:lc|tok:tercom|norm:no|punct:yes|asian:no|version:tfm-2.6.0")},
		{"sentences as JSON", []string{"-ref", ref1, "-sentence", "-json", "-width", "1", hyps}, lines(
			`{"line": 1, "BLEU": 56.5, "chrF2": 82.7}`, `{"line": 2, "BLEU": 42.7, "chrF2": 62.0}`,
			`{"line": 3, "BLEU": 66.1, "chrF2": 78.1}`, `{"line": 4, "BLEU": 0.0, "chrF2": 0.0}`)},
	} {
		if o := mustRun(t, "", append([]string{"score"}, c.args...)...); o.stdout != c.stdout {
			t.Errorf("%s: tfm score printed\n%swant\n%s", c.name, o.stdout, c.stdout)
		}
	}
}

// Arguments of sacreBLEU 2.6.0, which prints the same with -f text.
func TestScoreArguments(t *testing.T) {
	hyps, ref1, ref2 := write(t, "hyps", scoreHyps), write(t, "ref1", scoreRef1), write(t, "ref2", scoreRef2)
	for _, c := range []struct{ args, input, stdout string }{
		{"REF1 -b", scoreHyps, "52.8\n"},
		{"REF1 -i HYPS -m bleu chrf ter -b -w 4", "", "52.8428\n71.0361\n32.0000\n"},
		{"-m ter,bleu REF1 REF2 --score-only --width 0", scoreHyps, "78\n26\n"},
	} {
		args := strings.NewReplacer("REF1", ref1, "REF2", ref2, "HYPS", hyps).Replace(c.args)
		if o := mustRun(t, c.input, append([]string{"score"}, strings.Fields(args)...)...); o.stdout != c.stdout || o.stderr != "" {
			t.Errorf("tfm score %s printed %q, want %q\n%s", c.args, o.stdout, c.stdout, o.stderr)
		}
	}
}

// Standard input and gzipped files have the scores of the plain file.
func TestScoreInputs(t *testing.T) {
	ref := write(t, "ref", scoreRef1)
	want := mustRun(t, "", "score", "-ref", ref, write(t, "hyps", scoreHyps)).stdout
	for name, o := range map[string]output{
		"standard input":           mustRun(t, scoreHyps, "score", "-ref", ref),
		"gzipped standard input":   mustRun(t, packed(scoreHyps), "score", "-ref", ref),
		"gzipped files":            mustRun(t, "", "score", "-ref", write(t, "ref.gz", packed(scoreRef1)), write(t, "hyps.gz", packed(scoreHyps))),
		"CRLF and byte order mark": mustRun(t, "\uFEFF"+strings.ReplaceAll(scoreHyps, "\n", "\r\n"), "score", "-ref", ref),
	} {
		if o.stdout != want {
			t.Errorf("%s: tfm score printed\n%swant\n%s", name, o.stdout, want)
		}
	}
}

// The objects have the fields of sacreBLEU's -f json; those of a comparison have a signature too.
func TestScoreJSON(t *testing.T) {
	hyps, other, ref := write(t, "hyps", scoreHyps), write(t, "other", scoreRef2), write(t, "ref", scoreRef1)
	const (
		bleu  = `"score":52.84,"signature":"nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:tfm-2.6.0","verbose_score":"82.1/60.0/50.0/42.1 (BP = 0.931 ratio = 0.933 hyp_len = 28 ref_len = 30)","nrefs":"1","case":"mixed","eff":"no","tok":"13a","smooth":"exp","version":"tfm-2.6.0"`
		chrf  = `"score":71.04,"signature":"nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:tfm-2.6.0","nrefs":"1","case":"mixed","eff":"yes","nc":"6","nw":"0","space":"no","version":"tfm-2.6.0"`
		tests = `"signature":"nrefs:1|bs:99|case:mixed|eff:no|tok:13a|smooth:exp|version:tfm-2.6.0"`
	)
	for args, want := range map[string]string{
		"-json " + hyps: `[{"name":"BLEU",` + bleu + `},{"name":"chrF2",` + chrf + `}]`,
		"-json -paired -resamples 99 -m bleu " + hyps + " " + other: `[{"system":"Baseline: ` + hyps + `","BLEU":{"score":52.84,"p_value":null,"mean":51.57,"ci":15.36,` + tests +
			`}},{"system":"` + other + `","BLEU":{"score":6.66,"p_value":0.01,"mean":6.40,"ci":1.20,` + tests + `}}]`,
	} {
		var got bytes.Buffer
		if err := json.Compact(&got, []byte(mustRun(t, "", append([]string{"score", "-ref", ref}, strings.Fields(args)...)...).stdout)); err != nil || got.String() != want {
			t.Errorf("tfm score %s printed\n%s, %v, want\n%s", args, got.String(), err, want)
		}
	}
}

// The scores come from sacreBLEU 2.6.0. Means, intervals and p-values are near its own.
func TestScoreSystems(t *testing.T) {
	firstThree := func(s string) string { return strings.Join(strings.SplitAfter(s, "\n")[:3], "") }
	hyps := firstThree(scoreHyps)
	ref, a, b, c := write(t, "ref", firstThree(scoreRef1)), write(t, "a", hyps), write(t, "b", firstThree(scoreRef2)), write(t, "c", strings.ToLower(hyps))
	wide := strings.Repeat(" ", len("Baseline: "))
	for _, x := range []struct {
		name           string
		args           []string
		stdout, stderr string
	}{
		{"bootstrap", []string{"-paired", "-resamples", "500", "-ter", a, b, c, a}, "" +
			"System" + wide + strings.Repeat(" ", len(a)-4) + "BLEU (μ ± 95% CI)                   chrF2 (μ ± 95% CI)                  TER (μ ± 95% CI)\n" +
			"Baseline: " + a + "  56.76 (56.27 ± 8.52)                74.83 (75.23 ± 7.33)                29.17 (29.02 ± 12.50)\n" +
			b + wide + "  7.17 (6.92 ± 0.53) (p = 0.0020)*    42.13 (42.27 ± 2.36) (p = 0.0020)*  79.17 (79.69 ± 16.67) (p = 0.0020)*\n" +
			c + wide + "  47.38 (46.60 ± 3.95) (p = 0.0020)*  72.24 (72.58 ± 6.39) (p = 0.0020)*  29.17 (29.02 ± 12.50) (p = 0.0020)\n\n" +
			"Paired bootstrap resampling, 500 resamples; *: p <= 0.05, the difference from the baseline is unlikely to be chance\n\n" +
			"BLEU: nrefs:1|bs:500|case:mixed|eff:no|tok:13a|smooth:exp|version:tfm-2.6.0\n" +
			"chrF2: nrefs:1|bs:500|case:mixed|eff:yes|nc:6|nw:0|space:no|version:tfm-2.6.0\n" +
			"TER: nrefs:1|bs:500|case:lc|tok:tercom|norm:no|punct:yes|asian:no|version:tfm-2.6.0\n",
			a + " is the baseline and is not compared with itself"},
		{"equal systems", []string{"-paired", "-resamples", "10", a, write(t, "same", hyps)}, "",
			" has the translations of " + a + "; p-values of equal systems mean nothing"},
	} {
		t.Run(x.name, func(t *testing.T) {
			o := mustRun(t, "", append([]string{"score", "-ref", ref}, x.args...)...)
			if x.stdout != "" && o.stdout != x.stdout || !strings.Contains(o.stderr, x.stderr) {
				t.Errorf("tfm score printed\n%s%swant\n%s%s", o.stdout, o.stderr, x.stdout, x.stderr)
			}
		})
	}
}

func TestScoreErrors(t *testing.T) {
	hyps, ref := write(t, "hyps", scoreHyps), write(t, "ref", scoreRef1)
	short, latin1, empty := write(t, "short", "a\nb\n"), write(t, "latin1", "a\nb\nd\xe9j\xe0\n\n"), write(t, "empty", "")
	for _, c := range []struct {
		name  string
		args  []string
		code  int
		wants []string
	}{
		{"no reference", nil, 2, []string{"-ref is missing", "run 'tfm help score'"}},
		{"bare scores of two systems", []string{"-ref", ref, "-b", hyps, ref}, 2, []string{"-b: found 2 files"}},
		{"a system twice", []string{"-ref", ref, hyps, hyps}, 2, []string{hyps + ": found twice, as system 1 and 2"}},
		{"a lonely baseline", []string{"-ref", ref, "-paired", hyps}, 2, []string{"-paired: found 1 file of hypotheses, expected at least 2"}},
		{"unused resamples", []string{"-ref", ref, "-resamples", "10", hyps}, 2, []string{"-resamples needs -confidence or -paired"}},
		{"short reference", []string{"-ref", ref, "-ref", short, hyps}, 1, []string{"unequal line counts: " + ref + " has 4, " + short + " has 2"}},
		{"empty reference", []string{"-ref", empty, hyps}, 1, []string{empty + ": empty"}},
		{"reference not UTF-8", []string{"-ref", latin1, hyps}, 1, []string{latin1 + ":3: invalid UTF-8 at byte 2"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := runTFM(t, "", append([]string{"score"}, c.args...)...)
			mustFail(t, o, c.code, c.wants...)
			if strings.Count(o.stderr, "\n") != 1 || o.stdout != "" {
				t.Errorf("more than one line of error:\n%s%s", o.stdout, o.stderr)
			}
		})
	}
}
