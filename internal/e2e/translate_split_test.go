package e2e

import (
	"strings"
	"testing"
)

// translateLines returns the translation of each line.
func translateLines(t *testing.T, lines ...string) []string {
	t.Helper()
	out := mustRun(t, strings.Join(lines, "\n"), "translate", "-model", toyModel(t)).stdout
	return strings.Split(strings.TrimSuffix(out, "\n"), "\n")
}

// With -split the sentences of a line are translated separately.
func TestTranslateSplit(t *testing.T) {
	m := toyModel(t)
	one := translateLines(t, "the old dog!", "The big cat", "the small house")
	const input = "the old dog!   The big cat\n\nthe small house\n"
	want := one[0] + "   " + one[1] + "\n\n" + one[2] + "\n"
	split := []string{"translate", "-model", m, "-split"}
	if got := mustRun(t, input, split...).stdout; got != want {
		t.Errorf("-split: %q, want %q", got, want)
	}
	tabless := strings.ReplaceAll(one[0]+" "+one[1], "\t", " ")
	if got := mustRun(t, "id\tthe old dog! The big cat\n", append(split, "-column", "2")...).stdout; got != "id\tthe old dog! The big cat\t"+tabless+"\n" {
		t.Errorf("-split -column: %q, want the line and %q", got, tabless)
	}
	// A sentence beyond the limit is cut, not truncated.
	o := mustRun(t, strings.Repeat("the old dog ", 20)+"\n", append(split, "-set", "max-source=12")...)
	if strings.Contains(o.stderr, "truncated to") || strings.Count(o.stdout, "chien") < 10 {
		t.Errorf("-split -max-source: %q, warnings %q", o.stdout, o.stderr)
	}
}

// With -paragraphs the output has the paragraphs of the input.
func TestTranslateParagraphs(t *testing.T) {
	m := toyModel(t)
	one := translateLines(t, "The old dog sees the small house", "The big cat", "the new car", "The red tree")
	const input = "The big cat\n\n\nthe new car\n\n  The old dog sees\nthe small house\nThe red tree\n"
	want := one[1] + "\n\n\n" + one[2] + "\n\n  " + one[0] + "\n" + one[3] + "\n"
	paragraphs := []string{"translate", "-model", m, "-split", "-paragraphs"}
	if got := mustRun(t, input, paragraphs...).stdout; got != want {
		t.Errorf("-paragraphs: %q, want %q", got, want)
	}
	object := mustRun(t, `{"text":"The big cat. The new car"}`, append(paragraphs, "-json", "-scores")...).stdout
	if strings.Count(object, `{"text":"`) != 3 || !strings.Contains(object, `"sentences":[`) {
		t.Errorf("-paragraphs -json: %s, want the text and its 2 sentences", object)
	}
}
