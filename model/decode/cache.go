package decode

import (
	"tfm/attn"
	"tfm/mat"
)

// cache holds the keys and values of one layer's self-attention for the tokens that each of a
// number of hypotheses, its slots, has so far. Keys are stored transposed, so that a query reads
// them along rows. What attention computes from a cache has the bits of the forward pass over the
// whole sentence.
type cache struct {
	keys, values     []float32 // [slots × h·d_k × positions], [slots × positions × h·d_v]
	slots, positions int
	dk, dv           int // of all heads together
}

// alloc empties the cache and makes room for slots, 1 or more, of keys and values of these
// sizes: for as many positions as the memory that is already there can hold, up to most, or for a
// few.
func (c *cache) alloc(slots int, s attn.Sizes, maxPositions int) {
	c.slots, c.dk, c.dv = slots, s.Heads*s.DK, s.Heads*s.DV
	c.positions = max(32, min(maxPositions, len(c.keys)/(slots*c.dk), len(c.values)/(slots*c.dv)))
	if c.positions*slots*c.dk > len(c.keys) || c.positions*slots*c.dv > len(c.values) {
		c.reallocate()
	}
}

// reallocate takes new memory.
func (c *cache) reallocate() {
	c.keys, c.values = make([]float32, c.slots*c.dk*c.positions), make([]float32, c.slots*c.positions*c.dv)
}

// grow doubles the number of positions until position t fits, and keeps what is cached.
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
		for j := range c.dk {
			copy(k.Row(j), oldK.Row(j))
		}
		copy(v.Data, oldV.Data)
	}
}

// slot views the keys [h·d_k × positions] and values [positions × h·d_v] of one slot.
func (c *cache) slot(i int) (keys, values mat.Matrix) {
	k, v := c.dk*c.positions, c.dv*c.positions
	return mat.Of(c.keys[i*k:][:k], c.dk, c.positions), mat.Of(c.values[i*v:][:v], c.positions, c.dv)
}

// copySlot makes slot to a copySlot of the first n positions of slot from.
func (c *cache) copySlot(to, from, n int) {
	k, v := c.slot(from)
	toK, toV := c.slot(to)
	for i := range c.dk {
		copy(toK.Row(i)[:n], k.Row(i)[:n])
	}
	copy(toV.Data[:n*c.dv], v.Data[:n*c.dv])
}

// sourceKV holds the keys and values of one layer's cross-attention for all sources: computed once,
// read at every step.
type sourceKV struct {
	kv   mat.Matrix // [m × (h·d_k + h·d_v)]
	keys mat.Matrix // [h·d_k × m] transposed
}

// compute computes the keys and values of the encoder's output memory [m × d] in l.
func (s *sourceKV) compute(p *mat.Pool, l *attn.Cross, memory mat.Matrix) {
	l.KV.Forward(p, s.kv, memory)
	mat.Transpose(p, s.keys, s.kv.ColRange(0, s.keys.Rows))
}
