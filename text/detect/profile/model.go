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
	packed []packed // Vectors
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

// Prepare sets the buckets and the packed vectors from Grams and Vectors.
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
	m.packed = make([]packed, len(m.Vectors))
	for i := range m.Vectors {
		m.packed[i] = pack(&m.Vectors[i])
	}
}

// packed is a vector as bytes, element i+8j as byte i of word j, each increased by packedZero.
type packed [2]uint64

const packedZero = 128

func pack(v *[Dim]int8) (p packed) {
	for i, x := range v {
		p[i/8] |= uint64(int(x)+packedZero) << (8 * (i % 8))
	}
	return p
}

// packedSum adds up packed vectors in words of 4 elements: the even and the odd elements of a word.
type packedSum [2][2]uint64

// maxPacked is the limit of the vectors of a packedSum, so that its elements have 16 bits.
const maxPacked = 256

// addTo adds p, of n vectors, to a sum.
func (p *packedSum) addTo(sum *[Dim]int32, n int) {
	for i := range sum {
		sum[i] += int32(p[i/8][i%2]>>(8*(i%8&^1))&0xFFFF) - int32(n*packedZero)
	}
}

// Sum returns the sum of the vectors of a text's n-grams in a script, and their number.
func (m *Model) Sum(text string, s Script) (sum [Dim]int32, n int) {
	const even = 0x00FF00FF00FF00FF
	var p packedSum
	packed := 0 // vectors in p
	words := NewWords(text, s)
	for hashes := words.Next(); hashes != nil; hashes = words.Next() {
		for _, h := range hashes {
			b := h >> lastBits
			last := uint8(h & (1<<lastBits - 1))
			for i := int(m.firsts[b]); i < int(m.firsts[b+1]); i++ {
				if m.lasts[i] != last {
					continue
				}
				v := &m.packed[i]
				p[0][0] += v[0] & even
				p[0][1] += v[0] >> 8 & even
				p[1][0] += v[1] & even
				p[1][1] += v[1] >> 8 & even
				if packed++; packed == maxPacked {
					p.addTo(&sum, packed)
					n += packed
					p, packed = packedSum{}, 0
				}
				break
			}
		}
	}
	p.addTo(&sum, packed)
	return sum, n + packed
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
