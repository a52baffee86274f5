package augment

import (
	"math/rand/v2"
	"strings"
	"unicode"

	"tfm/text"
)

func upperCase(_ *Modifier, _ *rand.Rand, p *text.Pair) {
	p.Source, p.Target = upper(p.Source), upper(p.Target)
}

// upper returns s in capitals. unicode has none for ß.
func upper(s string) string { return strings.ToUpper(strings.ReplaceAll(s, "ß", "SS")) }

// titleCase makes the first letter of each word a capital.
func titleCase(_ *Modifier, _ *rand.Rand, p *text.Pair) {
	p.Source, p.Target = title(p.Source), title(p.Target)
}

func title(s string) string {
	first := true
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			first = true
		case first && unicode.IsLetter(r):
			r, first = unicode.ToTitle(r), false
		}
		return r
	}, s)
}

// removeEndPunctuation removes the punctuation that ends the sentences, if both have one and a
// word.
func removeEndPunctuation(_ *Modifier, _ *rand.Rand, p *text.Pair) {
	src, srcEnds := cutEnd(p.Source)
	tgt, tgtEnds := cutEnd(p.Target)
	if srcEnds && tgtEnds {
		p.Source, p.Target = src, tgt
	}
}

// cutEnd returns s without the punctuation at its end, and whether it has both punctuation and
// other text.
func cutEnd(s string) (rest string, ends bool) {
	s = strings.TrimRight(s, " ")
	without := strings.TrimRight(s, endPunctuation)
	return strings.TrimRight(without, " "), len(without) < len(s) && strings.TrimSpace(without) != ""
}

// endPunctuation ends sentences.
const endPunctuation = ".!?…。！？؟۔।॥։።؛"
