package score

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tfm/internal/texttest"
)

// "on monday" moves in one shift, and "he" is a substitution: 2 edits of 6 words.
func TestTERByHand(t *testing.T) {
	s := Count(TER{}, []string{"On Monday he sold the boat"}, []string{"she sold the boat on monday"})
	if got := s.Result().Score; math.Abs(got-100*2./6) > scoreTolerance || !slices.Equal(s.sums(), []float64{2, 6}) {
		t.Errorf("%v with edits and words %v, want 2 of 6", got, s.sums())
	}
}

// Within the beam the distance is that of Levenshtein, and a suffix has the same distance computed
// alone.
func TestEditDistance(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	text := func(n int) []uint32 {
		s := make([]uint32, n)
		for i := range s {
			s[i] = rng.Uint32N(4)
		}
		return s
	}
	var d editDistance
	for range 300 {
		hyp, ref := text(rng.IntN(24)), text(1+rng.IntN(24))
		d.start(len(hyp), ref)
		if got, want := d.of(hyp), levenshtein(hyp, ref); got != want {
			t.Fatalf("distance of %v from %v = %d, want %d", hyp, ref, got, want)
		}
		if len(hyp) == 0 {
			continue
		}
		unchanged := rng.IntN(len(hyp))
		other := slices.Concat(hyp[:unchanged], text(len(hyp)-unchanged))
		if got, want := d.ofSuffix(other, unchanged), levenshtein(other, ref); got != want {
			t.Fatalf("distance of %v from %v, %d tokens unchanged, = %d, want %d", other, ref, unchanged, got, want)
		}
	}
}

func levenshtein(a, b []uint32) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, x := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j, y := range b {
			above := row[j+1]
			row[j+1] = min(diagonal+int(differ(x, y)), above+1, row[j]+1)
			diagonal = above
		}
	}
	return row[len(b)]
}

// Outside the beam no cell is read that the memory does not have, and every distance is finite.
func TestEditDistanceBeam(t *testing.T) {
	for _, c := range [][2]int{{1, 1000}, {1000, 1}, {60, 200}, {200, 60}, {2, 300}, {0, 5}, {61, 62}, {120, 119}} {
		hyp, ref := make([]uint32, c[0]), make([]uint32, c[1])
		var s shifter
		if got, want := s.edits(hyp, ref), abs(c[0]-c[1]); got != want {
			t.Errorf("edits of %d equal tokens from %d = %d, want %d", c[0], c[1], got, want)
		}
		for i := range hyp {
			hyp[i] = 1
		}
		if got, want := s.edits(hyp, ref), max(c[0], c[1]); got != want {
			t.Errorf("edits of %d tokens from %d others = %d, want %d", c[0], c[1], got, want)
		}
	}
}

func TestAppendShifted(t *testing.T) {
	words := []uint32{0, 1, 2, 3, 4, 5}
	for _, c := range []struct {
		start, n, target int
		want             []uint32
	}{
		{2, 2, 0, []uint32{2, 3, 0, 1, 4, 5}},
		{1, 2, 5, []uint32{0, 3, 4, 1, 2, 5}},
		{1, 2, 6, []uint32{0, 3, 4, 5, 1, 2}},
		{1, 2, 2, []uint32{0, 3, 1, 2, 4, 5}}, // a word within the phrase: one behind its end
		{1, 2, 3, []uint32{0, 3, 4, 1, 2, 5}},
		{3, 3, 5, []uint32{0, 1, 2, 3, 4, 5}}, // behind the last word
	} {
		if got := appendShifted(nil, words, c.start, c.n, c.target); !slices.Equal(got, c.want) {
			t.Errorf("%d words from %d shifted to %d = %v, want %v", c.n, c.start, c.target, got, c.want)
		}
	}
}

func BenchmarkTER(b *testing.B) {
	for _, words := range []int{12, 25, 60} {
		b.Run(fmt.Sprintf("words=%d", words), func(b *testing.B) {
			all := strings.Fields(strings.Join(texttest.Lines(2000), " "))
			var hyps, refs []string
			for ref := range slices.Chunk(all[:200*words], words) {
				hyp := slices.Concat(ref[words/3:words/2], ref[:words/3], ref[words/2+1:], ref[:1])
				hyps, refs = append(hyps, strings.Join(hyp, " ")), append(refs, strings.Join(ref, " "))
			}
			for b.Loop() {
				Count(TER{}, hyps, refs)
			}
			b.ReportMetric(float64(len(refs)*b.N)/b.Elapsed().Seconds(), "lines/s")
		})
	}
}
