package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	"tfm/model/decode"
)

// shortlist writes the same model with lists, which translate and eval use with -shortlist, info
// prints, and quantize, average and align-heads keep.
func TestShortlist(t *testing.T) {
	m := toyModel(t)
	dir := t.TempDir()
	out := filepath.Join(dir, "listed.safetensors")
	args := []string{"shortlist", "-model", m, "-src", toy.src, "-tgt", toy.tgt, "-best", "3", "-frequent", "0"}
	o := mustRun(t, "", append(args, "-o", out)...)
	mustHave(t, o.stderr, out+": learned from 1,487 pairs, without 0 that are blank", out+": lists of 2", " % of 320, with ", " % of the target tokens; ", " MB, +0.0 MB")
	quantized, mean, aligned := filepath.Join(dir, "q"), filepath.Join(dir, "mean"), filepath.Join(dir, "aligned")
	mustRun(t, "", "quantize", "-o", quantized, out)
	mustRun(t, "", "average", "-o", mean, out, out)
	mustRun(t, "", "align-heads", "-model", out, "-src", toy.src, "-tgt", toy.tgt, "-o", aligned)
	const input = "the big cat sees the dog\n\nthe old dog takes a tree\n"
	plain := mustRun(t, input, "translate", "-model", m).stdout
	for _, path := range []string{out, quantized, mean, aligned} {
		if o := mustRun(t, "", "info", "-model", path); !strings.Contains(o.stdout, "\nshortlist:       25") || !strings.Contains(o.stdout, " pieces in every list, and for a source piece ") {
			t.Errorf("%s: info without the list:\n%s", path, o.stdout)
		}
		if got := mustRun(t, input, "translate", "-model", path, "-shortlist").stdout; path != quantized && got != plain {
			t.Errorf("%s: translations %q with a list that has them, want %q", path, got, plain)
		}
	}
	if o := mustRun(t, "", "info", "-model", m); strings.Contains(o.stdout, "shortlist") {
		t.Errorf("info of a model without lists:\n%s", o.stdout)
	}
	// Whatever the list lacks cannot be said.
	few := write(t, "few.tsv", "the dog\tun chien\n")
	poor := filepath.Join(dir, "poor")
	mustRun(t, "", "shortlist", "-model", m, "-tsv", few, "-o", poor, "-best", "1", "-frequent", "1")
	if got := mustRun(t, input, "translate", "-model", poor, "-shortlist").stdout; got == plain {
		t.Errorf("translations %q with a list that lacks them", got)
	}
	// The settings of a model file can ask for the list, as those of Firefox's models do.
	listed := filepath.Join(dir, "listed")
	noError(t, decode.CopyWithSettings(poor, listed, decode.Settings{LengthPenalty: decode.PenaltyWu, Alpha: 0.6, Shortlist: true}))
	if got, want := mustRun(t, input, "translate", "-model", listed).stdout, mustRun(t, input, "translate", "-model", listed, "-shortlist").stdout; got != want {
		t.Errorf("translations %q of a model whose settings ask for its list, %q with -shortlist", got, want)
	}
	if got, with := mustRun(t, input, "translate", "-model", listed, "-shortlist=false").stdout, mustRun(t, input, "translate", "-model", listed).stdout; got == with {
		t.Errorf("translations %q with and without the list", got)
	}
	mustHave(t, mustRun(t, "", "info", "-model", listed).stdout, "; in use unless -shortlist=false\n")
	mustHave(t, mustRun(t, "", "average", "-force", "-o", mean, out, poor).stderr, "the shortlists of "+out+" and "+poor+" differ, so the mean has none")
	tuning, tuned := finetuneArgs(t, out, "-steps", "1")
	mustHave(t, mustRun(t, "", tuning...).stderr, "shortlist:        not kept: learn it from the new pairs")
	mustFail(t, runTFM(t, input, "translate", "-model", tuned, "-shortlist"), 1, tuned+" has no shortlist: learn one with 'tfm shortlist'")
	mustFail(t, runTFM(t, "", "eval", "-model", m, "-src", toy.testSrc, "-ref", toy.testTgt, "-shortlist"), 1, m+" has no shortlist")
}

func TestShortlistErrors(t *testing.T) {
	m := toyModel(t)
	out, tsv := filepath.Join(t.TempDir(), "out"), write(t, "few.tsv", "the dog\tun chien\n")
	for _, c := range []struct {
		code int
		args string
		want string
	}{
		{2, "-o " + out + " -src " + tsv + " -tsv " + tsv, "either -src and -tgt, or -tsv"},
		{2, "-o " + out + " -tsv " + tsv + " -best 0", "-best is 0, expected 1 to 10000"},
		{1, "-o " + tsv + " -tsv " + m, "-force replaces it"},
		{1, "-o " + out + " -tsv " + filepath.Dir(tsv), "is no regular file"},
		{1, "-o " + out + " -tsv " + write(t, "blank.tsv", "\t\n"), "found no pairs to learn from"},
		{1, "-o " + out + " -tsv " + write(t, "no.tsv", "no tab\n"), "no.tsv:1: "},
	} {
		args := strings.Fields(c.args)
		if !strings.Contains(c.args, "-model") {
			args = append(args, "-model", m)
		}
		mustFail(t, runTFM(t, "", append([]string{"shortlist"}, args...)...), c.code, c.want)
	}
}
