package e2e

import (
	"encoding/json"
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
	if got := mustRun(t, input, append(split, "-stream")...).stdout; got != want {
		t.Errorf("-split -stream: %q, want %q", got, want)
	}
	if got := mustRun(t, "the old dog!\rThe big cat\n", split...).stdout; got != one[0]+" "+one[1]+"\n" {
		t.Errorf("-split of a line with a carriage return: %q, want one line", got)
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
	line, err := json.Marshal(map[string]string{"text": strings.TrimSuffix(input, "\n")})
	if err != nil {
		t.Fatal(err)
	}
	out := mustRun(t, string(line), append(paragraphs, "-json", "-scores")...).stdout
	var got struct {
		Translation string
		Score       float64
		Sentences   []struct {
			Text, Translation string
			Score             float64
		}
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	if got.Translation+"\n" != want || len(got.Sentences) != 4 || got.Sentences[2].Text != "The old dog sees\nthe small house" || got.Sentences[2].Translation != one[0] {
		t.Errorf("-paragraphs -json: %s, want 4 sentences and the translation %q", out, want)
	}
	for _, s := range got.Sentences {
		got.Score -= s.Score
	}
	if got.Score > 1e-5 || got.Score < -1e-5 {
		t.Errorf("-paragraphs -json: the score exceeds the sum of its sentences by %v", got.Score)
	}
}

// Flags that have no meaning for a text of several sentences are refused.
func TestTranslateSplitRefuses(t *testing.T) {
	m := toyModel(t)
	for want, flags := range map[string]string{
		"either -split or -nbest":            "-split -nbest 2",
		"either -split or -align":            "-split -align words",
		"either -split or token-scores":      "-split -json -set token-scores=true",
		"either -split or alternatives":      "-split -json -set alternatives=2",
		"-paragraphs needs -split":           "-paragraphs",
		"either -paragraphs or -column":      "-split -paragraphs -column 1",
		"either -paragraphs or -prefix-file": "-split -paragraphs -prefix-file x",
	} {
		mustFail(t, runTFM(t, "a\n", append([]string{"translate", "-model", m}, strings.Fields(flags)...)...), 2, want)
	}
}
