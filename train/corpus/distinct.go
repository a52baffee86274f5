package corpus

import "maps"

// distinct counts distinct hashes in bounded memory: the hashes whose first bits are 0, as many
// bits as keep their number below maxDistinct (Bar-Yossef et al. 2002, "Counting Distinct Elements
// in a Data Stream", algorithm 2). The zero value is ready to use.
type distinct struct {
	hashes map[uint64]bool
	bits   int // first bits that are 0
}

// maxDistinct is the number of distinct hashes up to which their count is exact. Above it about
// half as many or more are in the map, so that the standard deviation of the count is about 1.5 %.
const maxDistinct = 1 << 13

// add adds a hash.
func (d *distinct) add(h uint64) {
	if h>>(64-d.bits) != 0 {
		return
	}
	if d.hashes == nil {
		d.hashes = map[uint64]bool{}
	}
	d.hashes[h] = true
	for len(d.hashes) > maxDistinct {
		d.bits++
		maps.DeleteFunc(d.hashes, func(h uint64, _ bool) bool { return h>>(64-d.bits) != 0 })
	}
}

// count returns the number of distinct hashes.
func (d *distinct) count() int { return len(d.hashes) << d.bits }
