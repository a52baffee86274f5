package corpus

import "tfm/text/script"

// Side describes the sentences of one side of a corpus.
type Side struct {
	Characters int64 // Unicode code points, without line endings

	// Letters by script of a sample of the pairs, drawn by their positions: 4,096 to 8,192, or
	// all of fewer.
	Letters [script.Count]int64
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

// sample adds a sentence to the sample.
func (s *Side) sample(sentence string) {
	for _, r := range sentence {
		if class := script.Of(r); class != script.None {
			s.Letters[class]++
		}
	}
}

// halve halves the counts of the sample.
func (s *Side) halve() {
	for i := range s.Letters {
		s.Letters[i] /= 2
	}
}
