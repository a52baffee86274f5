package corpus

// Overlap counts validation pairs whose text is also in the training pairs.
type Overlap struct {
	Pairs   int // both sides, as one training pair
	Sources int // the source, whatever its translation
	Targets int // the target
}

// overlap finds hashes of validation pairs among those of training pairs.
type overlap struct {
	valid [][3]uint64        // the hashes of each pair, its source and its target
	found [3]map[uint64]bool // whether each of these hashes was found
}

// addValid adds a validation pair. All of them must be added before the training pairs.
func (o *overlap) addValid(h [3]uint64) {
	o.valid = append(o.valid, h)
	for i := range o.found {
		if o.found[i] == nil {
			o.found[i] = map[uint64]bool{}
		}
		o.found[i][h[i]] = false
	}
}

// addTrain adds a training pair.
func (o *overlap) addTrain(h [3]uint64) {
	for i, found := range o.found {
		if _, ok := found[h[i]]; ok {
			found[h[i]] = true
		}
	}
}

// count returns the overlap.
func (o *overlap) count() Overlap {
	var n [3]int
	for i, found := range o.found {
		for _, v := range o.valid {
			if found[v[i]] {
				n[i]++
			}
		}
	}
	return Overlap{n[0], n[1], n[2]}
}
