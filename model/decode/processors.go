package decode

import (
	"math"
	"math/rand/v2"
	"slices"

	"tfm/model"
)

// The logits of a row go through a chain of processors. mask changes them in place, because a step
// never reads the masked ones; the others write their own buffers:
//
//	logits → mask → penalizeRepetition → the distribution of the next token
//	                                   → suppress → the logits of tokens that may be selected
//
// The constraint cannot be asked about all tokens, so it is the last processor, one token at a
// time: partial.allows.

// rowIDs are the token ids of the logits of a row, ascending; nil if logit i is that of id i.
type rowIDs []int32

// id returns the id of logit i.
func (ids rowIDs) id(i int) int32 {
	if ids == nil {
		return int32(i)
	}
	return ids[i]
}

// index returns the index of the logit of id, and whether the row has it.
func (ids rowIDs) index(id int32) (int, bool) {
	if ids == nil {
		return int(id), true
	}
	return slices.BinarySearch(ids, id)
}

// choice holds the logits of a row after all processors.
type choice struct {
	*partial               // the hypothesis and its constraint
	ids        rowIDs      // of the logits
	logits     []float32   // of the distribution; -Inf for Pad and BOS
	selectable []float32   // logits, but -Inf for suppressed pieces; it may be logits
	buffers    *rowBuffers // for a source of candidates
}

// rowBuffers holds the outputs of the processors for one row, and the workspace of the sources of
// candidates.
type rowBuffers struct {
	penalized, selectable []float32
	exps                  []float32
	draws                 draws
}

// process returns the logits of a row after the processors. It masks logits. penalty is that of
// repetitions, 1 for none.
func (b *rowBuffers) process(logits []float32, ids rowIDs, p *partial, penalty float64, suppressed []int32) choice {
	n := len(logits)
	c := choice{partial: p, buffers: b, ids: ids, logits: logits}
	mask(logits, ids)
	if penalty != 1 {
		penalized := floats(&b.penalized, n)
		penalizeRepetition(penalized, c.logits, ids, p.history(), float32(penalty))
		c.logits = penalized
	}
	if c.selectable = c.logits; len(suppressed) > 0 {
		c.selectable = floats(&b.selectable, n)
		suppress(c.selectable, c.logits, ids, suppressed)
	}
	return c
}

// mask removes Pad and BOS, which cannot follow a hypothesis, from logits. It copies nothing,
// because a copy of all logits takes a noticeable part of a step of many rows.
func mask(logits []float32, ids rowIDs) {
	for i := 0; i < len(logits) && ids.id(i) <= model.BOS; i++ {
		logits[i] = float32(math.Inf(-1))
	}
}

// penalizeRepetition sets dst to logits that make tokens less probable (Keskar et al. 2019, "CTRL",
// section 4.1): it divides a positive logit by penalty and multiplies a negative one.
func penalizeRepetition(dst, logits []float32, ids rowIDs, tokens []int32, penalty float32) {
	copy(dst, logits)
	for i, id := range tokens {
		k, ok := ids.index(id)
		if !ok || slices.Contains(tokens[:i], id) {
			continue
		}
		switch x := &dst[k]; {
		case *x > 0:
			*x /= penalty
		default:
			*x *= penalty
		}
	}
}

// suppress sets dst to logits without the suppressed pieces, see Settings. They keep their
// share of the softmax, which has logits.
func suppress(dst, logits []float32, ids rowIDs, suppressed []int32) {
	copy(dst, logits)
	for _, id := range suppressed {
		if i, ok := ids.index(id); ok {
			dst[i] = float32(math.Inf(-1))
		}
	}
}

// isForced reports whether the constraint leaves only a few tokens. If all of these are suppressed,
// they are selected nevertheless, so that the constraint can be satisfied.
func (p *partial) isForced() bool { return p.only != nil }

// draws is the workspace of draws.
type draws struct {
	probs   []float32
	allowed []float32   // logits, -Inf for forbidden tokens
	choices []candidate // what to draw from; LogP is its probability, Token its index in the logits
	random  rand.ChaCha8
}
