package profile

import (
	"math"
	"math/bits"
)

// MaxLanguages is the limit of the languages of one script.
const MaxLanguages = 128

// Dim is the number of elements of a vector.
const Dim = 16

// Model has the profiles of languages. It is immutable and safe for concurrent use.
type Model struct {
	Languages []Language // sorted by script
	Grams     []uint32   // hashes, ascending
	Vectors   [][Dim]int8

	// Slopes are factors of the scores by the binary logarithm of the number of n-grams, so that
	// the probabilities are those of the held-out texts.
	Slopes [16]float32

	// Bucket b has the n-grams from firsts[b] to firsts[b+1] whose hashes begin with b. lasts are
	// the remaining bits.
	firsts [1<<bucketBits + 1]uint16
	lasts  []uint8
}

// Language is a language with a profile.
type Language struct {
	Tag     string // of BCP 47
	Script  Script
	Weights [Dim]int16
	Bias    int16
}

// Units of the integers.
const (
	WeightUnit = 1.0 / (1 << 14)
	BiasUnit   = 1.0 / (1 << 8)
)

const bucketBits, lastBits = 16, HashBits - 16

// Prepare sets the buckets from Grams.
func (m *Model) Prepare() {
	m.lasts = make([]uint8, len(m.Grams))
	b := 0
	for i, h := range m.Grams {
		for ; b <= int(h>>lastBits); b++ {
			m.firsts[b] = uint16(i)
		}
		m.lasts[i] = uint8(h & (1<<lastBits - 1))
	}
	for ; b < len(m.firsts); b++ {
		m.firsts[b] = uint16(len(m.Grams))
	}
}

// Sum returns the sum of the vectors of a text's n-grams in a script, and their number.
func (m *Model) Sum(text string, s Script) (sum [Dim]int32, n int) {
	words := NewWords(text, s)
	for hashes := words.Next(); hashes != nil; hashes = words.Next() {
		for _, h := range hashes {
			b := h >> lastBits
			last := uint8(h & (1<<lastBits - 1))
			for i := int(m.firsts[b]); i < int(m.firsts[b+1]); i++ {
				if m.lasts[i] == last {
					for j, x := range &m.Vectors[i] {
						sum[j] += int32(x)
					}
					n++
					break
				}
			}
		}
	}
	return sum, n
}

// Score returns the score of a language for the sum of n vectors: the logarithm of its
// probability, up to a summand that all languages have.
func (m *Model) Score(l *Language, sum *[Dim]int32, n int) float64 {
	dot := int64(0)
	for i, w := range &l.Weights {
		dot += int64(w) * int64(sum[i])
	}
	return float64(m.Slopes[Slope(n)]) * (float64(float64(dot)*WeightUnit/math.Sqrt(float64(n))) + float64(float64(l.Bias)*BiasUnit))
}

// Slope returns the index of the slope for n n-grams.
func Slope(n int) int { return min(bits.Len(uint(n)), len(Model{}.Slopes)) - 1 }
