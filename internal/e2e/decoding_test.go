package e2e

import (
	"path/filepath"
	"strings"
	"testing"
)

// Training records its length penalty in the model, which translate and eval use. A resumed run
// keeps it, and each flag replaces its part of it.
func TestLengthPenaltyOfTheModel(t *testing.T) {
	args, m := trainArgs(t, "-set", "length-penalty=power", "-set", "alpha=4")
	mustRun(t, "", append(args, "-steps", "10")...)
	mustRun(t, "", "train", "-src", toy.src, "-tgt", toy.tgt, "-o", m, "-resume", "-steps", "20")
	mustHave(t, mustRun(t, "", "info", "-model", m).stdout, "\nlength penalty:  power, n^4 for n tokens with EOS\n")
	input := strings.Join(strings.SplitAfterN(read(t, toy.testSrc), "\n", 9)[:8], "")
	src, out := write(t, "src", input), filepath.Join(t.TempDir(), "out")
	run := func(flags ...string) string {
		t.Helper()
		mustRun(t, "", append([]string{"eval", "-model", m, "-src", src, "-ref", src, "-o", out}, flags...)...)
		return mustRun(t, input, append([]string{"translate", "-model", m, "-nbest", "2"}, flags...)...).stdout + read(t, out)
	}
	seen := map[string]bool{}
	for _, c := range []struct{ flags, full []string }{
		{nil, []string{"-set", "length-penalty=power", "-set", "alpha=4"}},
		{[]string{"-set", "alpha=0"}, []string{"-set", "length-penalty=power", "-set", "alpha=0"}},
		{[]string{"-set", "length-penalty=wu"}, []string{"-set", "length-penalty=wu", "-set", "alpha=4"}},
	} {
		got, want := run(c.flags...), run(c.full...)
		if got != want || seen[got] {
			t.Errorf("%q:\n%s\nwant as with %q, and other than with other flags\n%s", c.flags, got, c.full, want)
		}
		seen[got] = true
	}
}
