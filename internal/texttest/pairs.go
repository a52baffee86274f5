package texttest

import (
	"math/rand/v2"
	"strings"
)

// Pairs returns n invented sentences of 3 to 20 words, and their translations word by word into
// another invented language. No sentence repeats. Smaller n give the first ones.
func Pairs(n int) (source, target []string) {
	rng := rand.New(rand.NewPCG(3, 4))
	const types = 4000
	words := func(syllables string) []string {
		s := strings.Fields(syllables)
		words := make([]string, types)
		for i := range words {
			for range 1 + rng.IntN(4) {
				words[i] += s[rng.IntN(len(s))]
			}
		}
		return words
	}
	from, to := words("ka to mi re su no la po vi hu de be"), words("schr ein und gül ört pfa ach ung zwi eck")
	seen := map[string]bool{}
	for len(source) < n {
		var s, t []string
		for range 3 + rng.IntN(18) {
			u := rng.Float64()
			w := int(u * u * types)
			s, t = append(s, from[w]), append(t, to[w])
		}
		if line := strings.Join(s, " ") + "."; !seen[line] {
			seen[line] = true
			source, target = append(source, line), append(target, strings.Join(t, " ")+".")
		}
	}
	return source, target
}
