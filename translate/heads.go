package translate

import (
	"context"
	"errors"
	"slices"

	"tfm/mat"
	"tfm/model"
	"tfm/model/decode"
	"tfm/text"
	"tfm/text/align"
)

// FoundHeads are the heads of the cross-attention that align best, and how well they do.
type FoundHeads struct {
	Heads decode.AlignHeads

	// Links is the number of target tokens that the statistical alignment links to a source
	// token, in the pairs that the heads were compared with. The others are how many of these
	// tokens have their largest weight at that source token: with Heads, and with all heads of
	// the last layer.
	Links, Agree, AgreeLastLayer int
}

// MaxAlignedPairs is the number of pairs that FindAlignHeads uses; it ignores further ones.
const MaxAlignedPairs = 20_000

// The limits of FindAlignHeads.
const (
	maxAlignedTokens = 100     // of either side; longer pairs are left out
	maxComparedPairs = 500     // pairs that heads are compared with
	maxHeadWeights   = 1 << 25 // weights of all heads and pairs that are compared
	minLinks         = 50
	maxAlignHeads    = 8
	minGain          = 0.005 // of the links, for one head more
)

// FindAlignHeads finds the heads of the cross-attention that agree best with a statistical
// alignment of pairs, for decode.Settings.AlignHeads. The alignment is that of package text/align,
// on up to 20,000 pairs, which should be of the training data; the heads are compared on the first
// 500. The search begins with the head or layer that agrees on most links, with the weights of the
// step that predicts a token or of the next; each further head must add 0.5 % of the links. The
// error is that of ctx or of a language, see ScorePairs, or reports that pairs has too few links.
func (t *Translator) FindAlignHeads(ctx context.Context, pairs []text.Pair) (FoundHeads, error) {
	if err := t.begin(ctx); err != nil {
		return FoundHeads{}, err
	}
	defer t.end()
	var srcs, tgts [][]int32
	var around []affixes // of each pair
	var aligned []align.Pair
	known := affixesByCodes{}
	for _, p := range pairs[:min(len(pairs), MaxAlignedPairs)] {
		if err := ctx.Err(); err != nil {
			return FoundHeads{}, err
		}
		src, a, err := t.encodeSource(known, p.Source)
		if err != nil {
			return FoundHeads{}, err
		}
		words, tgt := src[len(a.Before):len(src)-len(a.After)], t.tokenizers.Target.Encode(nil, p.Target)
		if n := min(t.MaxSource(), maxAlignedTokens) - len(a.Begin); len(words) == 0 || len(tgt) == 0 || len(src) > n || len(tgt) > n {
			continue
		}
		srcs, tgts, around = append(srcs, src), append(tgts, slices.Concat(a.Begin, tgt)), append(around, a)
		aligned = append(aligned, align.Pair{Source: words, Target: tgt})
	}
	s := headSearch{links: align.Pairs(aligned)}
	for layer := range t.config.DecoderLayers {
		for head := range t.config.Heads {
			s.heads = append(s.heads, decode.CrossHead{Layer: layer, Head: head})
		}
	}
	n, weights := 0, 0
	for n < min(len(srcs), maxComparedPairs) && weights < maxHeadWeights {
		weights += len(s.heads) * (len(srcs[n]) + 1) * (len(tgts[n]) + 1)
		n++
	}
	s.links, s.weights = s.links[:n], make([][]mat.Matrix, n)
	for i := range s.weights {
		s.weights[i] = make([]mat.Matrix, len(s.heads))
	}
	err := t.withDecoder(ctx, func(d *decode.Decoder) error {
		return d.CrossAttention(ctx, srcs[:n], tgts[:n], s.heads, func(pair, head int, w mat.Matrix) {
			s.weights[pair][head] = around[pair].textMatrix(w)
		})
	})
	if err != nil {
		return FoundHeads{}, err
	}
	return s.find(t.config)
}

// headSearch compares heads.
type headSearch struct {
	heads   []decode.CrossHead // all
	links   [][]int            // of each pair: the source token of each target token, or -1
	weights [][]mat.Matrix     // of each pair and head
}

func (s *headSearch) find(c model.Config) (found FoundHeads, err error) {
	for _, list := range s.links {
		for _, j := range list {
			if j >= 0 {
				found.Links++
			}
		}
	}
	if found.Links < minLinks {
		return found, errors.New("too few pairs with words that occur in others, expected a part of the training data")
	}
	var starts [][]int // single heads and whole layers
	for i := range s.heads {
		starts = append(starts, []int{i})
	}
	for layer := range c.DecoderLayers {
		var heads []int
		for head := range c.Heads {
			heads = append(heads, layer*c.Heads+head)
		}
		starts = append(starts, heads)
	}
	best := starts[len(starts)-1]
	found.AgreeLastLayer = s.agree(best, false)
	found.Agree = found.AgreeLastLayer
	for _, next := range []bool{false, true} {
		for _, heads := range starts {
			if n := s.agree(heads, next); n > found.Agree {
				found.Agree, found.Heads.Next, best = n, next, heads
			}
		}
	}
	for len(best) < maxAlignHeads {
		gain := -1
		enough := found.Agree + int(minGain*float64(found.Links))
		for i := range s.heads {
			if slices.Contains(best, i) {
				continue
			}
			if n := s.agree(append(best[:len(best):len(best)], i), found.Heads.Next); n > enough {
				enough, gain = n, i
			}
		}
		if gain < 0 {
			break
		}
		found.Agree, best = enough, append(best, gain)
	}
	for _, i := range best {
		found.Heads.Heads = append(found.Heads.Heads, s.heads[i])
	}
	return found, nil
}

// agree returns the number of links at which the mean of heads has its largest weight.
func (s *headSearch) agree(heads []int, next bool) (n int) {
	var mean []float32
	for k, links := range s.links {
		for i, j := range links {
			if j < 0 {
				continue
			}
			row := i
			if next {
				row++
			}
			mean = append(mean[:0], s.weights[k][heads[0]].Row(row)...)
			for _, head := range heads[1:] {
				mat.Add(mean, s.weights[k][head].Row(row))
			}
			if largest(mean[:len(mean)-1]) == j {
				n++
			}
		}
	}
	return n
}

// largest returns the index of the largest of x, the first of equal ones.
func largest(x []float32) int {
	best := 0
	for i, v := range x {
		if v > x[best] {
			best = i
		}
	}
	return best
}
