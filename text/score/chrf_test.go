package score

import (
	"math"
	"slices"
	"strings"
	"testing"

	"tfm/internal/texttest"
)

// Texts without n-grams have no score. Others are in the goldens.
func TestCHRFWithoutMatches(t *testing.T) {
	for _, s := range []*Statistics{Count(CHRF{}, nil, nil), Count(CHRF{}, []string{"", "a"}, []string{"a", ""})} {
		if s.Result().Score != 0 || s.String() != "chrF2 = 0.00" {
			t.Errorf("%v, want 0", s)
		}
	}
}

// "abc d" matches "abd" in three characters, of 4 and of 3; in one bigram (ab), of 3 and of 2; in
// no trigram, of 2 and of 1. The reference has no 4-gram. With β = 2, F = 5PR/(4P+R).
func TestCHRFByHand(t *testing.T) {
	s := Count(CHRF{}, []string{"abc d"}, []string{"abd"})
	p, r := (3./4+1./3+0)/3, (3./3+1./2+0)/3
	if got, want := s.Result().Score, 100*5*p*r/(4*p+r); math.Abs(got-want) > scoreTolerance {
		t.Errorf("score %v, want %v", got, want)
	}
}

func TestCHRFWords(t *testing.T) {
	got := chrfWords(`(hi) "yes . a, -b é.`)
	if want := strings.Fields(`(hi ) " yes . a , - b é .`); !slices.Equal(got, want) {
		t.Errorf("words %q, want %q", got, want)
	}
}

func BenchmarkCHRF(b *testing.B) {
	lines := texttest.Lines(1000)
	for range b.N {
		Count(CHRF{}, lines, lines)
	}
	b.ReportMetric(float64(len(lines)*b.N)/b.Elapsed().Seconds(), "lines/s")
}
