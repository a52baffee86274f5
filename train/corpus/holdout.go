package corpus

// holdOut says which pairs of a corpus are held out for validation: one in a hundred, evenly
// spread, at most 1,000. It is a function of the number of pairs alone, so that a resumed run holds
// out the same ones.
type holdOut struct{ every, count int }

func holdOutOf(pairs int) holdOut {
	count := min(pairs/100, 1000)
	if count == 0 {
		return holdOut{}
	}
	return holdOut{pairs / count, count}
}

// has reports whether pair i, counted from 0, is held out.
func (h holdOut) has(i int) bool {
	return h.count > 0 && i%h.every == h.every-1 && i/h.every < h.count
}
