package train

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"tfm/model"
)

// randomPairs returns n pairs with sides of 1 to longest tokens. The first source id is the index
// of the pair.
func randomPairs(n, longest int) *Pairs {
	random := rand.New(rand.NewPCG(9, 9))
	p := &Pairs{}
	for i := range n {
		src := slices.Repeat([]int32{7}, 1+random.IntN(longest))
		src[0] = int32(i)
		p.Add(src, slices.Repeat([]int32{int32(i)}, 1+random.IntN(longest)))
	}
	return p
}

// epoch returns the batches of an epoch.
func epoch(t *testing.T, b *Batches) []model.Batch {
	t.Helper()
	batches := make([]model.Batch, b.Len())
	for i := range batches {
		b.Next(&batches[i])
	}
	return batches
}

func TestBatchesContainEveryPairOnce(t *testing.T) {
	for _, size := range []struct{ pairs, longest, tokens int }{
		{1, 5, 10}, {7, 20, 21}, {500, 1, 2}, {1000, 30, 31}, {1000, 30, 300}, {3000, 40, 2000}, {50, 10, 100000},
	} {
		p := randomPairs(size.pairs, size.longest)
		b, err := NewBatches(p, size.tokens, size.longest, 5)
		if err != nil {
			t.Fatal(err)
		}
		capacity := cap(b.bounds)
		for range 3 {
			seek(b, Position{Epoch: b.at.Epoch})
			seen := make([]int, size.pairs)
			for _, batch := range epoch(t, b) {
				if len(batch.Src) > b.MaxSrc || len(batch.TgtIn) > b.MaxTgt || batch.Sentences() > b.MaxSentences {
					t.Fatalf("%+v: batch of %d sentences, %d source and %d target tokens, want at most %d, %d, %d", size,
						batch.Sentences(), len(batch.Src), len(batch.TgtIn), b.MaxSentences, b.MaxSrc, b.MaxTgt)
				}
				tokens := 0
				for s := range batch.Sentences() {
					src := batch.Src[batch.SrcStarts[s]:batch.SrcStarts[s+1]]
					tgt := batch.TgtOut[batch.TgtStarts[s]:batch.TgtStarts[s+1]]
					i := int(src[0])
					seen[i]++
					if !slices.Equal(src[:len(src)-1], p.Src(i)) || !slices.Equal(tgt[:len(tgt)-1], p.Tgt(i)) || src[len(src)-1] != model.EOS {
						t.Fatalf("pair %d is %v, %v in the batch", i, src, tgt)
					}
					tokens += len(p.Tgt(i)) + 1
				}
				if tokens != len(batch.TgtOut) {
					t.Fatalf("batch of %d target tokens, want %d, those of its sentences", len(batch.TgtOut), tokens)
				}
			}
			for i, n := range seen {
				if n != 1 {
					t.Fatalf("%+v, epoch %d: pair %d occurs %d times, want once", size, b.at.Epoch, i, n)
				}
			}
			seek(b, Position{Epoch: b.at.Epoch + 1})
		}
		if cap(b.bounds) != capacity {
			t.Errorf("%+v: capacity of bounds grew from %d to %d", size, capacity, cap(b.bounds))
		}
	}
}

// A batch ends only where the next pair does not fit. With pairs of at most 1/100 of a batch, every
// batch is nearly full on one side, except the last two, which share their pairs.
func TestBatchesAreFull(t *testing.T) {
	b, err := NewBatches(randomPairs(5000, 9), 1000, 9, 1)
	if err != nil {
		t.Fatal(err)
	}
	notFull := 0
	for _, batch := range epoch(t, b) {
		full := max(float64(len(batch.Src))/float64(b.MaxSrc), float64(len(batch.TgtIn))/float64(b.MaxTgt))
		if full < 0.98 {
			notFull++
		}
		if full < 0.45 {
			t.Errorf("a batch is %.2f full, want at least 0.45", full)
		}
	}
	if notFull > 2 {
		t.Errorf("%d batches are not full, want at most 2", notFull)
	}
}

// Target lengths in a batch are similar, because groups of 32 batches are sorted.
func TestBatchesGroupLengths(t *testing.T) {
	const longest = 40
	b, err := NewBatches(randomPairs(20000, longest), 1000, longest, 1)
	if err != nil {
		t.Fatal(err)
	}
	sum := 0
	batches := epoch(t, b)
	for _, batch := range batches {
		shortest, longest := int32(1<<30), int32(0)
		for s := range batch.Sentences() {
			n := batch.TgtStarts[s+1] - batch.TgtStarts[s]
			shortest, longest = min(shortest, n), max(longest, n)
		}
		sum += int(longest - shortest)
	}
	if mean := float64(sum) / float64(len(batches)); mean > 5 {
		t.Errorf("target lengths in a batch differ by %.1f on average, want at most 5 of %d", mean, longest)
	}
}

// The order of the batches does not depend on their lengths. In a random order, the rank
// correlations of index and length and of consecutive lengths have a standard deviation of
// 1/√(n-1); the test allows 4 of these.
func TestBatchesAreShuffled(t *testing.T) {
	b, err := NewBatches(randomPairs(20000, 40), 1000, 40, 1)
	if err != nil {
		t.Fatal(err)
	}
	batches := epoch(t, b)
	length := func(b model.Batch) float64 { return float64(len(b.TgtIn)) / float64(b.Sentences()) }
	n := float64(len(batches))
	rank := make([]float64, len(batches))
	for i, x := range batches {
		for _, y := range batches {
			if length(y) < length(x) {
				rank[i]++
			}
		}
		rank[i] -= (n - 1) / 2
	}
	var index, neighbours, square float64
	for i, r := range rank {
		index += r * (float64(i) - (n-1)/2)
		neighbours += r * rank[(i+1)%len(rank)]
		square += r * r
	}
	if limit := 4 / math.Sqrt(n-1); math.Abs(index/square) > limit || math.Abs(neighbours/square) > limit {
		t.Errorf("correlation of length and index %.3f, of consecutive lengths %.3f, want at most %.3f", index/square, neighbours/square, limit)
	}
}

// seek moves b to a position, as a loader does.
func seek(b *Batches, at Position) {
	b.at = Position{Epoch: at.Epoch}
	b.makeEpoch()
	b.at.Batch = at.Batch
}

func TestBatchesDependOnSeedAndEpoch(t *testing.T) {
	p := randomPairs(800, 12)
	sources := func(seed uint64, at Position) [][]int32 {
		b, err := NewBatches(p, 100, 12, seed)
		if err != nil {
			t.Fatal(err)
		}
		seek(b, at)
		var all [][]int32
		for range 100 {
			var batch model.Batch
			b.Next(&batch)
			all = append(all, batch.Src)
		}
		return all
	}
	same := func(a, b [][]int32) bool { return slices.EqualFunc(a, b, slices.Equal) }
	first := sources(1, Position{})
	if !same(first, sources(1, Position{})) {
		t.Error("equal seeds give different batches")
	}
	if same(first, sources(2, Position{})) || same(first, sources(1, Position{Epoch: 1})) {
		t.Error("different seeds or epochs give equal batches")
	}
}

func TestBatchesSkipPairs(t *testing.T) {
	p := &Pairs{}
	long := slices.Repeat([]int32{5}, 11)
	p.Add(long, []int32{3})
	p.Add([]int32{3}, long)
	p.Add(nil, []int32{3})
	p.Add([]int32{3}, nil)
	p.Add(nil, nil)
	if _, err := NewBatches(p, 11, 10, 1); err == nil {
		t.Error("no usable pair: no error")
	} else {
		wantError(t, err, "of 5, 3 have an empty side and 2 have a side of more than 10 tokens")
	}
	p.Add(long[:10], long[:10])
	b, err := NewBatches(p, 11, 10, 1)
	if err != nil {
		t.Fatal(err)
	}
	if len(b.used) != 1 || b.TooLong != 2 || b.Empty != 3 {
		t.Errorf("used pairs, TooLong, Empty = %d, %d, %d, want 1, 2, 3", len(b.used), b.TooLong, b.Empty)
	}
	_, err = NewBatches(p, 10, 10, 1)
	wantError(t, err, "10 target tokens", "maximum length 10")
}

// With a limit larger than the corpus, the memory is that of the corpus, and the batches do not
// depend on the limit.
func TestBatchesLargerThanTheCorpus(t *testing.T) {
	p := randomPairs(50, 10)
	huge, err := NewBatches(p, math.MaxInt, 10, 5)
	if err != nil {
		t.Fatal(err)
	}
	if limit := 2 * 50 * 11; huge.MaxSrc > limit || huge.MaxTgt > limit {
		t.Errorf("MaxSrc, MaxTgt = %d, %d, want at most %d", huge.MaxSrc, huge.MaxTgt, limit)
	}
	large, err := NewBatches(p, 100_000, 10, 5)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		a, b := huge.buffer(), large.buffer()
		huge.Next(&a)
		large.Next(&b)
		if a.Sentences() != 50 || !slices.Equal(a.Src, b.Src) || !slices.Equal(a.TgtOut, b.TgtOut) {
			t.Errorf("batch of %d sentences, want 50 in the same order with both limits", a.Sentences())
		}
	}
}

// All orders of four elements are equally frequent: with 1000 expected in each of 24 bins, χ²
// with 23 degrees of freedom is below 50 with probability 0.999. The seed is fixed.
func TestShuffleIsUniform(t *testing.T) {
	var random rand.PCG
	random.Seed(1, 2)
	count := map[[4]int]int{}
	for range 24000 {
		x := [4]int{0, 1, 2, 3}
		shuffle(&random, x[:])
		count[x]++
	}
	chi := 0.0
	for _, n := range count {
		chi += float64(n-1000) * float64(n-1000) / 1000
	}
	if len(count) != 24 || chi > 50 {
		t.Errorf("%d orders with χ² = %.1f, want 24 with at most 50", len(count), chi)
	}
}
