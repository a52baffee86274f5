package bench

import (
	"math"
	"math/rand/v2"

	"tfm/model"
	"tfm/train"
)

// Length is the number of tokens of each side of a pair, with EOS.
type Length struct{ Src, Tgt int }

// Captions returns the lengths of 29,000 pairs, distributed like those of Multi30k's training set
// in English and German under a joint BPE of 8,000 pieces. There the logarithms of the lengths are
// approximately normal, with means of log 14.5 and log 14.7, standard deviations of 0.29 and 0.33
// and a correlation of 0.86; the lengths are 4 to 53.
func Captions() []Length {
	r := rand.New(rand.NewPCG(30, 1))
	length := func(log float64) int { return min(max(int(math.Round(math.Exp(log))), 4), 53) }
	all := make([]Length, 29000)
	for i := range all {
		a, b := r.NormFloat64(), r.NormFloat64()
		all[i] = Length{length(2.672 + 0.295*a), length(2.685 + 0.325*(0.858*a+0.513*b))}
	}
	return all
}

// pairsOf returns pairs of random tokens with the given lengths.
func pairsOf(lengths []Length, vocab int) *train.Pairs {
	r, pairs := rand.New(rand.NewPCG(1, 1)), new(train.Pairs)
	for _, l := range lengths {
		pairs.Add(tokens(r, l.Src, vocab), tokens(r, l.Tgt, vocab))
	}
	return pairs
}

// tokens returns n-1 random ids: a sentence of n tokens without its EOS.
func tokens(r *rand.Rand, n, vocab int) []int32 {
	ids := make([]int32, n-1)
	for i := range ids {
		ids[i] = int32(model.EOS + 1 + r.IntN(vocab-model.EOS-1))
	}
	return ids
}
