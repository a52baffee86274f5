package corpus

import (
	"math"
	"unicode/utf8"

	"tfm/text/script"
)

// Side describes the sentences of one side of a corpus.
type Side struct {
	Characters int64 // Unicode code points, without line endings

	// Of a sample of the pairs, drawn by their positions: 4,096 to 8,192, or all of fewer.
	SampledCharacters int64
	Letters           [script.Count]int64 // letters by script
}

// Share returns the share of the letters that are of the given scripts, from 0 to 1.
func (s *Side) Share(scripts ...script.Script) float64 {
	var n, all int64
	for _, c := range s.Letters {
		all += c
	}
	for _, class := range scripts {
		n += s.Letters[class]
	}
	return float64(n) / float64(max(all, 1))
}

// Unspaced reports whether most letters are of scripts without spaces between words.
func (s *Side) Unspaced() bool {
	var unspaced []script.Script
	for class := range script.Count {
		if !class.Spaced() {
			unspaced = append(unspaced, class)
		}
	}
	return s.Share(unspaced...) > 0.5
}

// sideCounter makes a Side and the profile of its sampled sentences.
type sideCounter struct {
	Side
	profile profile
}

// profile counts the bigrams of the characters of sentences, by the codes of both characters. It
// characterizes a language.
type profile [codes * codes]uint32

const (
	codes = 64

	// The codes of characters: gap, then the letters of ASCII without case, then the letters
	// above ASCII in classes by hash.
	gap        = 0 // white space, digits, punctuation, start and end of the sentence
	asciiCodes = 27
)

// sample adds a sentence of n characters to the sample.
func (c *sideCounter) sample(s string, n int) {
	last := gap
	for _, r := range s {
		code := gap
		if class := script.Of(r); class != script.None {
			c.Letters[class]++
			code = asciiCodes + int(uint32(r)*0x9E3779B1>>16)%(codes-asciiCodes)
			if r < utf8.RuneSelf {
				code = 1 + int(r|0x20-'a')
			}
		}
		c.profile[last*codes+code]++
		last = code
	}
	c.profile[last*codes+gap]++
	c.SampledCharacters += int64(n)
}

// halve halves the counts of the sample.
func (c *sideCounter) halve() {
	c.SampledCharacters /= 2
	for i := range c.Letters {
		c.Letters[i] /= 2
	}
	for i := range c.profile {
		c.profile[i] /= 2
	}
}

// similarity returns the cosine similarity of two profiles, from 0 to 1. Pairs of gaps do not
// count.
func similarity(p, q *profile) float64 {
	var pq, pp, qq float64
	for i := 1; i < len(p); i++ {
		a, b := float64(p[i]), float64(q[i])
		pq += float64(a * b)
		pp += float64(a * a)
		qq += float64(b * b)
	}
	if pp == 0 || qq == 0 {
		return 0
	}
	return pq / math.Sqrt(float64(pp*qq))
}
