package e2e

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestDemo(t *testing.T) {
	m := filepath.Join(t.TempDir(), "demo.safetensors")
	o := mustRun(t, "", "demo", "-steps", "2", "-held-out", "20", "-o", m)
	lines := strings.Split(strings.TrimSuffix(o.stdout, "\n"), "\n")
	if last := lines[len(lines)-1]; !regexp.MustCompile(`^exact match: \d+\.\d% \(\d+/20 held-out sentences\)$`).MatchString(last) {
		t.Errorf("last line %q, want the number of exact matches", last)
	}
	for name, want := range map[string]int{"  source      ": 10, "  reference   ": 10, "  translation ": 10, "</s>": 2} {
		if got := strings.Count(o.stdout, name); got != want {
			t.Errorf("output has %q %d times, want %d:\n%s", name, got, want, o.stdout)
		}
	}
	mustHave(t, mustRun(t, "", "info", "-model", m).stdout, "zh to en")
	if o := mustRun(t, "他爱咖啡。\n", "translate", "-model", m, "-set", "max-extra=5"); strings.Count(o.stdout, "\n") != 1 {
		t.Errorf("tfm translate printed %q, want one line", o.stdout)
	}
}
