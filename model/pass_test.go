package model

import (
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"tfm/mat"
)

// toy returns a small valid configuration.
func toy() Config {
	return Config{DModel: 16, Heads: 4, DFF: 24, EncoderLayers: 2, DecoderLayers: 2, LabelSmoothing: 0.1,
		SrcVocab: 11, TgtVocab: 11, Tie: TieAll, NormEps: 1e-5, MaxLen: 64}
}

func newModel(t testing.TB, c Config) *Transformer {
	t.Helper()
	m, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	m.AllocForTraining()
	m.Init(1)
	return m
}

// randomBatch returns a batch of sentences with minLen to 9 tokens, without BOS and EOS.
func randomBatch(c Config, pairs, minLen int, seed uint64) *Batch {
	r := rand.New(rand.NewPCG(seed, 1))
	ids := func(v int) []int32 {
		s := make([]int32, minLen+r.IntN(10-minLen))
		for i := range s {
			s[i] = int32(EOS + 1 + r.IntN(v-EOS-1))
		}
		return s
	}
	b := new(Batch)
	for range pairs {
		b.Append(ids(c.SrcVocab), ids(c.TgtVocab))
	}
	return b
}

func TestEmptyBatch(t *testing.T) {
	c := toy()
	c.Positions, c.Dropout = Learned, 0.1
	pass, reset := NewPass(newModel(t, c), nil), new(Batch)
	reset.Reset()
	for _, b := range []*Batch{new(Batch), reset} {
		for _, loss := range []Loss{pass.Train(b, 1, 1), pass.TrainRDrop(b, 1, 1, 1), pass.Evaluate(b), pass.Attention(b, nil)} {
			if loss != (Loss{}) {
				t.Errorf("empty batch: loss %+v, want zero", loss)
			}
		}
	}
}

// A source has at least EOS, a target at least BOS. A sentence without tokens panics with its
// index.
func TestEmptySentencePanics(t *testing.T) {
	pass := NewPass(newModel(t, toy()), nil)
	for want, b := range map[string]*Batch{
		"model: source 1 of the batch is empty": {Src: []int32{EOS, EOS}, SrcStarts: []int32{0, 1, 1, 2},
			TgtIn: []int32{BOS, BOS, BOS}, TgtOut: []int32{EOS, EOS, EOS}, TgtStarts: []int32{0, 1, 2, 3}},
		"model: target 2 of the batch is empty": {Src: []int32{EOS, EOS, EOS}, SrcStarts: []int32{0, 1, 2, 3},
			TgtIn: []int32{BOS, BOS}, TgtOut: []int32{EOS, EOS}, TgtStarts: []int32{0, 1, 2, 2}},
	} {
		for name, f := range map[string]func(){
			"Train": func() { pass.Train(b, 1, 1) }, "TrainRDrop": func() { pass.TrainRDrop(b, 1, 1, 1) },
			"Evaluate": func() { pass.Evaluate(b) }, "Attention": func() { pass.Attention(b, nil) },
		} {
			func() {
				defer func() {
					if got := recover(); got != want {
						t.Errorf("%s: panic %v, want %q", name, got, want)
					}
				}()
				f()
			}()
		}
	}
}

// A panic in a microbatch reaches the caller of Train, deadlocks no worker that waits for the
// microbatch, and leaves a usable Pass.
func TestPanicInAMicrobatch(t *testing.T) {
	m := newModel(t, toy())
	b := randomBatch(m.Config, 40, 1, 3)
	pool := mat.NewPool(3)
	defer pool.Close()
	pass := NewPass(m, pool)
	pass.microbatchRows = 20
	want := pass.Train(b, 1, 1)
	gradients := slices.Clone(m.Params.G)

	positions := m.SrcEmbed.Positions
	for _, w := range pass.workers[:2] { // the third does not panic
		w.p.SrcEmbed.Positions = positions.RowRange(0, 1)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("no panic for a sentence longer than the table of positions")
			}
		}()
		pass.Train(b, 1, 1)
	}()
	if len(pass.free) != 3 {
		t.Fatalf("%d workers are free after a panic, want 3", len(pass.free))
	}
	for _, w := range pass.workers[:2] {
		w.p.SrcEmbed.Positions = positions
	}
	clear(m.Params.G)
	if got := pass.Train(b, 1, 1); got != want || !bitsEqual(m.Params.G, gradients) {
		t.Errorf("after a panic: loss %+v, want %+v, or gradients differ", got, want)
	}
}

// Several goroutines may make passes of one Transformer, here with gradients, and evaluate with
// them.
func TestPassesOfOneTransformer(t *testing.T) {
	m := newModel(t, toy())
	b := randomBatch(m.Config, 5, 0, 1)
	losses := make([]Loss, 4)
	var all sync.WaitGroup
	for i := range losses {
		all.Add(1)
		go func() {
			defer all.Done()
			losses[i] = NewPass(m, nil).Evaluate(b)
		}()
	}
	all.Wait()
	for _, loss := range losses[1:] {
		if loss != losses[0] {
			t.Errorf("loss %+v, want %+v", loss, losses[0])
		}
	}
}

// An invalid batch panics on the caller's goroutine, before it reaches assembly.
func TestInvalidBatchPanics(t *testing.T) {
	c := toy()
	m := newModel(t, c)
	fixed, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	fixed.AllocWeights()
	batch := func(src, tgt []int32) *Batch {
		b := new(Batch)
		b.Append([]int32{3, 4}, []int32{5})
		b.Append(src, tgt)
		return b
	}
	broken := func(change func(*Batch)) *Batch {
		b := batch([]int32{6}, []int32{7})
		change(b)
		return b
	}
	long := make([]int32, c.MaxLen)
	p := mat.NewPool(2)
	defer p.Close()
	pass := NewPass(m, p)
	for name, f := range map[string]func(){
		"source id 11 outside the vocabulary of 11 pieces":    func() { pass.Train(batch([]int32{11}, nil), 1, 1) },
		"target id 12 outside the vocabulary of 11 pieces":    func() { pass.Evaluate(batch(nil, []int32{12})) },
		"source id -1 outside the vocabulary of 11 pieces":    func() { pass.Train(batch([]int32{-1}, nil), 1, 1) },
		"source 1 of the batch has 65 tokens with BOS or EOS": func() { pass.Train(batch(long, nil), 1, 1) },
		"target 1 of the batch has 65 tokens with BOS or EOS": func() { pass.Train(batch(nil, long), 1, 1) },
		"without gradients": func() { NewPass(fixed, p).Train(batch(nil, nil), 1, 1) },

		"3 source starts and 2 target starts":             func() { pass.Train(broken(func(b *Batch) { b.TgtStarts = b.TgtStarts[:2] }), 1, 1) },
		"6 source tokens, but its sentences have 5":       func() { pass.Evaluate(broken(func(b *Batch) { b.Src = append(b.Src, 3) })) },
		"3 target tokens, but its sentences have 4":       func() { pass.Train(broken(func(b *Batch) { b.TgtOut = b.TgtOut[:3] }), 1, 1) },
		"source 0 of the batch starts at token 1, want 0": func() { pass.Train(broken(func(b *Batch) { b.SrcStarts[0] = 1 }), 1, 1) },
		"target 2 of the batch starts at token 4, want 5": func() { pass.Train(broken(func(b *Batch) { b.TgtStarts[1] = 5 }), 1, 1) },
	} {
		func() {
			defer func() {
				if s, ok := recover().(string); !ok || !strings.HasPrefix(s, "model: ") || !strings.Contains(s, name) {
					t.Errorf("panic %q, want %q", s, name)
				}
			}()
			f()
		}()
	}
}

// Gradients, losses and dropout masks have the same bits for every split into microbatches.
func TestMicrobatchesChangeNothing(t *testing.T) {
	c := toy()
	c.Dropout, c.AttentionDropout, c.FFDropout, c.Positions = 0.2, 0.1, 0.1, Learned
	m := newModel(t, c)
	p := mat.NewPool(2)
	defer p.Close()
	var want Loss
	var grad []float32
	for _, rows := range []int{1 << 20, 1, 10, 37, 60} {
		for _, pairs := range []int{40, 1, 7} { // the first batch grows the memory
			b := randomBatch(c, pairs, 0, 5)
			pass := NewPass(m, p)
			pass.microbatchRows = rows
			clear(m.Params.G)
			loss := pass.Train(b, 3, 0.5)
			alone := pass.Evaluate(b)
			if pairs > 1 && alone.Sum == loss.Sum {
				t.Errorf("microbatches of %d rows: loss with dropout equals loss without", rows)
			}
			loss = pass.Train(b, 4, 0.25).Plus(loss)
			switch {
			case pairs != 40:
			case grad == nil:
				want, grad = loss, append([]float32(nil), m.Params.G...)
			case loss != want || !bitsEqual(m.Params.G, grad):
				t.Errorf("microbatches of %d rows: loss %+v, want %+v, or gradients differ", rows, loss, want)
			}
		}
	}
}

// A batch is divided into microbatches of similar size, a multiple of the number of threads.
func TestSplitForThreads(t *testing.T) {
	b, r := new(Batch), rand.New(rand.NewPCG(1, 2))
	for range 280 {
		b.Append(make([]int32, 5+r.IntN(20)), make([]int32, 5+r.IntN(20)))
	}
	for _, threads := range []int{1, 2, 3, 8} {
		p := mat.NewPool(threads)
		defer p.Close()
		pass := NewPass(newModel(t, toy()), p)
		pass.splitForThreads(b)
		n, longest := len(pass.bounds)-1, b.maxSentence()
		if n%threads != 0 || n > (b.rows()/(maxMicrobatchRows-longest)/threads+1)*threads {
			t.Errorf("%d threads: %d microbatches of %d rows", threads, n, b.rows())
		}
		var part Batch
		for i := range n {
			part.Reset()
			part.appendRange(b, pass.bounds[i], pass.bounds[i+1])
			if rows, most := part.rows(), min(maxMicrobatchRows, b.rows()/n+longest); rows > most {
				t.Errorf("%d threads: microbatch %d of %d has %d rows, want at most %d", threads, i, n, rows, most)
			}
		}
	}
}

// Training after Alloc does not grow the bounds, even if the two halves of a batch fill
// microbatches on different sides.
func TestAllocBounds(t *testing.T) {
	pool := mat.NewPool(8)
	defer pool.Close()
	pass, b, long := NewPass(newModel(t, toy()), pool), new(Batch), slices.Repeat([]int32{EOS + 1}, 34)
	for range 15 {
		b.Append(long, nil)
	}
	for range 15 {
		b.Append(nil, long)
	}
	pass.Alloc(len(b.Src), len(b.TgtIn), 35)
	before := cap(pass.bounds)
	pass.Train(b, 1, 1)
	if after := cap(pass.bounds); after != before {
		t.Errorf("capacity of the bounds %d after Alloc, %d after Train, want the same", before, after)
	}
}
