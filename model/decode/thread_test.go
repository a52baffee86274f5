package decode

import (
	"fmt"
	"reflect"
	"testing"

	"tfm/mat"
	"tfm/model"
)

// Threads that divide many sources and rows return what one thread returns.
func TestThreadsEqualOneThread(t *testing.T) {
	pool := mat.NewPool(3)
	defer pool.Close()
	for name, c := range map[string]model.Config{"self-attention": toy(), "SSRU": toy()} {
		if name == "SSRU" {
			c.Autoreg = model.SSRU
		}
		m := perturbed(t, c, 7)
		srcs := randomSources(90, 0, 3)
		for _, w := range []*Weights{NewWeights(m, nil), NewWeightsInt8(m, nil)} {
			for _, o := range []Options{
				{Beam: 1, NoScore: true}, {Beam: 1, Shortlist: randomShortlist(c, 20, 1)}, {Beam: 3, NBest: 3},
			} {
				o.MaxExtra = 6
				want := nBest(t, New(w, nil), srcs, o)
				d := New(w, pool)
				for range 2 {
					if got := nBest(t, d, srcs, o); !reflect.DeepEqual(got, want) {
						t.Errorf("%s, %v, %+v: translations differ with 3 threads", name, w.form, o)
					}
				}
				if len(d.state.threads[2].step.rows) == 0 {
					t.Errorf("%s: the third thread had no rows", name)
				}
			}
		}
	}
}

// Rows are divided between sources only.
func TestSplitRows(t *testing.T) {
	pool := mat.NewPool(2)
	defer pool.Close()
	s := NewState(NewWeights(perturbed(t, toy(), 1), nil), pool)
	handles := s.Add(nil, randomSources(40, 0, 1)...)
	for _, x := range []struct {
		rows func(i int) int32 // source of row i of 40
		want string
	}{
		{func(i int) int32 { return int32(i) }, "[0 20 40]"},
		{func(i int) int32 { return int32(i / 3) }, "[0 21 40]"},
		{func(i int) int32 { return 0 }, "[0 40]"},
		{func(i int) int32 { return int32(i % 20) }, "[0 40]"}, // rows of a source apart
	} {
		var rows []Row
		for i := range 40 {
			rows = append(rows, Row{handles[x.rows(i)], model.BOS, -1})
		}
		s.Step(rows)
		if got := fmt.Sprint(s.shares); got != x.want {
			t.Errorf("shares %s, want %s", got, x.want)
		}
	}
	s.Step([]Row{{handles[0], model.BOS, -1}, {handles[1], model.BOS, -1}})
	if got := fmt.Sprint(s.shares); got != "[0 2]" {
		t.Errorf("shares of two rows: %s, want one", got)
	}
}
