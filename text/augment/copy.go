package augment

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"unicode"
	"unicode/utf8"

	"tfm/text"
)

// alphabets are the ranges of random characters: letters of scripts, symbols, and emoji, without
// marks that combine.
var alphabets = [][2]rune{
	{'a', 'z'}, {'A', 'Z'}, {'0', '9'}, {'à', 'ö'}, {'α', 'ρ'}, {'а', 'я'}, {'\u05D0', '\u05EA'}, {'\u0627', '\u063A'}, {'अ', 'औ'}, {'あ', 'ん'}, {'一', '鿋'}, {'가', '힣'},
	{'←', '⇿'}, {'∀', '⋿'}, {'■', '◿'}, {'☀', '☿'}, {'✀', '❗'}, emoji,
}

var emoji = [2]rune{'😀', '🙄'}

// within draws a character of a range.
func within(r *rand.Rand, of [2]rune) rune { return of[0] + rune(r.IntN(int(of[1]-of[0])+1)) }

// noise returns a word of random characters of one alphabet.
func noise(m *Modifier, r *rand.Rand) string {
	alphabet := alphabets[r.IntN(len(alphabets))]
	word := make([]rune, m.between(r, "word_length"))
	for i := range word {
		word[i] = within(r, alphabet)
	}
	return string(word)
}

// copied inserts a sign that stays as it is into both sides: after a word that both sides have
// once, or else at the begin or the end.
func copied(m *Modifier, r *rand.Rand, p *text.Pair) {
	s := sign(m, r)
	src, tgt, shared := sharedWord(p)
	switch where := r.IntN(4); {
	case shared && where > 0:
		p.Source, p.Target = p.Source[:src]+" "+s+p.Source[src:], p.Target[:tgt]+" "+s+p.Target[tgt:]
	case where < 2:
		p.Source, p.Target = s+" "+p.Source, s+" "+p.Target
	default:
		p.Source, p.Target = p.Source+" "+s, p.Target+" "+s
	}
}

// sign draws an emoji, a placeholder of a program's messages, a code, an address, or random
// characters.
func sign(m *Modifier, r *rand.Rand) string {
	letters := func(n int) string {
		s := make([]rune, n)
		for i := range s {
			s[i] = within(r, alphabets[0])
		}
		return string(s)
	}
	switch r.IntN(6) {
	case 0:
		return strings.Repeat(string(within(r, emoji)), 1+r.IntN(2))
	case 1:
		return []string{"%s", "%d", "%1$s", "%(" + letters(5) + ")s", "{" + letters(4) + "}", fmt.Sprintf("{%d}", r.IntN(4)), "${" + letters(6) + "}", "%@"}[r.IntN(8)]
	case 2:
		return fmt.Sprintf("%s-%d", strings.ToUpper(letters(1+r.IntN(3))), r.IntN(10000))
	case 3:
		return fmt.Sprintf("https://%s.%s/%s", letters(4+r.IntN(5)), []string{"com", "org", "net", "de"}[r.IntN(4)], letters(r.IntN(6)))
	case 4:
		return fmt.Sprintf("%s@%s.com", letters(3+r.IntN(5)), letters(4+r.IntN(4)))
	}
	return noise(m, r)
}

// sharedWord returns the ends of the longest word that each side has once, such as a name or a
// number.
func sharedWord(p *text.Pair) (src, tgt int, found bool) {
	sources, targets := words(p.Source), words(p.Target)
	longest := 1
	for word, end := range sources {
		if len(word) > longest || len(word) == longest && found && end < src {
			if other := targets[word]; end > 0 && other > 0 {
				src, tgt, found, longest = end, other, true, len(word)
			}
		}
	}
	return src, tgt, found
}

// words returns the ends of the words of s; of one that is there several times, 0.
func words(s string) map[string]int {
	ends, from := map[string]int{}, 0
	add := func(to int) {
		if word := s[from:to]; word != "" {
			if _, ok := ends[word]; ok {
				to = 0
			}
			ends[word] = to
		}
	}
	for i, r := range s {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			add(i)
			from = i + utf8.RuneLen(r)
		}
	}
	add(len(s))
	return ends
}
