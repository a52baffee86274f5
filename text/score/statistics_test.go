package score

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"tfm/internal/texttest"
)

// Statistics and tests of significance do not depend on the number of goroutines.
func TestAddAll(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	refs := texttest.Lines(150)
	var hyps []string
	for i, r := range refs {
		hyps = append(hyps, strings.Repeat(r[:len(r)/(1+i%3)], 1+i%2))
	}
	for name, metric := range benchmarkMetrics {
		var want string
		for _, procs := range []int{1, 4} {
			runtime.GOMAXPROCS(procs)
			m := metric()
			s := AddAll(m, hyps, refs, slices.Concat(refs[1:], refs[:1]))
			test := Significance{Resamples: 50, Trials: 50, Seed: 1}
			got := fmt.Sprint(s.Result(), s.SegmentScores(), test.Confidence(s), test.PairedRandomization(s, AddAll(metric(), refs, hyps, refs)))
			if want == "" {
				want = got
			}
			if got != want {
				t.Errorf("%s with %d goroutines:\n%s\nwith 1:\n%s", name, procs, got, want)
			}
		}
		m := metric()
		for i, h := range hyps {
			m.Add(h, refs[i], refs[(i+1)%len(refs)])
		}
		all := metric()
		AddAll(all, hyps, refs, slices.Concat(refs[1:], refs[:1]))
		if got, want := fmt.Sprint(scoreOf(all)), fmt.Sprint(scoreOf(m)); got != want {
			t.Errorf("AddAll: %s, want %s as by Add", got, want)
		}
	}
}

func scoreOf(m Metric) any {
	switch m := m.(type) {
	case *BLEU:
		return m.Score()
	case *CHRF:
		return m.Score()
	}
	return m.(*TER).Score()
}

func TestStatisticsPanics(t *testing.T) {
	text := []string{"a b c", "d e f"}
	bleu := AddAll(new(BLEU), text, text)
	test := Significance{Resamples: 10, Trials: 10}
	for want, f := range map[string]func(){
		"no references":              func() { AddAll(new(BLEU), text) },
		"2 hypotheses, 1 references": func() { AddAll(new(CHRF), text, text, text[:1]) },
		"0 resamples":                func() { Significance{}.Confidence(bleu) },
		"of 0 segments":              func() { test.Confidence(AddAll(new(TER), nil, nil)) },
		"1 of BLEU":                  func() { test.PairedBootstrap(bleu, AddAll(new(BLEU), text[:1], text[:1])) },
		"2 of chrF2":                 func() { test.PairedRandomization(bleu, AddAll(new(CHRF), text, text)) },
		"index out of range":         func() { AddAll(&BLEU{Tokenizer: -1}, text, text) },
	} {
		t.Run(want, func(t *testing.T) {
			defer func() {
				if p := fmt.Sprint(recover()); !strings.Contains(p, want) {
					t.Errorf("panic %q, want one with %q", p, want)
				}
			}()
			f()
		})
	}
}
