package decode

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"tfm/mat"
	"tfm/model"
)

// cell is a recurrent layerState (SSRU, Kim et al., 2019, with fixed weights). Its state is one row
// for each node:
//
//	f = σ(x)   c = f·c' + (1-f)·x   y = max(c, 0)
type cell struct {
	*newestTokens
	layer int
	y     mat.Matrix
}

func (c *cell) floats() int { return c.w.model.Config.DModel * pageTokens }

func (c *cell) advance(x mat.Matrix) (y mat.Matrix, out *linear) {
	c.y = mat.New(x.Rows, x.Cols)
	for i, lanes := range c.lanes {
		n := len(lanes)
		before := make([]float32, x.Cols)
		if n > 1 {
			before = c.row(i, lanes[n-2])
		}
		updateCell(c.row(i, lanes[n-1]), before, x.Row(i), c.y.Row(i))
	}
	return c.y, nil
}

// row returns the state of a lane of row i.
func (c *cell) row(i int, lane int32) []float32 {
	d := c.w.model.Config.DModel
	return c.memory(c.layer, i, lane)[int(lane)%pageTokens*d:][:d]
}

func updateCell(state, before, x, y []float32) {
	for j, v := range x {
		f := float32(1 / (1 + math.Exp(-float64(v))))
		state[j] = float32(f*before[j]) + float32((1-f)*v)
		y[j] = max(state[j], 0)
	}
}

// plainCell is cell for the only row of every step of one hypothesis.
type plainCell struct{ state []float32 }

func (*plainCell) floats() int { return 0 }

func (c *plainCell) advance(x mat.Matrix) (y mat.Matrix, out *linear) {
	if c.state == nil {
		c.state = make([]float32, x.Cols)
	}
	y = mat.New(1, x.Cols)
	updateCell(c.state, c.state, x.Row(0), y.Row(0))
	return y, nil
}

// A recurrent cell in the place of self-attention follows its hypotheses when a beam reorders them.
func TestRecurrentLayerState(t *testing.T) {
	for _, norm := range []model.Placement{model.PostNorm, model.PreNorm} {
		c := toy()
		c.Norm = norm
		w := NewWeights(perturbed(t, c, 3), nil)
		src := []int32{3, 5, 4}
		alone := func(tokens []int32) []float32 {
			s := NewState(w, nil)
			h := s.Add(nil, src)[0]
			s.newest.states[0] = &plainCell{}
			y := s.Step([]Row{{h, model.BOS, -1}})
			for _, id := range tokens {
				y = s.Step([]Row{{h, id, 0}})
			}
			return y.Row(0)
		}
		s := NewState(w, nil)
		s.newest.states[0] = &cell{newestTokens: &s.newest, layer: 0}
		handles := s.Add(nil, src, src)
		r := rand.New(rand.NewPCG(1, 2))
		hypotheses := [][][]int32{{nil}, {nil}}
		for step := range 12 {
			var rows []Row
			var next [2][][]int32
			for k, h := range handles {
				for range 1 + r.IntN(6) {
					if step == 0 {
						rows, next[k] = append(rows, Row{h, model.BOS, -1}), append(next[k], nil)
						continue
					}
					parent, token := r.IntN(len(hypotheses[k])), int32(3+r.IntN(8))
					rows = append(rows, Row{h, token, int32(parent)})
					next[k] = append(next[k], append(slices.Clone(hypotheses[k][parent]), token))
				}
			}
			y := s.Step(rows)
			for i, tokens := range slices.Concat(next[0], next[1]) {
				if !equalBits(y.Row(i), alone(tokens)) {
					t.Fatalf("norm %v, step %d: logits after %v differ from those of a plain recurrence", norm, step, tokens)
				}
			}
			hypotheses = next[:]
		}
	}
}
