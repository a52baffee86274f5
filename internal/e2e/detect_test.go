package e2e

import (
	"strings"
	"testing"
)

func TestDetect(t *testing.T) {
	const lines = "Der Hund läuft über die Straße und bellt laut.\n1234\nThe weather was cold. Мы пошли домой, потому что было холодно.\n\xff\n"
	languages := func(out string) (found string) {
		for line := range strings.Lines(out) {
			found += strings.Split(line, "\t")[0] + " "
		}
		return found
	}
	out := mustRun(t, lines, "detect").stdout
	if got, want := languages(out), "de und ru und "; got != want {
		t.Errorf("languages %q, want %q:\n%s", got, want, out)
	}
	if got, want := languages(mustRun(t, lines, "detect", "-among", "nl,en").stdout), "nl und und und "; got != want {
		t.Errorf("among nl and en %q, want %q", got, want)
	}
	if list := mustRun(t, "", "detect", "-list").stdout; !strings.Contains(list, "\nzh\nzh-Hant\n") || strings.Count(list, "\n") < 50 {
		t.Errorf("-list:\n%s", list)
	}
	o := runTFM(t, "", "detect", "-among", "en,xx")
	mustFail(t, o, 2, `-among: found "xx", expected languages that 'tfm detect -list' prints`)
}
