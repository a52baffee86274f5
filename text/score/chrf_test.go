package score

import (
	"math"
	"slices"
	"strings"
	"testing"

	"tfm/internal/texttest"
)

func TestCHRF(t *testing.T) {
	for _, c := range []struct {
		chrf               CHRF
		hyp, ref           []string
		more               [][]string
		score              float64
		printed, signature string
	}{
		{CHRF{}, hypotheses, references1, nil, 71.03611177159175, "chrF2 = 71.04",
			"nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:tfm-2.6.0"},
		{CHRF{}, hypotheses, references1, [][]string{references2}, 73.62077628581962, "chrF2 = 73.62",
			"nrefs:2|case:mixed|eff:yes|nc:6|nw:0|space:no|version:tfm-2.6.0"},
		{CHRF{WordOrder: 2}, hypotheses, references1, nil, 69.99760306278912, "chrF2++ = 70.00",
			"nrefs:1|case:mixed|eff:yes|nc:6|nw:2|space:no|version:tfm-2.6.0"},
		{CHRF{WordOrder: 2}, hypotheses, references1, [][]string{references2}, 73.22553024996874, "chrF2++ = 73.23",
			"nrefs:2|case:mixed|eff:yes|nc:6|nw:2|space:no|version:tfm-2.6.0"},
		{CHRF{}, chineseHyp, chineseRef, nil, 52.4227392977393, "chrF2 = 52.42",
			"nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:tfm-2.6.0"},
		{CHRF{}, nil, nil, nil, 0, "chrF2 = 0.00", "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:tfm-2.6.0"},
		{CHRF{}, []string{"", "a"}, []string{"a", ""}, nil, 0, "chrF2 = 0.00",
			"nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:tfm-2.6.0"},
	} {
		s := Count(c.chrf, c.hyp, append([][]string{c.ref}, c.more...)...)
		if r := s.Result(); math.Abs(r.Score-c.score) > scoreTolerance || s.String() != c.printed || r.Signature != c.signature {
			t.Errorf("score %v\n%v\n%v\nwant %v\n%v\n%v", r.Score, s, r.Signature, c.score, c.printed, c.signature)
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
