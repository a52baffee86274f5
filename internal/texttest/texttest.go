// Package texttest generates text for the tests of the text packages. It imports only the standard
// library.
package texttest

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Lines returns n lines of invented words, distributed like those of a language: few frequent and
// many rare words, full stops and numbers. Equal n give equal lines.
func Lines(n int) []string {
	rng := rand.New(rand.NewPCG(1, 2))
	syllables := strings.Fields("an be ci do el fa gu hi ja ko lü mo na öl pe qui ra sch te un vor wei xi yo zu ß 中 文 да не")
	types := make([]string, 20000)
	for i := range types {
		for range 1 + rng.IntN(2+i/3000) {
			types[i] += syllables[rng.IntN(len(syllables))]
		}
	}
	lines := make([]string, n)
	for i := range lines {
		words := make([]string, 5+rng.IntN(15))
		for j := range words {
			u := rng.Float64()
			words[j] = types[int(u*u*u*float64(len(types)))]
			if rng.IntN(30) == 0 {
				words[j] = fmt.Sprint(rng.IntN(3000))
			}
		}
		lines[i] = strings.Join(words, " ") + "."
	}
	return lines
}
