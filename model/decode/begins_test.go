package decode

import (
	"context"
	"math"
	"slices"
	"testing"

	"tfm/mat"
	"tfm/model"
)

// The tokens that a target begins with are those that prefixes would force, without their
// log-probability, and differ between the sources of a call.
func TestBegins(t *testing.T) {
	pool := mat.NewPool(2)
	defer pool.Close()
	d := newDecoder(perturbed(t, toy(), 3), pool)
	srcs := randomSources(12, 1, 5)
	begins := make([][]int32, len(srcs)-1) // none for the last source
	for i := range begins {
		begins[i] = [][]int32{{5}, {7, 4}, nil, {6}}[i%4]
	}
	for _, beam := range []int{1, 4} {
		o := DefaultOptions()
		o.Beam, o.NBest, o.Penalty, o.Alpha, o.MaxTokens, o.TokenScores, o.Alternatives = beam, beam, PenaltyPower, 0, 12, true, 2
		o.Begins = &Begins{begins}
		got := nBest(t, d, srcs, o)
		forced := o
		forced.Begins = nil
		for i, src := range srcs {
			n := len(o.Begins.of(i))
			forced.Prefixes, forced.MaxTokens = &Begins{[][]int32{o.Begins.of(i)}}, o.MaxTokens+n
			want := nBest(t, d, [][]int32{src}, forced)[0]
			alone := o
			alone.Begins = &Begins{[][]int32{o.Begins.of(i)}}
			if list := nBest(t, d, [][]int32{src}, alone)[0]; len(list) != len(got[i]) || list[0].Score != got[i][0].Score || !slices.Equal(list[0].Tokens, got[i][0].Tokens) {
				t.Errorf("beam %d: source %d has %v among others, %v alone", beam, i, got[i][0], list[0])
			}
			for k, h := range got[i] {
				given := 0.0
				for _, x := range want[k].TokenScores[:n] {
					given += x
				}
				if !slices.Equal(h.Tokens, want[k].Tokens[n:]) || math.Abs(h.Score-(want[k].Score-given)) > 1e-9 || len(h.Alternatives) != len(want[k].Alternatives)-n {
					t.Errorf("beam %d: translation %d of source %d = %+v, want %+v after %d tokens", beam, k, i, h, want[k], n)
				}
			}
		}
	}
}

// The begin counts for the length penalty and the limit of the model, and streams report the rest.
func TestBeginsCount(t *testing.T) {
	pool := mat.NewPool(1)
	defer pool.Close()
	d := newDecoder(perturbed(t, toy(), 3), pool)
	o := DefaultOptions()
	o.Penalty, o.Alpha, o.TokenScores = PenaltyPower, 1, true
	o.Begins = &Begins{[][]int32{{5, 6}}}
	src := [][]int32{{4, 8, 9}}
	h := translate(t, d, src, o)[0]
	sum := 0.0
	for _, x := range h.TokenScores {
		sum += x
	}
	if want := sum / float64(len(h.TokenScores)+2); math.Abs(h.Score-want) > 1e-12 {
		t.Errorf("score %v, want %v", h.Score, want)
	}
	var streamed []int32
	e := NewEngine(d.w, pool)
	err := e.Stream(context.Background(), src, o, func(_ int, token int32) { streamed = append(streamed, token) }, func(int, []Hypothesis) {})
	if err != nil || !slices.Equal(streamed, h.Tokens) {
		t.Errorf("streamed %v, error %v, want %v", streamed, err, h.Tokens)
	}
	o.MaxExtra, o.MinTokens = 1000, 1000
	if h := translate(t, d, src, o)[0]; !h.Truncated || len(h.Tokens) != toy().MaxLen-3 {
		t.Errorf("%d tokens, truncated %v, want %d", len(h.Tokens), h.Truncated, toy().MaxLen-3)
	}
}

// A model with the language in its source or target has the begin and the end of its marks.
func TestLayoutsOfLanguages(t *testing.T) {
	for layout, want := range map[model.SourceLayout][]int32{
		model.ToFirst:   {9, 4, 5, model.EOS},
		model.FromFirst: {8, 4, 5, model.EOS},
		model.FromLast:  {4, 5, model.EOS, 8},
	} {
		before, after := layout.Around([]int32{8}, []int32{9})
		if got := layout.Append(nil, slices.Concat(before, []int32{4, 5}, after)); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", layout, got, want)
		}
	}
}
