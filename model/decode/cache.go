package decode

import (
	"tfm/attn"
	"tfm/mat"
)

// cache holds the keys and values of one layer's self-attention. A slot has those of the tokens of
// one hypothesis. Keys are transposed, so that a product with a query reads them along rows.
// Attention to a cache has the bits of the forward pass over the whole sentence.
type cache struct {
	keys, values         []float32 // [slots × h·d_k × positions], [slots × positions × h·d_v]
	slots, positions     int
	keyWidth, valueWidth int // h·d_k, h·d_v
}

// alloc empties the cache and gives it slots, 1 or more, of keys and values of the given sizes. It
// reuses memory: a slot gets positions positions, or those that fit into the old memory, but at
// least 32.
func (c *cache) alloc(slots int, s attn.Sizes, positions int) {
	c.slots, c.keyWidth, c.valueWidth = slots, s.Heads*s.DK, s.Heads*s.DV
	c.positions = max(32, min(positions, len(c.keys)/(slots*c.keyWidth), len(c.values)/(slots*c.valueWidth)))
	if c.positions*slots*c.keyWidth > len(c.keys) || c.positions*slots*c.valueWidth > len(c.values) {
		c.reallocate()
	}
}

// reallocate allocates new memory for the current sizes.
func (c *cache) reallocate() {
	c.keys, c.values = make([]float32, c.slots*c.keyWidth*c.positions), make([]float32, c.slots*c.positions*c.valueWidth)
}

// grow doubles the number of positions until position t fits, and keeps the cached keys and values.
func (c *cache) grow(t int) {
	if t < c.positions {
		return
	}
	old := *c
	for c.positions <= t {
		c.positions *= 2
	}
	c.reallocate()
	for i := range c.slots {
		k, v := c.slot(i)
		oldK, oldV := old.slot(i)
		for j := range c.keyWidth {
			copy(k.Row(j), oldK.Row(j))
		}
		copy(v.Data, oldV.Data)
	}
}

// slot returns views of the keys [h·d_k × positions] and values [positions × h·d_v] of a slot.
func (c *cache) slot(i int) (keys, values mat.Matrix) {
	k, v := c.keyWidth*c.positions, c.valueWidth*c.positions
	return mat.Of(c.keys[i*k:][:k], c.keyWidth, c.positions), mat.Of(c.values[i*v:][:v], c.positions, c.valueWidth)
}

// copySlot copies the first n positions of slot from to slot to.
func (c *cache) copySlot(to, from, n int) {
	k, v := c.slot(from)
	toK, toV := c.slot(to)
	for i := range c.keyWidth {
		copy(toK.Row(i)[:n], k.Row(i)[:n])
	}
	copy(toV.Data[:n*c.valueWidth], v.Data[:n*c.valueWidth])
}

// sourceKV holds the keys and values of one layer's cross-attention for all sources. Begin computes
// them; every step reads them.
type sourceKV struct {
	kv   mat.Matrix // [m × (h·d_k + h·d_v)]
	keys mat.Matrix // [h·d_k × m] transposed
}

// compute computes the keys and values of l from the encoder's output, memory [m × d].
func (s *sourceKV) compute(p *mat.Pool, l *attn.Cross, memory mat.Matrix) {
	l.KV.Forward(p, s.kv, memory)
	mat.Transpose(p, s.keys, s.kv.ColRange(0, s.keys.Rows))
}
