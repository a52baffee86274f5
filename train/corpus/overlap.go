package corpus

// Overlap counts validation pairs whose text is also in the training pairs.
type Overlap struct {
	Pairs   int // both sides, as one training pair
	Sources int // the source, whatever its translation
}

// pairHashes are the hashes of a pair and of its source.
type pairHashes struct{ pair, source uint64 }

// overlap finds hashes of validation pairs among those of training pairs. It must be made by
// newOverlap.
type overlap struct {
	valid []pairHashes
	found map[uint64]bool // whether each hash of valid was found
}

func newOverlap() *overlap { return &overlap{found: map[uint64]bool{}} }

// addValid adds a validation pair. All of them must be added before the training pairs.
func (o *overlap) addValid(h pairHashes) {
	o.valid = append(o.valid, h)
	o.found[h.pair], o.found[h.source] = false, false
}

// addTrain adds a training pair.
func (o *overlap) addTrain(h pairHashes) {
	for _, x := range [2]uint64{h.pair, h.source} {
		if _, ok := o.found[x]; ok {
			o.found[x] = true
		}
	}
}

// count returns the overlap.
func (o *overlap) count() (n Overlap) {
	for _, v := range o.valid {
		if o.found[v.pair] {
			n.Pairs++
		}
		if o.found[v.source] {
			n.Sources++
		}
	}
	return n
}
