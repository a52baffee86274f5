package charsmap

// Placer assigns the nodes of a double array, in which the child of a node by byte c has index base
// XOR c, in blocks of 256 nodes. Node 0 is the root. The free nodes form a circular list in
// ascending order, which node 0 begins.
type Placer struct {
	next, prev []uint32 // next[i] is i if node i is not free
	isBase     []bool
}

// NewPlacer returns a Placer of one block. The base 0 is taken.
func NewPlacer() *Placer {
	p := new(Placer)
	p.grow()
	p.isBase[0] = true
	return p
}

// Len returns the number of nodes.
func (p *Placer) Len() int { return len(p.next) }

// grow adds a block of free nodes.
func (p *Placer) grow() {
	start := uint32(p.Len())
	for i := start; i < start+256; i++ {
		p.next, p.prev, p.isBase = append(p.next, 0), append(p.prev, 0), append(p.isBase, false)
		last := p.prev[0]
		p.next[last], p.prev[i] = i, last
		p.next[i], p.prev[0] = 0, i
	}
}

// free reports whether node i is free.
func (p *Placer) free(i uint32) bool { return i != 0 && p.next[i] != i }

// Take takes node i, which is free.
func (p *Placer) Take(i uint32) {
	p.next[p.prev[i]], p.prev[p.next[i]] = p.next[i], p.prev[i]
	p.next[i] = i
}

// Place takes a free node for each label and returns their base, which has no other children. It
// tries up to maxTries free nodes for the first label, then adds a block.
func (p *Placer) Place(labels []byte, maxTries int) uint32 {
	base := uint32(p.Len())
	for f := p.next[0]; f != 0 && maxTries > 0; f, maxTries = p.next[f], maxTries-1 {
		if b := f ^ uint32(labels[0]); p.fits(b, labels) {
			base = b
			break
		}
	}
	if int(base) == p.Len() {
		p.grow()
	}
	p.isBase[base] = true
	for _, c := range labels {
		p.Take(base ^ uint32(c))
	}
	return base
}

// fits reports whether a base has no children and the nodes of labels are free.
func (p *Placer) fits(base uint32, labels []byte) bool {
	if p.isBase[base] {
		return false
	}
	for _, c := range labels {
		if !p.free(base ^ uint32(c)) {
			return false
		}
	}
	return true
}
