package score

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"tfm/internal/texttest"
)

// Statistics and bootstraps do not depend on the number of goroutines.
func TestCount(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	refs := texttest.Lines(150)
	var hyps []string
	for i, r := range refs {
		hyps = append(hyps, strings.Repeat(r[:len(r)/(1+i%3)], 1+i%2))
	}
	for _, metric := range benchmarkMetrics {
		var want string
		for _, procs := range []int{1, 4} {
			runtime.GOMAXPROCS(procs)
			s := Count(metric, hyps, refs, slices.Concat(refs[1:], refs[:1]))
			got := fmt.Sprint(s.Result(), s.SegmentScores(), Bootstrap(50, s, Count(metric, refs, hyps, refs)))
			if want == "" {
				want = got
			}
			if got != want {
				t.Errorf("%s with %d goroutines:\n%s\nwith 1:\n%s", metric.name(), procs, got, want)
			}
		}
	}
}

func TestStatisticsPanics(t *testing.T) {
	text := []string{"a b c", "d e f"}
	bleu := Count(BLEU{}, text, text)
	for want, f := range map[string]func(){
		"no references":              func() { Count(BLEU{}, text) },
		"2 hypotheses, 1 references": func() { Count(CHRF{}, text, text, text[:1]) },
		"0 resamples":                func() { Bootstrap(0, bleu) },
		"of 0 segments":              func() { Bootstrap(10, Count(TER{}, nil, nil)) },
		"1 of BLEU":                  func() { Bootstrap(10, bleu, Count(BLEU{}, text[:1], text[:1])) },
		"2 of chrF2":                 func() { Bootstrap(10, bleu, Count(CHRF{}, text, text)) },
		"index out of range":         func() { Count(BLEU{Tokenizer: -1}, text, text) },
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
