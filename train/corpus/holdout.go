package corpus

// holdout chooses the pairs of a corpus that are held out for validation, evenly spread: 500, up to
// 1,000 of a large corpus, because the BLEU of fewer varies by points; 5% of a small one, because
// training needs the others. The choice depends on the number of pairs only, so that a resumed run
// holds out the same pairs.
type holdout struct{ every, count int }

// newHoldout returns the holdout of a corpus of the given number of pairs.
func newHoldout(pairs int) holdout {
	count := min(pairs/20, max(500, min(pairs/100, 1000)))
	if count == 0 {
		return holdout{}
	}
	return holdout{pairs / count, count}
}

// HeldOut returns the number of pairs that Read holds out from a corpus without validation pairs.
func HeldOut(pairs int) int { return newHoldout(pairs).count }

// has reports whether pair i, counted from 0, is held out.
func (h holdout) has(i int) bool {
	return h.count > 0 && i%h.every == h.every-1 && i/h.every < h.count
}
