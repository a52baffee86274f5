package train

import (
	"tfm/internal/exact"
	"tfm/model"
)

// tokenCounts are the tokens of an epoch, with EOS and without the skipped pairs.
type tokenCounts struct {
	src, tgt int
	byID     []int // target tokens
}

// add adds the pairs of b.
func (c *tokenCounts) add(b *Batches, tgtVocab int) {
	if c.byID == nil {
		c.byID = make([]int, tgtVocab)
	}
	for _, i := range b.used {
		tgt := b.pairs.Tgt(int(i))
		for _, id := range tgt {
			c.byID[id]++
		}
		c.byID[model.EOS]++
		c.src += b.pairs.src.length(int(i)) + b.source.Marks()
		c.tgt += len(tgt) + 1
	}
}

// entropy returns the entropy of the frequencies of the target pieces, -Σ_v p_v·ln p_v nats per
// token: the NLL of a model that knows only these frequencies.
func (c *tokenCounts) entropy() float64 {
	sum := 0.0 // Σ n·ln n
	for _, n := range c.byID {
		if n > 0 {
			sum += float64(float64(n) * exact.Log(float64(n)))
		}
	}
	return exact.Log(float64(c.tgt)) - sum/float64(c.tgt)
}
