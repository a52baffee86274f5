package train

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"

	"tfm/model"
)

// Batches divides pairs into ragged batches with a limit of tokens. There is no padding. The pairs
// are a corpus or one window of it. Each epoch
//
//   - shuffles the pairs,
//   - sorts them by length within groups of about batchesPerSort batches, alternately ascending and
//     descending, so that lengths are similar across group boundaries; pairs of equal lengths stay
//     shuffled,
//   - splits the list of pairs into batches as each is full, and moves pairs from the last but one
//     to the last batch until their sizes are about equal,
//   - shuffles the batches.
//
// An epoch depends only on the pairs, the limits, the seed, and the numbers of epoch and window, so
// that a Position is sufficient to continue from a batch. Only NewBatches allocates. A Batches is
// not safe for concurrent use.
type Batches struct {
	MaxSrc, MaxTgt int // limits of the tokens in a batch, with EOS
	MaxSentences   int // limit of the sentences in a batch
	TooLong, Empty int // pairs skipped for a side over the length limit, or for an empty side

	pairs    *Pairs
	source   model.SourceLayout
	seed     uint64
	at       Position
	used     []int32  // pairs that are not skipped
	order    []int32  // pairs of this epoch, batch by batch
	bounds   []span   // of each batch of this epoch in order
	sortKeys []uint64 // workspace of sort
}

// Position is a position in the training data: the windows before Window of epoch Epoch and the
// first Batch batches of this window have been used.
type Position struct {
	Epoch  int `json:"epoch"`
	Window int `json:"window,omitempty"` // 0 if all pairs are in memory
	Batch  int `json:"batch"`
}

// span is a range [lo, hi) of a slice.
type span struct{ lo, hi int32 }

// batchesPerSort is the approximate number of batches in a sorted group. It is large enough for
// batches of similar lengths and small enough for different batches in every epoch.
const batchesPerSort = 32

// NewBatches returns the batches of epoch 0, of sources that end with EOS. A batch has at most
// tokens target tokens and 3/2·tokens source tokens, with one EOS per sentence. Pairs with a side
// of more than maxLen tokens or with an empty side are skipped and counted. NewBatches fails if no
// pair remains, or if a sentence of maxLen tokens does not fit in a batch.
func NewBatches(p *Pairs, tokens, maxLen int, seed uint64) (*Batches, error) {
	return newBatches(p, model.EOSLast, tokens, maxLen, seed)
}

// newBatches is NewBatches for a model with another layout of the sources.
func newBatches(p *Pairs, source model.SourceLayout, tokens, maxLen int, seed uint64) (*Batches, error) {
	if err := checkBatch(tokens, maxLen); err != nil {
		return nil, err
	}
	b := &Batches{pairs: p, source: source, seed: seed}
	shortest, src, tgt := b.selectPairs(maxLen)
	if len(b.used) == 0 {
		return nil, noPairsError(p.Len(), b.Empty, b.TooLong, maxLen)
	}
	b.setLimits(min(tokens, max(src, tgt))) // saves memory if the corpus is smaller than a batch
	b.MaxSentences = min(b.MaxTgt/(shortest+1), len(b.used))
	b.alloc()
	b.makeEpoch()
	return b, nil
}

func checkBatch(tokens, maxLen int) error {
	if maxLen < 1 || tokens < maxLen+1 {
		return fmt.Errorf("train: batches of %d target tokens, expected at least %d: a sentence of the maximum length %d and EOS", tokens, maxLen+1, maxLen)
	}
	return nil
}

func noPairsError(pairs, empty, tooLong, maxLen int) error {
	return fmt.Errorf("train: no usable pairs: of %d, %d have an empty side and %d have a side of more than %d tokens", pairs, empty, tooLong, maxLen)
}

// selectPairs chooses the pairs that are not skipped. It returns the length of the shortest target
// and the numbers of tokens, with EOS.
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
			srcTokens += src + b.source.Marks()
			tgtTokens += tgt + 1
		}
	}
	return shortest, srcTokens, tgtTokens
}

// setLimits sets the limits of a batch with the given number of target tokens.
func (b *Batches) setLimits(tokens int) { b.MaxSrc, b.MaxTgt = tokens+tokens/2, tokens }

// alloc allocates the memory of an epoch of the used pairs.
func (b *Batches) alloc() {
	total := 0 // target tokens that fill as much of a batch as the pairs do
	for _, i := range b.used {
		pair := b.sizeOf(i)
		// In total a source token counts MaxTgt/MaxSrc, about 2/3, of a target token.
		total += max(pair.tgt, (pair.src*b.MaxTgt+b.MaxSrc-1)/b.MaxSrc)
	}
	n := len(b.used)
	b.order = slices.Grow(b.order[:0], n)[:n]
	group := 1
	if n > 0 {
		group = min(max(int(int64(batchesPerSort)*int64(b.MaxTgt)*int64(n)/int64(total)), 1), n)
	}
	b.sortKeys = slices.Grow(b.sortKeys[:0], group)[:group]
	// Two consecutive batches together exceed the limit of one, so that there are at most twice
	// as many batches as full batches.
	b.bounds = slices.Grow(b.bounds[:0], 2*total/b.MaxTgt+2)
}

// Len returns the number of batches of the current epoch.
func (b *Batches) Len() int { return len(b.bounds) }

// clone returns a Batches of the same pairs with its own memory.
func (b *Batches) clone() *Batches {
	c := *b
	c.order, c.bounds, c.sortKeys = slices.Clone(b.order), make([]span, 0, cap(b.bounds)), slices.Clone(b.sortKeys)
	return &c
}

// Next fills dst with the next batch. After the last batch of an epoch comes the first of the next.
func (b *Batches) Next(dst *model.Batch) {
	if b.at.Batch == len(b.bounds) {
		b.at = Position{Epoch: b.at.Epoch + 1}
		b.makeEpoch()
	}
	b.fill(dst)
}

// fill fills dst with the next batch of this epoch.
func (b *Batches) fill(dst *model.Batch) {
	dst.Reset()
	bounds := b.bounds[b.at.Batch]
	for _, i := range b.order[bounds.lo:bounds.hi] {
		dst.Append(b.pairs.Src(int(i)), b.pairs.Tgt(int(i)))
	}
	b.at.Batch++
}

// buffer returns an empty batch with memory for any batch of b.
func (b *Batches) buffer() model.Batch {
	return newBatch(b.source, b.MaxSrc, b.MaxTgt, b.MaxSentences)
}

func newBatch(source model.SourceLayout, src, tgt, sentences int) (b model.Batch) {
	b.Source = source
	b.Grow(src, tgt, sentences)
	return b
}

// makeEpoch computes the batches of epoch b.at.Epoch and window b.at.Window.
func (b *Batches) makeEpoch() {
	var random rand.PCG
	random.Seed(b.seed, uint64(b.at.Epoch)|uint64(b.at.Window)<<32)
	copy(b.order, b.used)
	shuffle(&random, b.order)
	descending := false
	for group := range slices.Chunk(b.order, len(b.sortKeys)) {
		b.sort(group, descending)
		descending = !descending
	}
	b.split()
	shuffle(&random, b.bounds)
}

// sort sorts a group by target length, then source length, then index in the group.
func (b *Batches) sort(group []int32, descending bool) {
	keys := b.sortKeys[:len(group)]
	for k, i := range group {
		length := uint64(min(b.pairs.tgt.length(int(i)), 0xffff))<<16 | uint64(min(b.pairs.src.length(int(i)), 0xffff))
		if descending {
			length ^= 0xffffffff
		}
		keys[k] = length<<32 | uint64(k)
	}
	slices.Sort(keys)
	for k, key := range keys {
		keys[k] = uint64(group[uint32(key)]) // replaces the key, because group is still read
	}
	for k, i := range keys { // the pairs in their new order
		group[k] = int32(i)
	}
}

// split divides the order of pairs into batches.
func (b *Batches) split() {
	b.bounds = b.bounds[:0]
	if len(b.order) == 0 {
		return
	}
	var lo int32
	var previous, last batchSize // of the last two batches
	for k, i := range b.order {
		pair := b.sizeOf(i)
		if sum := last.plus(pair); sum.src > b.MaxSrc || sum.tgt > b.MaxTgt {
			b.bounds = append(b.bounds, span{lo, int32(k)})
			lo, previous, last = int32(k), last, batchSize{}
		}
		last = last.plus(pair)
	}
	b.bounds = append(b.bounds, span{lo, int32(len(b.order))})
	if len(b.bounds) == 1 {
		return
	}
	a, z := &b.bounds[len(b.bounds)-2], &b.bounds[len(b.bounds)-1]
	for { // move pairs from the last but one batch to the last until their sizes are about equal
		pair := b.sizeOf(b.order[z.lo-1])
		previous, last = batchSize{previous.src - pair.src, previous.tgt - pair.tgt}, last.plus(pair)
		if last.tgt > previous.tgt || last.src > b.MaxSrc {
			return
		}
		a.hi--
		z.lo--
	}
}

// batchSize holds the numbers of tokens of a pair, a batch or a step, with BOS and EOS.
type batchSize struct{ src, tgt int }

func (b *Batches) sizeOf(i int32) batchSize {
	return batchSize{b.pairs.src.length(int(i)) + b.source.Marks(), b.pairs.tgt.length(int(i)) + 1}
}

func (l batchSize) plus(m batchSize) batchSize { return batchSize{l.src + m.src, l.tgt + m.tgt} }

// shuffle shuffles x (Fisher and Yates). With a random 64-bit u, ⌊n·u/2^64⌋ is a random number
// below n.
func shuffle[T any](random *rand.PCG, x []T) {
	for n := len(x); n > 1; n-- {
		j, _ := bits.Mul64(uint64(n), random.Uint64())
		x[n-1], x[j] = x[j], x[n-1]
	}
}
