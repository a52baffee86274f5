package decode

import "math"

// suppress sets the logits of the suppressed pieces of a row to -Inf, so that no search selects
// them; see model.Decoding. restore undoes it before the softmax.
func (s *search) suppress(row int, logits []float32) {
	ids := s.suppressed(row)
	if len(ids) == 0 {
		return
	}
	hidden := s.hidden[row*s.maxSuppressed:][:len(ids)]
	for i, id := range ids {
		hidden[i], logits[id] = logits[id], float32(math.Inf(-1))
	}
}

// restore restores the logits that suppress has changed.
func (s *search) restore(row int, logits []float32) {
	ids := s.suppressed(row)
	if len(ids) == 0 {
		return
	}
	for i, x := range s.hidden[row*s.maxSuppressed:][:len(ids)] {
		logits[ids[i]] = x
	}
}

// suppressed returns the suppressed pieces of a row, different ids.
func (s *search) suppressed(row int) []int32 {
	return s.sentences[s.owners[row].sentence].request.suppressed
}

// isForced reports whether a Constraint leaves a row only a few tokens. If all of these are
// suppressed, they are selected nevertheless, so that the Constraint can be satisfied.
func (s *search) isForced(row int) bool { return s.partials[row].only != nil }
