package e2e

import (
	"strings"
	"testing"
)

// -tags translates parts of documents, in every form of input.
func TestTranslateMarkup(t *testing.T) {
	m := toyModel(t)
	in := `<p class=a>the <b>cat</b></p><img alt="the dog">`
	plain := strings.Split(mustRun(t, "the cat\nthe dog\n", "translate", "-model", m).stdout, "\n")
	check := func(args, input, want string) {
		t.Helper()
		out := mustRun(t, input+"\n", append([]string{"translate", "-model", m, "-tags", "html"}, strings.Fields(args)...)...).stdout
		for _, s := range []string{"<p class=a>", "</p>", "<b>", "</b>", `<img alt=`} {
			if strings.Count(out, s) != strings.Count(want, s) {
				t.Errorf("%q: %q, want %s %d times", args, out, s, strings.Count(want, s))
			}
		}
		if got := strings.NewReplacer("<b>", "", "</b>", "").Replace(out); !strings.Contains(got, "<p class=a>"+plain[0]+"</p>") || !strings.Contains(got, plain[1]+`"`) {
			t.Errorf("%q: %q, want %q and %q", args, out, plain[0], plain[1])
		}
	}
	check("", in, in)
	check("-split", in, in)
	check("-protect -scores", in, in)
	check("-column 2", "1\t"+in, in+in)
	check("-split -paragraphs", strings.Replace(in, "the <b>", "the\n<b>", 1), in)
	r := runTFM(t, "<a>the <b>cat</b></a>\n<a>\nthe dog\n", "translate", "-model", m, "-tags", "xml")
	lines := strings.Split(r.stdout, "\n")
	if r.code != 1 || !strings.HasPrefix(lines[0], "<a>") || lines[1] != "" || lines[2] != plain[1] || !strings.Contains(r.stderr, "line 1: found the end, expected </a>") {
		t.Errorf("XML: %q, exit code %d, messages %q", r.stdout, r.code, r.stderr)
	}
}
