package layer

import (
	"runtime"
	"sync/atomic"

	"tfm/mat"
)

// Part is the part of a batch that a thread is at work on, from 0.
type Part struct{ Number int32 }

// Share makes ps, declared as of is, a view of it for a thread that takes parts of a batch forward and backward while other threads
// take others: it has the weights and gradients of of, and all such views together add to each gradient in the order of
// the parts. So every gradient is the same sum, in the same order, as if the parts came one after another. A part waits for
// those before it, so they must be begun in order, and each must visit every parameter once. Of must have been allocated; it
// may be shared by several goroutines at once.
func (ps *Params) Share(of *Params, part *Part) {
	ps.W, ps.G = of.W, of.G
	turns := of.turns
	for i, p := range ps.List {
		p.W, p.G = of.List[i].W, of.List[i].G
		if turns != nil {
			n := p.blocks()
			p.part, p.turns, turns = part, turns[:n], turns[n:]
		}
	}
}

// FirstPart is to be called before the first part of a batch, when no part is on its way.
func (ps *Params) FirstPart() {
	for i := range ps.turns {
		ps.turns[i].Store(0)
	}
}

// turnRows is how many rows of a matrix have one turn: few, so that no part waits for another's whole product with the
// largest, that of the embeddings; and enough for products to be at their speed.
const turnRows = 2048

// blocks is how many turns the gradient has, one after another.
func (p *Param) blocks() int {
	if len(p.Shape) == 1 {
		return 1
	}
	return (p.Shape[0] + turnRows - 1) / turnRows
}

// newTurns are those of all parameters.
func (ps *Params) newTurns() []atomic.Int32 {
	n := 0
	for _, p := range ps.List {
		n += p.blocks()
	}
	return make([]atomic.Int32, n)
}

// await returns when it is this part's turn to add to a block of the gradient, and to what else is added to along with it.
func (p *Param) await(block int) {
	if p.part == nil {
		return
	}
	for p.turns[block].Load() != p.part.Number {
		runtime.Gosched()
	}
}

// added gives the turn to the next part.
func (p *Param) added(block int) {
	if p.part == nil {
		return
	}
	p.await(block)
	p.turns[block].Add(1)
}

// addProduct adds xᵀ·dy to the gradient of a matrix for x [n × rows] and dy [n × columns], block by block, as their turns come. If this
// is the last that the part adds, each turn goes on to the next part at once.
func (p *Param) addProduct(pool *mat.Pool, x, dy mat.Matrix, r Precision, last bool) {
	g, xt := p.Grad(), x.T()
	for block := range p.blocks() {
		lo, hi := block*turnRows, min((block+1)*turnRows, g.Rows)
		p.await(block)
		r.gemm(pool, g.RowRange(lo, hi), xt.RowRange(lo, hi), dy, Add)
		if last {
			p.added(block)
		}
	}
}
