package attn

import (
	"tfm/layer"
	"tfm/mat"
)

// Cache holds the keys and values that one Self layer has computed for the tokens so far of a number of
// sentences in the making, its slots. Keys are stored transposed, so that a query meets them along rows.
// A result read from a cache has the same bits as the forward pass over the whole sentence. A Cache is not for
// concurrent use.
type Cache struct {
	keys, values     []float32 // [slots × h·d_k × positions], [slots × positions × h·d_v]
	slots, positions int
	dk, dv           int // of all heads together
}

// Reserve empties the cache and makes room for slots, 1 or more, of keys and values of these sizes: for as many
// positions as the memory that is already there can hold, up to most, or for a few. Self.Step makes more when it needs
// them.
func (c *Cache) Reserve(slots int, s Sizes, most int) {
	c.slots, c.dk, c.dv = slots, s.keys(), s.values()
	c.positions = max(32, min(most, len(c.keys)/(slots*c.dk), len(c.values)/(slots*c.dv)))
	if c.positions*slots*c.dk > len(c.keys) || c.positions*slots*c.dv > len(c.values) {
		c.allocate()
	}
}

func (c *Cache) allocate() {
	c.keys, c.values = make([]float32, c.slots*c.dk*c.positions), make([]float32, c.slots*c.positions*c.dv)
}

// grow doubles the number of positions until position t fits, and keeps what is cached.
func (c *Cache) grow(t int) {
	if t < c.positions {
		return
	}
	old := *c
	for c.positions <= t {
		c.positions *= 2
	}
	c.allocate()
	for slot := range c.slots {
		k, v := c.slot(slot)
		oldK, oldV := old.slot(slot)
		for i := range c.dk {
			copy(k.Row(i), oldK.Row(i))
		}
		copy(v.Data, oldV.Data)
	}
}

// slot views the keys [h·d_k × positions] and values [positions × h·d_v] of one slot.
func (c *Cache) slot(i int) (keys, values mat.Matrix) {
	k, v := c.dk*c.positions, c.dv*c.positions
	return mat.Of(c.keys[i*k:][:k], c.dk, c.positions), mat.Of(c.values[i*v:][:v], c.positions, c.dv)
}

// Copy makes slot to a copy of the first n positions of slot from. It panics on slots and positions that were not
// made room for.
func (c *Cache) Copy(to, from, n int) {
	k, v := c.slot(from)
	toK, toV := c.slot(to)
	for i := range c.dk {
		copy(toK.Row(i)[:n], k.Row(i)[:n])
	}
	copy(toV.Data[:n*c.dv], v.Data[:n*c.dv])
}

// Step is Forward for one new token in each of n sentences, all at position t: row i of x [n × d] belongs to
// slots[i], whose cache holds positions 0 to t-1 and gets t. The slots must differ.
func (l Self) Step(p *mat.Pool, y mat.Matrix, st SelfState, x mat.Matrix, c *Cache, slots []int32, t int) {
	c.grow(t)
	l.QKV.Forward(p, st.QKV, x)
	mat.Each(p, x.Rows, 1, selfStep{l.Sizes, st, c, slots, t})
	l.Out.Forward(p, y, st.Ctx)
}

type selfStep struct {
	Sizes
	st    SelfState
	c     *Cache
	slots []int32
	t     int
}

func (s *selfStep) Range(lo, hi int) {
	for i := lo; i < hi; i++ {
		in := s.split(s.st.QKV.RowRange(i, i+1))
		keys, values := s.c.slot(int(s.slots[i]))
		for j, k := range in.K.Row(0) {
			keys.Row(j)[s.t] = k
		}
		copy(values.Row(s.t), in.V.Row(0))
		query(s.st.Ctx.RowRange(i, i+1), in.Q, keys.ColRange(0, s.t+1), values.RowRange(0, s.t+1), s.Heads)
	}
}

// query sets ctx [n × h·d_v] for queries q [n × h·d_k], transposed keys [h·d_k × m] and values [m × h·d_v], head by head.
func query(ctx, q, keys, values mat.Matrix, heads int) {
	room := rooms.Get().(*room)
	defer rooms.Put(room)
	w := matrix(&room.weights, q.Rows, keys.Cols)
	dk, dv := q.Cols/heads, values.Cols/heads
	for h := range heads {
		k0, k1, v0, v1 := h*dk, (h+1)*dk, h*dv, (h+1)*dv
		mat.Gemm(nil, w, q.ColRange(k0, k1), keys.RowRange(k0, k1), mat.GemmOptions{})
		for i := range w.Rows {
			mat.Softmax(w.Row(i), w.Row(i), scaleOf(dk))
		}
		mat.Gemm(nil, ctx.ColRange(v0, v1), w, values.ColRange(v0, v1), mat.GemmOptions{})
	}
}

// Memory holds the keys and values of one Cross layer for the encoder's output of a batch: computed once, read
// at every step.
type Memory struct {
	kv     mat.Matrix // [m × (h·d_k + h·d_v)]
	keys   mat.Matrix // [h·d_k × m], transposed
	starts []int32
}

// NewMemory takes room for m source tokens, whose sentences begin at starts.
func (s Sizes) NewMemory(a *layer.Arena, m int, starts []int32) Memory {
	return Memory{a.Matrix(m, s.keys()+s.values()), a.Matrix(s.keys(), m), starts}
}

// Fill computes the keys and values of memory [m × d] in l.
func (m Memory) Fill(p *mat.Pool, l Cross, memory mat.Matrix) {
	l.KV.Forward(p, m.kv, memory)
	mat.Transpose(p, m.keys, m.kv.ColRange(0, m.keys.Rows))
}

// Step is Forward for the newest token of n sentences in the making: row i of x [n × d] attends to the source
// sentences[i]. Rows of one source stand together.
func (l Cross) Step(p *mat.Pool, y mat.Matrix, st CrossState, x mat.Matrix, m Memory, sentences []int32) {
	l.Q.Forward(p, st.Q, x)
	mat.Each(p, x.Rows, 1, crossStep{st, m, sentences, l.Heads})
	l.Out.Forward(p, y, st.Ctx)
}

type crossStep struct {
	st        CrossState
	m         Memory
	sentences []int32
	heads     int
}

func (s *crossStep) Range(lo, hi int) {
	for i := lo; i < hi; i++ {
		from, to := int(s.m.starts[s.sentences[i]]), int(s.m.starts[s.sentences[i]+1])
		values := s.m.kv.Slice(from, to, s.m.keys.Rows, s.m.kv.Cols)
		query(s.st.Ctx.RowRange(i, i+1), s.st.Q.RowRange(i, i+1), s.m.keys.ColRange(from, to), values, s.heads)
	}
}
