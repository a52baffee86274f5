package layer

import "runtime"

// Part is the part of a batch that a thread is at work on, from 0.
type Part struct{ Number int32 }

// Share makes ps, declared as of is, a view of it for a thread that takes parts of a batch forward and backward while other threads
// take others: it has the weights and gradients of of, and all such views together add to each gradient in the order of
// the parts. So every gradient is the same sum, in the same order, as if the parts came one after another. A part waits for
// those before it, so they must be begun in order, and each must visit every parameter once. Of must have been allocated; it
// may be shared by several goroutines at once.
func (ps *Params) Share(of *Params, part *Part) {
	ps.W, ps.G = of.W, of.G
	for i, p := range ps.List {
		p.W, p.G = of.List[i].W, of.List[i].G
		if of.turns != nil {
			p.part, p.turn = part, &of.turns[i]
		}
	}
}

// FirstPart is to be called before the first part of a batch, when no part is on its way.
func (ps *Params) FirstPart() {
	for i := range ps.turns {
		ps.turns[i].Store(0)
	}
}

// await returns when it is this part's turn to add to the gradient, and to what else is added to along with it.
func (p *Param) await() {
	if p.part == nil {
		return
	}
	for p.turn.Load() != p.part.Number {
		runtime.Gosched()
	}
}

// added gives the turn to the next part.
func (p *Param) added() {
	if p.part == nil {
		return
	}
	p.await()
	p.turn.Add(1)
}
