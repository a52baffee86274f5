package decode

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"tfm/mat"
	"tfm/model"
)

// outputs are changes of the output projection w [V × d] and its bias b.
var outputs = map[string]func(r *rand.Rand, w mat.Matrix, b []float32){
	"random": func(*rand.Rand, mat.Matrix, []float32) {},
	"sizes from 1e-12 to 1e12": func(r *rand.Rand, w mat.Matrix, b []float32) {
		for j := range w.Rows {
			mat.Scal(float32(math.Pow(10, 24*r.Float64()-12)), w.Row(j))
		}
	},
	"equal": func(r *rand.Rand, w mat.Matrix, b []float32) {
		for j := range w.Rows {
			copy(w.Row(j), w.Row(j%7))
			b[j] = b[j%7]
		}
	},
	"one far above": func(r *rand.Rand, w mat.Matrix, b []float32) { b[777] = 50 },
	"few in int8": func(r *rand.Rand, w mat.Matrix, b []float32) { // rounds most elements to 0
		for j := range w.Rows {
			w.Row(j)[r.IntN(w.Cols)] = 100
		}
	},
	"exact in int8": func(r *rand.Rand, w mat.Matrix, b []float32) { // leaves the error of x
		for j := range w.Rows {
			for l := range w.Row(j) {
				w.Row(j)[l] = float32(r.IntN(255)-127) / 64
			}
			w.Row(j)[r.IntN(w.Cols)] = 127.0 / 64
		}
	},
	"impossible":  func(r *rand.Rand, w mat.Matrix, b []float32) { b[model.EOS], b[5] = -1e9, float32(math.Inf(-1)) },
	"zero":        func(r *rand.Rand, w mat.Matrix, b []float32) { clear(w.Data); clear(b) },
	"zero but b":  func(r *rand.Rand, w mat.Matrix, b []float32) { clear(w.Data) },
	"NaN":         func(r *rand.Rand, w mat.Matrix, b []float32) { w.Row(900)[3] = float32(math.NaN()) },
	"infinite":    func(r *rand.Rand, w mat.Matrix, b []float32) { w.Row(900)[3] = float32(math.Inf(1)) },
	"infinite b":  func(r *rand.Rand, w mat.Matrix, b []float32) { b[900] = float32(math.Inf(1)) },
	"overflowing": func(r *rand.Rand, w mat.Matrix, b []float32) { mat.Scal(1e38, w.Row(900)) },
}

func boundedModel(t *testing.T, seed uint64, change func(*rand.Rand, mat.Matrix, []float32)) *model.Transformer {
	c := toy()
	c.DModel, c.Tie, c.TgtVocab, c.OutputBias = 60, model.TieNone, 1000, true
	m := perturbed(t, c, seed)
	change(rand.New(rand.NewPCG(seed, 9)), m.Output.E.Weights(), m.Output.Bias.W)
	return m
}

// With bounds, every element of a step's row is at least the logit, the largest is the largest
// logit with the same index, and refine returns the logit.
func TestStepBounds(t *testing.T) {
	pool := mat.NewPool(2)
	defer pool.Close()
	for name, change := range outputs {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(2) { // on one thread and on two
				m := boundedModel(t, seed, change)
				w := NewWeights(m, nil)
				exact, s := NewState(w, nil), NewState(w, []*mat.Pool{nil, pool}[seed%2])
				srcs := randomSources(9, 0, seed)
				exact.Add(nil, srcs...)
				handles := s.Add(nil, srcs...)
				r, parent, bounds := rand.New(rand.NewPCG(seed, 2)), int32(-1), 0
				for range 4 {
					var rows []Row
					for _, h := range handles {
						rows = append(rows, Row{h, int32(r.IntN(m.Config.TgtVocab)), parent})
					}
					parent = 0
					want := exact.Step(rows)
					got := s.step(s.treeRows(rows), true)
					for i := range rows {
						bounds += checkBounds(t, s, i, want.Row(i), got.Row(i))
					}
				}
				if name == "random" && bounds < 30*m.Config.TgtVocab/7 {
					t.Errorf("%d bounds among a seventh of 36 rows of %d", bounds, m.Config.TgtVocab)
				}
			}
		})
	}
}

// checkBounds refines a seventh of row i of s and returns the number of bounds in it.
func checkBounds(t *testing.T, s *State, i int, want, got []float32) (bounds int) {
	t.Helper()
	got = slices.Clone(got)
	if hasNaN := math.IsNaN(float64(mat.Max(want))); !hasNaN {
		for j := range want {
			if !(got[j] >= want[j]) {
				t.Fatalf("row %d: bound %d is %v, the logit %v", i, j, got[j], want[j])
			}
		}
		if a, b := topK(make([]candidate, 0, 1), want, nil, nil), topK(make([]candidate, 0, 1), got, nil, nil); !slices.Equal(a, b) {
			t.Fatalf("row %d: the largest is %v, want %v", i, b, a)
		}
	}
	for j := i % 7; j < len(want); j += 7 {
		logit, isBound := s.refine(i, int32(j))
		if isBound {
			bounds++
		}
		if !equalBits([]float32{logit}, want[j:j+1]) || !isBound && !equalBits(got[j:j+1], want[j:j+1]) {
			t.Fatalf("row %d: element %d is %v, refined %v, want the logit %v", i, j, got[j], logit, want[j])
		}
	}
	return bounds
}

// Greedy search with bounds has the translations of one with logits, whatever may follow a
// hypothesis, beside other searches and alone, and after a change of the weights.
func TestGreedyWithBounds(t *testing.T) {
	for name, change := range outputs {
		m := boundedModel(t, 1, change)
		w := NewWeights(m, nil)
		srcs := randomSources(12, 0, 1)
		prefixes := make([][]int32, len(srcs))
		for i := range prefixes {
			prefixes[i] = []int32{int32(50 + i), int32(3 + i)}
		}
		bytes := byteLevel(1, mixedText, 41).bytes
		pieces := NewPieces(m.Config.TgtVocab, func(id int32) string { // half of the others cannot occur
			if int(id) < len(bytes) {
				return bytes[id]
			}
			return []string{"x", "\xFF"}[id%2]
		})
		options := []Options{
			{Beam: 1, MaxExtra: 6, NoRepeat: 1, MinTokens: 5}, {Beam: 1, MaxExtra: 6}, {Beam: 1, MaxExtra: 6, RepetitionPenalty: 2},
			{Beam: 1, MaxExtra: 6, Pieces: pieces, Prefixes: &Begins{prefixes}}, {Beam: 1, MaxExtra: 6, Pieces: pieces},
		}
		if !slices.Contains([]string{"random", "one far above", "equal"}, name) {
			options = options[:1] // others differ in the projection, not in what may follow
		}
		for i, o := range options {
			for range 2 { // with the weights as they are, and doubled
				d := New(w, nil)
				want, err := d.Translate(context.Background(), srcs, o)
				if err != nil {
					t.Fatal(err)
				}
				o.NoScore = true
				got, err := d.Translate(context.Background(), srcs, o)
				if err != nil {
					t.Fatal(err)
				}
				for k := range want {
					if want[k].Score = got[k].Score; !reflect.DeepEqual(got[k], want[k]) {
						t.Fatalf("%s, options %d: %v, with logits %v", name, i, got[k], want[k])
					}
				}
				o.NoScore = false
				mat.Scal(2, m.Params.W)
				w.Refresh(nil)
			}
		}
	}
}

// Weights that share the output projection share its bounds, which others compute anew.
func TestSharedBounds(t *testing.T) {
	m := newModel(t, toy())
	w := NewWeights(m, nil)
	of := w.bounds.get(nil, &w.output)
	tuned := w.Sharing(model.NewTuner(m, nil).Model)
	tuned.Refresh(nil)
	if tuned.bounds.get(nil, &tuned.output) != of {
		t.Error("a copy with another last layer has bounds of its own")
	}
	if w.Refresh(nil); w.bounds.get(nil, &w.output) == of || tuned.bounds.get(nil, &tuned.output) != w.bounds.get(nil, &w.output) {
		t.Error("the bounds of refreshed weights are the old ones")
	}
}

// The columns of a list that a model with an output bias left have no bias in one without.
func TestListOfOneModelAfterAnother(t *testing.T) {
	plain, biased := toy(), toy()
	biased.OutputBias = true
	l := outputList{ids: []int32{3, 5}}
	l.gather(nil, &NewWeights(perturbed(t, biased, 1), nil).output)
	if len(l.columns.biases()) != 2 {
		t.Fatalf("biases %v, want 2", l.columns.biases())
	}
	if l.gather(nil, &NewWeights(perturbed(t, plain, 1), nil).output); l.columns.biases() != nil {
		t.Errorf("biases %v of another model, want none", l.columns.biases())
	}
}
