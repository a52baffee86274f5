package score

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The tokenizers equal sacreBLEU's regular expressions, each applied to the result of the last.
func TestTokenizerRules(t *testing.T) {
	rules := func(rules ...string) func(string) string {
		var compiled []*regexp.Regexp
		for r := range slices.Chunk(rules, 2) {
			compiled = append(compiled, regexp.MustCompile(r[0]))
		}
		return func(s string) string {
			for i, r := range compiled {
				s = r.ReplaceAllString(s, rules[2*i+1])
			}
			return s
		}
	}
	western := rules(`([ -&(-+/:-@\[-`+"`"+`{-~])`, ` $1 `, `([^0-9])([.,])`, `$1 $2 `, `([.,])([^0-9])`, ` $1 $2`, `([0-9])(-)`, `$1 $2 `)
	intl := rules(`(\P{N})(\p{P})`, `$1 $2 `, `(\p{P})(\P{N})`, ` $1 $2`, `(\p{S})`, ` $1 `)
	rng := rand.New(rand.NewPCG(5, 6))
	alphabet := strings.Split("a b 1 2 . . , , - ' \" ( / ~ ½ € 。 é \xff   é ٣ _ %", " ")
	for range 3000 {
		var b strings.Builder
		for range rng.IntN(12) {
			b.WriteString(alphabet[rng.IntN(len(alphabet))])
		}
		s := b.String()
		if got, want := splitNumbers(surround(s, isMark13a)), western(s); got != want {
			t.Fatalf("13a's rules of %q = %q, want %q", s, got, want)
		}
		if got, want := separateIntl(s), intl(s); got != want {
			t.Fatalf("intl's rules of %q = %q, want %q", s, got, want)
		}
	}
}
