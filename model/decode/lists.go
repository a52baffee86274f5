package decode

import (
	"sync"

	"tfm/layer"
	"tfm/mat"
)

// outputList is the list of a source: the pieces that may follow its hypotheses. A logit is one
// chain over a column of the output projection, or one exact sum, so that of a piece has the same
// bits whether those of all pieces are computed or not.
type outputList struct {
	ids []int32

	isGathered bool   // columns is set
	columns    linear // the output projection of ids, [d × len(ids)]
	bias       layer.Param
	bytes      int // memory of columns
}

// outputLists holds the memory of lists for the next sources.
type outputLists struct {
	free []*outputList

	mu    sync.Mutex // guards bytes and, while a step runs, free
	bytes int        // memory of the columns of all lists
}

// maxListBytes limits the memory of the columns of all lists: 128 lists of a thousand pieces in
// float32 of the paper's base model. Further lists are not gathered.
const maxListBytes = 256 << 20

// get returns a list that is not gathered.
func (o *outputLists) get() *outputList {
	n := len(o.free)
	if n == 0 {
		return &outputList{ids: []int32{}}
	}
	l := o.free[n-1]
	o.free = o.free[:n-1]
	l.isGathered = false
	return l
}

// put makes the memory of a list, which may be nil, available to get.
func (o *outputLists) put(l *outputList) {
	if l != nil {
		o.free = append(o.free, l)
	}
}

// reserve reports whether the columns of l may have the given number of bytes, if those of all
// lists are limited to maxBytes. It frees lists that are not in use if necessary.
func (o *outputLists) reserve(l *outputList, bytes, maxBytes int) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	growth := max(0, bytes-l.bytes)
	if o.bytes+growth > maxBytes {
		for _, unused := range o.free {
			o.bytes -= unused.bytes
		}
		clear(o.free)
		o.free = o.free[:0]
	}
	if o.bytes+growth > maxBytes {
		return false
	}
	l.bytes, o.bytes = l.bytes+growth, o.bytes+growth
	return true
}

// gather sets l.columns to the columns of output.
func (l *outputList) gather(p *mat.Pool, output *linear) {
	if l.columns.weightMatrix == nil {
		l.columns.weightMatrix = &weightMatrix{packed: new(mat.Packed)}
		if output.int8 != nil {
			l.columns.weightMatrix = &weightMatrix{int8: new(mat.Int8)}
		}
	}
	if output.int8 != nil {
		l.columns.int8.Gather(p, output.int8, l.ids)
	} else {
		l.columns.packed.Gather(p, output.packed, l.ids)
	}
	l.columns.bias = nil // l may have been another model's
	if all := output.biases(); all != nil {
		l.columns.bias, l.bias.W = &l.bias, l.bias.W[:0]
		for _, id := range l.ids {
			l.bias.W = append(l.bias.W, all[id])
		}
	}
}
