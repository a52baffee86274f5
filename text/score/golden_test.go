package score

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
)

// goldens is testdata/golden.json: sacreBLEU's scores of small sets of sentences, which
// testdata/gen_golden.py writes.
type goldens struct {
	SacreBLEU       string
	Sets            map[string][][]string // of each line the hypothesis and its references
	BLEU, CHRF, TER []golden
}

type golden struct {
	Set                string
	References         int
	Options            options
	Score              float64
	Sentences          []float64
	Printed, Signature string
	Correct, Total     []float64
}

// options has sacreBLEU's names.
type options struct {
	Tokenize  Tokenizer
	Lowercase bool
	WordOrder int `json:"word_order"`
}

func readGoldens(t *testing.T) goldens {
	t.Helper()
	data, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var g goldens
	if err := json.Unmarshal(data, &g); err != nil {
		t.Fatal(err)
	}
	if g.SacreBLEU != sacreBLEUVersion {
		t.Fatalf("goldens of sacreBLEU %s, want %s", g.SacreBLEU, sacreBLEUVersion)
	}
	return g
}

// check compares a score with the golden one; sentences has the scores of single lines.
func (g golden) check(t *testing.T, s *Statistics, sentences []float64) {
	t.Helper()
	score, signature := s.Result().Score, s.Result().Signature
	if math.Abs(score-g.Score) > scoreTolerance || s.String() != g.Printed {
		t.Errorf("score %v, printed %q; want %v, %q", score, s, g.Score, g.Printed)
	}
	if want := strings.Replace(g.Signature, "version:", "version:tfm-", 1); signature != want {
		t.Errorf("signature %s, want %s", signature, want)
	}
	for i, s := range sentences {
		if math.Abs(s-g.Sentences[i]) > scoreTolerance {
			t.Errorf("line %d: sentence score %v, want %v", i+1, s, g.Sentences[i])
		}
	}
}

// run calls test for each case, with its lines: the hypothesis, then the references.
func (g goldens) run(t *testing.T, cases []golden, test func(t *testing.T, c golden, lines [][]string)) {
	if len(cases) == 0 {
		t.Fatal("no cases")
	}
	for _, c := range cases {
		set, ok := g.Sets[c.Set]
		if !ok || len(c.Sentences) != len(set) {
			t.Fatalf("set %q has %d lines, want %d", c.Set, len(set), len(c.Sentences))
		}
		lines := make([][]string, len(set))
		for i, l := range set {
			lines[i] = l[:1+c.References]
		}
		t.Run(c.Set+"/"+c.Signature, func(t *testing.T) { test(t, c, lines) })
	}
}

func TestGoldenBLEU(t *testing.T) {
	g := readGoldens(t)
	g.run(t, g.BLEU, func(t *testing.T, c golden, lines [][]string) {
		o := c.Options
		b := BLEU{Tokenizer: o.Tokenize, Lowercase: o.Lowercase}
		single := b
		single.EffectiveOrder = true
		s := countLines(b, lines)
		c.check(t, s, countLines(single, lines).SegmentScores())
		if correct, total := correctTotal(s.sums()); !slices.Equal(correct, c.Correct) || !slices.Equal(total, c.Total) {
			t.Errorf("matched n-grams %v of %v, want %v of %v", correct, total, c.Correct, c.Total)
		}
	})
}

func TestGoldenCHRF(t *testing.T) {
	g := readGoldens(t)
	g.run(t, g.CHRF, func(t *testing.T, c golden, lines [][]string) {
		s := countLines(CHRF{WordOrder: c.Options.WordOrder}, lines)
		c.check(t, s, s.SegmentScores())
	})
}

func TestGoldenTER(t *testing.T) {
	g := readGoldens(t)
	g.run(t, g.TER, func(t *testing.T, c golden, lines [][]string) {
		s := countLines(TER{}, lines)
		c.check(t, s, s.SegmentScores())
	})
}

// countLines returns the statistics of lines: the hypothesis, then the references.
func countLines(m Metric, lines [][]string) *Statistics {
	columns := make([][]string, len(lines[0]))
	for _, l := range lines {
		for i, text := range l {
			columns[i] = append(columns[i], text)
		}
	}
	return Count(m, columns[0], columns[1:]...)
}
