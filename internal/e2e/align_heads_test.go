package e2e

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// align-heads writes the same model with the heads, which translate -align uses and info prints,
// and train writes the same ones.
func TestAlign(t *testing.T) {
	m := toyModel(t)
	out := filepath.Join(t.TempDir(), "aligned.safetensors")
	o := mustRun(t, "", "align-heads", "-model", m, "-src", toy.src, "-tgt", toy.tgt, "-o", out)
	mustHave(t, o.stderr, out+": heads ")
	for _, path := range []string{m, out} {
		_, heads, _ := strings.Cut(o.stderr, ": heads ")
		heads, _, _ = strings.Cut(heads, " (layer")
		mustHave(t, mustRun(t, "", "info", "-model", path).stdout, "\nalignments:      attention of heads "+heads+" (layer.head")
	}
	mustFail(t, runTFM(t, "", "align-heads", "-model", m, "-src", toy.src, "-tgt", toy.tgt, "-o", out), 1, "-force replaces it")
	tsv := write(t, "few.tsv", "the cat\tle chat\n")
	mustFail(t, runTFM(t, "", "align-heads", "-model", m, "-tsv", tsv, "-o", out, "-force"), 1, tsv+": too few pairs")
	mustFail(t, runTFM(t, "", "align-heads", "-model", m, "-tsv", tsv, "-src", tsv, "-o", out), 2, "either -src and -tgt, or -tsv")

	const input = "the big cat sees the dog\n\nthe old dog\n"
	plain := mustRun(t, input, "translate", "-model", m).stdout
	aligned := mustRun(t, input, "translate", "-model", out, "-align", "words").stdout
	var translations []string
	for line := range strings.Lines(aligned) {
		translation, links, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !ok {
			t.Fatalf("line %q without alignment", line)
		}
		translations = append(translations, translation+"\n")
		if want := "2-1 1-2"; strings.HasPrefix(translation, "le chat grand") && !strings.Contains(links, want) {
			t.Errorf("%q: links %q, want %q among them", translation, links, want)
		}
	}
	if got := strings.Join(translations, ""); got != plain {
		t.Errorf("translations %q, want %q", got, plain)
	}

	var object struct {
		SourceTokens []string `json:"source_tokens"`
		TargetTokens []string `json:"target_tokens"`
		Translation  string
		Alignment    [][2]int
		Attention    [][]float64
		TokenScores  []float64 `json:"token_scores"`
		Alternatives [][][2]any
	}
	answer := mustRun(t, `{"text":"the big cat sees the dog"}`, "translate", "-model", out, "-json", "-align", "soft", "-set", "token-scores=true", "-set", "alternatives=3").stdout
	noError(t, json.Unmarshal([]byte(answer), &object))
	src, tgt := len(object.SourceTokens), len(object.TargetTokens)
	if strings.Join(object.SourceTokens, "") != "the big cat sees the dog" || strings.Join(object.TargetTokens, "") != object.Translation ||
		len(object.Alignment) != tgt || len(object.Attention) != tgt || len(object.Attention[0]) != src+1 || len(object.TokenScores) != tgt+1 ||
		len(object.Alternatives) != tgt+1 || len(object.Alternatives[0]) != 3 || object.Alternatives[0][0][1] != object.TokenScores[0] {
		t.Errorf("-json: %s", answer)
	}
	for args, want := range map[string]string{
		"-align soft":                      "-align soft needs -json",
		"-column 1 -set token-scores=true": "token-scores needs -json",
		"-set alternatives=3":              "alternatives needs -json",
		"-json -set as=target_tokens":      "as target_tokens: the field has another meaning",
	} {
		mustFail(t, runTFM(t, "", append([]string{"translate"}, strings.Fields(args)...)...), 2, want)
	}
}
