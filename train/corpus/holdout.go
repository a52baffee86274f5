package corpus

import "math"

// maxHeldOut is the limit of the pairs that are held out.
const maxHeldOut = 1000

// MaxHeldOut returns the number of pairs that Read holds out of a corpus without validation pairs,
// unless fewer have no near-duplicates: 500, up to 1,000 of a large corpus, because the BLEU of
// fewer varies by points; 5% of a small one, because training needs the others.
func MaxHeldOut(pairs int) int { return min(pairs/20, max(500, min(pairs/100, maxHeldOut))) }

// heldOutOf returns the number of pairs that Read holds out of each source of a Mix, or of the one
// text: in the shares of the last stage, as many as the source with the largest share can spare.
func (s *Survey) heldOutOf() []int {
	n := MaxHeldOut(s.Pairs)
	mix, pairs := s.Train.Mix()
	if mix == nil {
		return []int{n}
	}
	shares := mix.Stages[len(mix.Stages)-1].shares(pairs)
	for i, s := range mix.Sources {
		if s.TrainOnly {
			shares[i] = 0
		}
	}
	shares = Stage{Shares: shares}.shares(nil)
	largest := 0
	for i, share := range shares {
		if share > shares[largest] {
			largest = i
		}
	}
	if !(shares[largest] > 0) { // no source gives pairs
		return make([]int, len(shares))
	}
	most := min(float64(n), float64(MaxHeldOut(pairs[largest]))/shares[largest])
	counts := make([]int, len(shares))
	for i, share := range shares {
		counts[i] = min(int(math.Round(most*share)), MaxHeldOut(pairs[i]))
	}
	return counts
}
