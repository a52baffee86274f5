package corpus

// maxHeldOut is the limit of the pairs that are held out.
const maxHeldOut = 1000

// MaxHeldOut returns the number of pairs that Read holds out of a corpus without validation pairs,
// unless fewer have no near-duplicates: 500, up to 1,000 of a large corpus, because the BLEU of
// fewer varies by points; 5% of a small one, because training needs the others.
func MaxHeldOut(pairs int) int { return min(pairs/20, max(500, min(pairs/100, maxHeldOut))) }
