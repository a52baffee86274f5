package corpus

import "math"

// maxHeldOut is the limit of the pairs that are held out.
const maxHeldOut = 1000

// MaxHeldOut returns the number of pairs that Read holds out of a corpus without validation pairs,
// unless fewer have no near-duplicates: 500, up to 1,000 of a large corpus, because the BLEU of
// fewer varies by points; 5% of a small one, because training needs the others.
func MaxHeldOut(pairs int) int { return min(pairs/20, max(500, min(pairs/100, maxHeldOut))) }

// heldOutOf returns the number of pairs that Read holds out of each dataset of a Mix, or of the one
// text. Those of a mix are in the shares of its last stage, as many as each dataset can spare.
// Where these are fewer than minBLEUPairs, the datasets that can spare more give more.
func (s *Survey) heldOutOf() []int {
	mix, pairs := s.Train.Mix()
	if mix == nil {
		return []int{MaxHeldOut(s.Pairs)}
	}
	shares := mix.Stages[len(mix.Stages)-1].shares(pairs)
	for i, s := range mix.Datasets {
		if s.TrainOnly || MaxHeldOut(pairs[i]) == 0 {
			shares[i] = 0
		}
	}
	shares = Stage{Shares: shares}.shares(nil)
	most := float64(MaxHeldOut(s.Pairs))
	for i, share := range shares {
		if share > 0 {
			most = min(most, float64(MaxHeldOut(pairs[i]))/share)
		}
	}
	most = max(most, minBLEUPairs)
	counts := make([]int, len(shares))
	for i, share := range shares {
		if share > 0 {
			counts[i] = min(int(math.Round(most*share)), MaxHeldOut(pairs[i]))
		}
	}
	return counts
}
