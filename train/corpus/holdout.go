package corpus

import "tfm/text/clean"

// maxHeldOut is the limit of the pairs that are held out.
const maxHeldOut = 1000

// MaxHeldOut returns the number of pairs that Read holds out of a corpus without validation pairs,
// unless fewer have no near-duplicates: 500, up to 1,000 of a large corpus, because the BLEU of
// fewer varies by points; 5% of a small one, because training needs the others.
func MaxHeldOut(pairs int) int { return min(pairs/20, max(500, min(pairs/100, maxHeldOut))) }

// heldOut is the set of the pairs that are held out, by their index in the corpus.
type heldOut map[int]bool

// newHeldOut returns the set of the pairs of h, which may be nil.
func newHeldOut(h *clean.HeldOut) heldOut {
	set := heldOut{}
	if h != nil {
		for _, p := range h.Pairs {
			set[p.Line-1] = true
		}
	}
	return set
}
