package bench

import (
	"bufio"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"

	"tfm/model"
	"tfm/train"
)

// Length is the tokens of a pair, the end mark of each side counted.
type Length struct{ Src, Tgt int }

// Equal is so many pairs of the same lengths.
func Equal(pairs, src, tgt int) []Length {
	all := make([]Length, pairs)
	for i := range all {
		all[i] = Length{src, tgt}
	}
	return all
}

// Captions is 29,000 pairs as long as those of Multi30k's training set in English and German, cut by a joint BPE of 8,000 pieces: there
// the logarithms of the two lengths are about normal, around 14.5 and 14.7 tokens with deviations of 0.29 and 0.33 and a
// correlation of 0.86, and the lengths themselves are 4 to 53.
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

// ReadLengths reads them from a file, one pair a line: the tokens of the source, white space, the tokens of the target.
func ReadLengths(path string) ([]Length, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all []Length
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var l Length
		if n, _ := fmt.Sscan(lines.Text(), &l.Src, &l.Tgt); n != 2 || len(strings.Fields(lines.Text())) != 2 {
			return nil, fmt.Errorf("%s:%d: found %.40q, expected two numbers, the lengths of a source and a target", path, len(all)+1, lines.Text())
		}
		if most := train.DefaultOptions().MaxLen + 1; l.Src < 2 || l.Tgt < 2 || l.Src > most || l.Tgt > most {
			return nil, fmt.Errorf("%s:%d: lengths of %d and %d tokens, expected 2 to %d, the end mark counted", path, len(all)+1, l.Src, l.Tgt, most)
		}
		all = append(all, l)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: no lengths", path)
	}
	return all, nil
}

// pairsOf are pairs of these lengths, of tokens drawn from a vocabulary.
func pairsOf(lengths []Length, vocab int) *train.Pairs {
	r, pairs := rand.New(rand.NewPCG(1, 1)), new(train.Pairs)
	for _, l := range lengths {
		pairs.Add(tokens(r, l.Src, vocab), tokens(r, l.Tgt, vocab))
	}
	return pairs
}

// tokens draws a sentence of n tokens, whose last is the end mark and left out.
func tokens(r *rand.Rand, n, vocab int) []int32 {
	ids := make([]int32, n-1)
	for i := range ids {
		ids[i] = int32(model.EOS + 1 + r.IntN(vocab-model.EOS-1))
	}
	return ids
}
