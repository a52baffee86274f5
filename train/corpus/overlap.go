package corpus

import "tfm/train"

// Overlap counts validation pairs whose text is also in the training pairs.
type Overlap struct {
	Pairs   int // both sides, as one training pair
	Sources int // the source, whatever its translation
	Targets int // the target
}

// overlap finds hashes of validation pairs among those of training pairs.
type overlap struct {
	valid  [][3]uint64 // the hashes of each pair, its source and its target
	tables [3]foundHashes
}

// foundHashes are hashes, and which of them were found.
type foundHashes struct {
	table hashTable
	found []bool // by slot
}

// addValid adds a validation pair. All of them must be added before the training pairs.
func (o *overlap) addValid(h [3]uint64) { o.valid = append(o.valid, h) }

// addTrain adds a training pair.
func (o *overlap) addTrain(h [3]uint64) {
	if len(o.valid) == 0 {
		return
	}
	for i := range o.tables {
		t := &o.tables[i]
		if t.table == nil {
			t.table = newHashTable(len(o.valid))
			t.found = make([]bool, len(t.table))
			for _, v := range o.valid {
				t.table[t.table.slot(v[i])] = v[i]
			}
		}
		if slot := t.table.slot(h[i]); t.table[slot] != 0 {
			t.found[slot] = true
		}
	}
}

// count returns the overlap.
func (o *overlap) count() Overlap {
	var n [3]int
	for i, t := range o.tables {
		for _, v := range o.valid {
			if t.table != nil && t.found[t.table.slot(v[i])] {
				n[i]++
			}
		}
	}
	return Overlap{n[0], n[1], n[2]}
}

// overlapOf returns the overlap of pairs in memory. Equal ids mean equal texts.
func overlapOf(valid, training *train.Pairs) Overlap {
	var o overlap
	hashes := func(p *train.Pairs, i int) [3]uint64 {
		source, target := hashIDs(p.Src(i)), hashIDs(p.Tgt(i))
		return [3]uint64{hashPair(source, target), source, target}
	}
	for i := range valid.Len() {
		o.addValid(hashes(valid, i))
	}
	for i := range training.Len() {
		o.addTrain(hashes(training, i))
	}
	return o.count()
}

// hashIDs returns a hash of ids.
func hashIDs(ids []int32) uint64 {
	h := uint64(len(ids))
	for _, id := range ids {
		h = mix(h ^ uint64(uint32(id)))
	}
	return h
}
