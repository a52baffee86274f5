package model

import (
	"errors"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"tfm/internal/ref"
	"tfm/layer"
	"tfm/mat"
)

// classifiers returns small configurations of both forms, with the mean and with a decoder.
func classifiers() map[string]ClassifierConfig {
	c := Config{DModel: 8, Heads: 2, DFF: 12, EncoderLayers: 2, NormEps: 1e-5, LabelSmoothing: 0.1}
	vit, source := c, c
	vit.Norm, vit.Activation = PreNorm, GELU
	source.DecoderLayers, source.FinalNorm = 2, FinalNormOn
	return map[string]ClassifierConfig{
		"mean":    {Config: vit, Rows: 5, Cols: 6, Embed: true, Classes: 4},
		"decoder": {Config: source, Rows: 5, Cols: 8, Classes: 4},
	}
}

func newClassifier(t testing.TB, c ClassifierConfig) *Classifier {
	m, err := NewClassifier(c)
	if err != nil {
		t.Fatal(err)
	}
	m.Params.AllocForTraining()
	m.Init(3)
	r := rand.New(rand.NewPCG(8, 8))
	// Initial weights give almost uniform attention, where gradients cancel: move away from
	// them.
	for i := range m.Params.W {
		m.Params.W[i] += float32(0.3 * r.NormFloat64())
	}
	return m
}

// randomInputs returns n inputs with labels.
func randomInputs(c ClassifierConfig, n int) (mat.Matrix, []int32) {
	r := rand.New(rand.NewPCG(5, 5))
	x, labels := mat.New(n*c.Rows, c.Cols), make([]int32, n)
	layer.Normal(x.Data, 1, r)
	for i := range labels {
		labels[i] = int32(r.IntN(c.Classes))
	}
	return x, labels
}

// referenceClassifier returns the loss of inputs in float64, without dropout.
func referenceClassifier(w ref.Weights, c ClassifierConfig, x mat.Matrix, labels []int32) (smoothed, nll float64) {
	activation, eps := activations[c.Activation], float64(c.NormEps)
	sublayer := func(norm string, x ref.Matrix, f func(ref.Matrix) ref.Matrix) ref.Matrix {
		if c.Norm == PreNorm {
			return ref.Sum(1, x, f(w.Norm(norm, "layer", x, eps)))
		}
		return w.AddNorm(norm, x, f(x), eps)
	}
	stack := func(side string, layers int, x, memory ref.Matrix) ref.Matrix {
		for i := range layers {
			name := side + "." + strconv.Itoa(i)
			norm := 0
			next := func(f func(ref.Matrix) ref.Matrix) {
				norm++
				x = sublayer(name+".norm"+strconv.Itoa(norm), x, f)
			}
			next(func(x ref.Matrix) ref.Matrix { return w.Self(name+".self", x, c.Heads, false, nil) })
			if memory != nil {
				next(func(x ref.Matrix) ref.Matrix { return w.Cross(name+".cross", x, memory, c.Heads, nil) })
			}
			next(func(x ref.Matrix) ref.Matrix { return w.FeedForward(name+".ff", activation, x, nil) })
		}
		return w.Norm(side+".norm", "layer", x, eps)
	}
	for i, label := range labels {
		rows := ref.FromFloat32(x.RowRange(i*c.Rows, (i+1)*c.Rows))
		if c.Embed {
			rows = w.Linear("embed", rows)
			for pos, row := range rows {
				for j := range row {
					row[j] += w["source.positions"][pos*c.DModel+j]
				}
			}
		}
		memory, y := stack("encoder", c.EncoderLayers, rows, nil), ref.New(1, c.DModel)
		for j := range y[0] {
			for _, row := range memory {
				y[0][j] += row[j] / float64(c.Rows)
			}
		}
		if c.DecoderLayers > 0 {
			for j := range y[0] {
				y[0][j] = 1
			}
			y = stack("decoder", c.DecoderLayers, y, memory)
		}
		a, b := ref.CrossEntropy(w["output.weight"], w["output.bias"], y, []int32{label}, float64(c.LabelSmoothing), false)
		smoothed, nll = smoothed+a, nll+b
	}
	return smoothed, nll
}

func TestGradientsOfClassifiers(t *testing.T) {
	if raceDetector {
		t.Skip("race detector: one goroutine, and ten times as slow")
	}
	for name, c := range classifiers() {
		m := newClassifier(t, c)
		x, labels := randomInputs(c, 3)
		const scale = 0.5
		got := NewClassifierPass(m, nil).Train(x, labels, 1, scale)
		w := ref.WeightsOf(m.Params)
		want, nll := referenceClassifier(w, c, x, labels)
		// About forty roundings of 6e-8 from the inputs to the losses.
		if math.Abs(got.Sum-want) > 2e-6*want || math.Abs(got.NLL-nll) > 2e-6*nll {
			t.Errorf("%s: loss %v and NLL %v, want %v and %v", name, got.Sum, got.NLL, want, nll)
		}
		if eval := NewClassifierPass(m, nil).Evaluate(x, labels); eval != got {
			t.Errorf("%s: Evaluate = %+v, want %+v, that of Train without dropout", name, eval, got)
		}
		if testing.Short() { // the differences are float64 Go code without kernels
			continue
		}
		rounding := 1e-7 * float64(max(mat.Max(m.Params.G), 1)) // see TestGradientsOfEveryVariant
		for _, p := range m.Params.List {
			if strings.HasPrefix(p.Name, "decoder.") && strings.HasSuffix(p.Name, ".self.qkv.weight") {
				// A decoder of one row attends only to itself, with weight 1 for
				// any query and key.
				g := p.Grad()
				for i := range g.Rows {
					clear(g.Row(i)[:2*c.DModel])
				}
			}
			if strings.HasPrefix(p.Name, "decoder.") && strings.HasSuffix(p.Name, ".self.qkv.bias") {
				clear(p.G[:2*c.DModel])
			}
			clearKeyBias(p, c.Config)
			ref.CheckGradient(t, name+": "+p.Name, p.G, w[p.Name], rounding, func() float64 {
				loss, _ := referenceClassifier(w, c, x, labels)
				return loss * scale
			})
		}
	}
}

// An input has the same loss alone and in a batch, and gradients have the same bits for any number
// of threads.
func TestClassifierDoesNotDependOnTheBatchOrThreads(t *testing.T) {
	for name, c := range classifiers() {
		c.Dropout = 0.2
		m := newClassifier(t, c)
		x, labels := randomInputs(c, 40)
		all, sum := NewClassifierPass(m, nil).Evaluate(x, labels), 0.0
		for i := range labels {
			sum += NewClassifierPass(m, nil).Evaluate(x.RowRange(i*c.Rows, (i+1)*c.Rows), labels[i:i+1]).Sum
		}
		if sum != all.Sum { // float64 sums of equal float32 values in the same order
			t.Errorf("%s: loss %v in one batch, %v one by one", name, all.Sum, sum)
		}
		var first []float32
		for _, threads := range []int{1, 2, 5} {
			p := mat.NewPool(threads)
			clear(m.Params.G)
			NewClassifierPass(m, p).Train(x, labels, 7, 1)
			p.Close()
			if first == nil {
				first = append(first, m.Params.G...)
			}
			if !bitsEqual(first, m.Params.G) {
				t.Errorf("%s: gradients of %d threads differ from those of one", name, threads)
			}
		}
	}
}

func TestClassifierTrainingDoesNotAllocate(t *testing.T) {
	if raceDetector {
		t.Skip("race detector: it allocates")
	}
	// A garbage collection would empty the sync.Pools of package mat.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for name, c := range classifiers() {
		c.Dropout = 0.2
		pass := NewClassifierPass(newClassifier(t, c), nil)
		x, labels := randomInputs(c, 9)
		step := func() {
			pass.Train(x, labels, 1, 1)
			pass.Train(x.RowRange(0, 4*c.Rows), labels[:4], 1, 1)
		}
		step()
		if n := testing.AllocsPerRun(20, step); n != 0 {
			t.Errorf("%s: %v allocations in two steps, want 0", name, n)
		}
	}
}

func TestClassifierErrors(t *testing.T) {
	for want, change := range map[string]func(*ClassifierConfig){
		"rows is 0, expected 1 to 65536":                                    func(c *ClassifierConfig) { c.Rows = 0 },
		"cols is 1048577, expected 1 to 1048576":                            func(c *ClassifierConfig) { c.Cols = 1<<20 + 1 },
		"classes is 1, expected 2 to":                                       func(c *ClassifierConfig) { c.Classes = 1 },
		"cols is 6, expected 8, d_model, without an embedding":              func(c *ClassifierConfig) { c.Embed = false },
		`norm is "deep", expected post or pre without a decoder`:            func(c *ClassifierConfig) { c.Norm = DeepNorm },
		"d_model is 8, expected a multiple of the 3 heads, or both d_k and": func(c *ClassifierConfig) { c.Heads = 3 },
	} {
		c := classifiers()["mean"]
		change(&c)
		_, err := NewClassifier(c)
		if invalid := new(FieldError); !errors.As(err, &invalid) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error %v, want a *FieldError: %q", err, want)
		}
	}
	c := classifiers()["mean"]
	x, labels := randomInputs(c, 3)
	for name, run := range map[string]func(*ClassifierPass){
		"too few rows":  func(p *ClassifierPass) { p.Evaluate(x.RowRange(1, x.Rows), labels) },
		"wrong columns": func(p *ClassifierPass) { p.Evaluate(x.ColRange(1, x.Cols), labels) },
		"a wrong label": func(p *ClassifierPass) { p.Evaluate(x, []int32{0, 4, 0}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			run(NewClassifierPass(newClassifier(t, c), nil))
		}()
	}
}
