package train

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"

	"tfm/model"
)

// Batches cuts pairs into batches of at most so many tokens, which are all real, because nothing is
// padded. The pairs are a corpus, or the window of it that is in memory. Each epoch
//
//   - shuffles the pairs,
//   - sorts them by length within groups of about batchesPerSort batches, in which pairs of equal
//     lengths stay shuffled, one group ascending and the next one descending, so that neighbours
//     have similar lengths across groups too,
//   - cuts the list of pairs where a batch is full; the rest at the end shares its pairs evenly
//     with the batch before it, so that no batch is tiny unless the corpus is,
//   - shuffles the batches.
//
// An epoch depends on the pairs, the limits, the seed and the numbers of epoch and window alone, so
// that a Position is all that is needed to go on from a batch. Nothing is allocated after
// NewBatches. Not for concurrent use.
type Batches struct {
	MaxSrc, MaxTgt int // most tokens of a batch, with EOS
	MaxSentences   int // most sentences of a batch
	TooLong, Empty int // pairs left out for a side over the limit, or an empty one

	pairs  *Pairs
	seed   uint64
	at     Position
	used   []int32  // the pairs that are not left out
	order  []int32  // the pairs of this epoch, batch by batch
	bounds []span   // of this epoch's batches in order
	keys   []uint64 // of the group being sorted
}

// Position is a place in the training data: Batch batches of window Window of epoch Epoch have been
// used, and all windows before it.
type Position struct {
	Epoch  int `json:"epoch"`
	Window int `json:"window,omitempty"` // 0 if all pairs are in memory
	Batch  int `json:"batch"`
}

// span is the elements [lo, hi) of a slice.
type span struct{ lo, hi int32 }

// batchesPerSort is about the number of batches of a sorted group: enough for batches of similar
// lengths, few enough for other batches in every epoch.
const batchesPerSort = 32

// NewBatches prepares the batches of epoch 0, of at most tokens target tokens and 1½ times as many
// source tokens, with one EOS for each sentence. Pairs with a side of more than maxLen tokens or
// with an empty side are left out and counted. It is an error if no pair remains, or if a sentence
// of maxLen tokens does not fit in a batch.
func NewBatches(p *Pairs, tokens, maxLen int, seed uint64) (*Batches, error) {
	if err := checkBatch(tokens, maxLen); err != nil {
		return nil, err
	}
	b := &Batches{pairs: p, seed: seed}
	shortest, src, tgt := b.selectPairs(maxLen)
	if len(b.used) == 0 {
		return nil, noPairsError(p.Len(), b.Empty, b.TooLong, maxLen)
	}
	b.setLimits(min(tokens, max(src, tgt))) // memory for no more than all pairs
	b.MaxSentences = min(b.MaxTgt/(shortest+1), len(b.used))
	b.alloc()
	b.makeEpoch()
	return b, nil
}

func checkBatch(tokens, maxLen int) error {
	if maxLen < 1 || tokens < maxLen+1 {
		return fmt.Errorf("train: batches of %d target tokens cannot hold a sentence of the longest length, %d and its end", tokens, maxLen)
	}
	return nil
}

func noPairsError(of, empty, tooLong, maxLen int) error {
	return fmt.Errorf("train: no pairs to use: of %d, %d have an empty side and %d are longer than %d tokens", of, empty, tooLong, maxLen)
}

// selectPairs finds the pairs that are not left out. It returns the length of their shortest
// target, and their tokens.
func (b *Batches) selectPairs(maxLen int) (shortest, srcTokens, tgtTokens int) {
	b.used, b.Empty, b.TooLong = b.used[:0], 0, 0
	shortest = maxLen
	for i := range b.pairs.Len() {
		src, tgt := b.pairs.src.length(i), b.pairs.tgt.length(i)
		switch {
		case src == 0 || tgt == 0:
			b.Empty++
		case src > maxLen || tgt > maxLen:
			b.TooLong++
		default:
			b.used = append(b.used, int32(i))
			shortest = min(shortest, tgt)
			srcTokens += src + 1
			tgtTokens += tgt + 1
		}
	}
	return shortest, srcTokens, tgtTokens
}

func (b *Batches) setLimits(tokens int) { b.MaxSrc, b.MaxTgt = tokens+tokens/2, tokens }

// alloc allocates memory for the batches of the used pairs.
func (b *Batches) alloc() {
	total := 0
	for _, i := range b.used {
		pair := b.load(i)
		total += max(pair.tgt, (pair.src*b.MaxTgt+b.MaxSrc-1)/b.MaxSrc)
	}
	n := len(b.used)
	b.order = slices.Grow(b.order[:0], n)[:n]
	group := 1
	if n > 0 {
		group = min(max(int(int64(batchesPerSort)*int64(b.MaxTgt)*int64(n)/int64(total)), 1), n)
	}
	b.keys = slices.Grow(b.keys[:0], group)[:group]
	// Two neighbouring batches have more tokens than one may have, so there are at most twice as
	// many as full ones.
	b.bounds = slices.Grow(b.bounds[:0], 2*total/b.MaxTgt+2)
}

// Len returns the number of batches of the current epoch.
func (b *Batches) Len() int { return len(b.bounds) }

// Pairs returns the number of pairs of an epoch.
func (b *Batches) Pairs() int { return len(b.used) }

// Position returns the place of the next batch.
func (b *Batches) Position() Position { return b.at }

// Seek goes to a place, which is an error if there is no such place.
func (b *Batches) Seek(at Position) error {
	if at.Epoch < 0 || at.Batch < 0 {
		return fmt.Errorf("train: there is no batch %d of epoch %d", at.Batch, at.Epoch)
	}
	if at.Epoch != b.at.Epoch {
		b.at.Epoch = at.Epoch
		b.makeEpoch()
	}
	if at.Batch > len(b.bounds) {
		return fmt.Errorf("train: epoch %d has %d batches, not %d", at.Epoch, len(b.bounds), at.Batch)
	}
	b.at.Batch = at.Batch
	return nil
}

// clone returns a second Batches of the same pairs.
func (b *Batches) clone() *Batches {
	c := *b
	c.order, c.bounds, c.keys = slices.Clone(b.order), make([]span, 0, cap(b.bounds)), slices.Clone(b.keys)
	return &c
}

// Next fills dst with the next batch. The last batch of an epoch is followed by the first of the
// next.
func (b *Batches) Next(dst *model.Batch) {
	if b.at.Batch == len(b.bounds) {
		b.at = Position{Epoch: b.at.Epoch + 1}
		b.makeEpoch()
	}
	b.fill(dst)
}

func (b *Batches) fill(dst *model.Batch) {
	dst.Reset()
	cut := b.bounds[b.at.Batch]
	for _, i := range b.order[cut.lo:cut.hi] {
		dst.Append(b.pairs.Src(int(i)), b.pairs.Tgt(int(i)))
	}
	b.at.Batch++
}

// buffer returns an empty batch with memory for any batch of b.
func (b *Batches) buffer() model.Batch { return newBatch(b.MaxSrc, b.MaxTgt, b.MaxSentences) }

func newBatch(src, tgt, sentences int) model.Batch {
	tokens := func(n int) []int32 { return make([]int32, 0, n) }
	return model.Batch{
		Src: tokens(src), SrcStarts: tokens(sentences + 1),
		TgtIn: tokens(tgt), TgtOut: tokens(tgt), TgtStarts: tokens(sentences + 1),
	}
}

// makeEpoch makes the batches of epoch b.at.Epoch, of the window b.at.Window.
func (b *Batches) makeEpoch() {
	var random rand.PCG
	random.Seed(b.seed, uint64(b.at.Epoch)|uint64(b.at.Window)<<32)
	copy(b.order, b.used)
	shuffle(&random, b.order)
	down := false
	for group := range slices.Chunk(b.order, len(b.keys)) {
		b.sort(group, down)
		down = !down
	}
	b.split()
	shuffle(&random, b.bounds)
}

// sort sorts a group by target length, then source length, then place in the group.
func (b *Batches) sort(group []int32, down bool) {
	keys := b.keys[:len(group)]
	for at, i := range group {
		length := uint64(min(b.pairs.tgt.length(int(i)), 0xffff))<<16 | uint64(min(b.pairs.src.length(int(i)), 0xffff))
		if down {
			length ^= 0xffffffff
		}
		keys[at] = length<<32 | uint64(at)
	}
	slices.Sort(keys)
	for at, key := range keys {
		keys[at] = uint64(group[uint32(key)])
	}
	for at, i := range keys {
		group[at] = int32(i)
	}
}

// split cuts the order of pairs into batches.
func (b *Batches) split() {
	b.bounds = b.bounds[:0]
	if len(b.order) == 0 {
		return
	}
	var lo int32
	var full, last load
	for at, i := range b.order {
		pair := b.load(i)
		if sum := last.plus(pair); sum.src > b.MaxSrc || sum.tgt > b.MaxTgt {
			b.bounds = append(b.bounds, span{lo, int32(at)})
			lo, full, last = int32(at), last, load{}
		}
		last = last.plus(pair)
	}
	b.bounds = append(b.bounds, span{lo, int32(len(b.order))})
	if len(b.bounds) == 1 {
		return
	}
	before, rest := &b.bounds[len(b.bounds)-2], &b.bounds[len(b.bounds)-1]
	for { // move pairs from the last full batch to the rest until they are alike
		pair := b.load(b.order[rest.lo-1])
		full, last = load{full.src - pair.src, full.tgt - pair.tgt}, last.plus(pair)
		if last.tgt > full.tgt || last.src > b.MaxSrc {
			return
		}
		before.hi--
		rest.lo--
	}
}

// load is the number of tokens of a pair or a batch, with EOS.
type load struct{ src, tgt int }

func (b *Batches) load(i int32) load {
	return load{b.pairs.src.length(int(i)) + 1, b.pairs.tgt.length(int(i)) + 1}
}

func (l load) plus(m load) load { return load{l.src + m.src, l.tgt + m.tgt} }

// shuffle shuffles x (Fisher and Yates); ⌊n·u/2^64⌋ is a random number below n.
func shuffle[T any](random *rand.PCG, x []T) {
	for n := len(x); n > 1; n-- {
		j, _ := bits.Mul64(uint64(n), random.Uint64())
		x[n-1], x[j] = x[j], x[n-1]
	}
}
