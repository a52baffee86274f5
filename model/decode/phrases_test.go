package decode

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// phrasesOf is Phrases without an error.
func phrasesOf(pieces *Pieces, list ...[]string) Constraint {
	c, err := Phrases(pieces, list)
	if err != nil {
		panic(err)
	}
	return c
}

// letters are n pieces: of the ids from 3 the letters from "a".
func letters(n int) *Pieces {
	return NewPieces(n, func(id int32) string {
		if id < 3 {
			return ""
		}
		return string(rune('a' + id - 3))
	})
}

// containsAll reports whether a text contains each phrase.
func containsAll(text string, list []string) bool {
	return !slices.ContainsFunc(list, func(phrase string) bool { return !strings.Contains(text, phrase) })
}

// overlap reports whether a phrase contains the first letter of another. At the length limit
// Phrases reserves tokens for both, so that it misses translations where they share some.
func overlap(list []string) bool {
	for i, a := range list {
		for j, b := range list {
			if i != j && strings.Contains(a, b[:1]) {
				return true
			}
		}
	}
	return false
}

// A wide beam finds the best of all translations that contain the phrases; every search gives
// translations that contain them, if they fit, and truncated ones otherwise.
func TestPhrasesAgainstAllTranslations(t *testing.T) {
	const maxTokens = 6
	listed, beaten := 0, 0
	pieces := letters(5)
	for v, list := range [][]string{
		{"a"}, {"ab"}, {"aab"}, {"ab", "ba"}, {"b", "aa"}, {"abaa"}, {"ab", "aa", "b"}, {"abb", "aaa"}, {"aa", "bb"}, {"a", "b"}, {},
	} {
		all := allTranslations(5, maxTokens-1)
		allowed := slices.DeleteFunc(slices.Clone(all), func(tokens []int32) bool { return !containsAll(pieces.text(tokens), list) })
		fits := len(strings.Join(list, "")) < maxTokens
		for seed := range uint64(4) {
			m := language(5, seed, 2)
			c := phrasesOf(pieces, list, nil, list)
			for _, o := range []Options{
				{Beam: 1 << 10, NBest: 10, Alpha: 1}, {Beam: 1 << 10, NBest: 10}, {Beam: 1}, {Beam: 2}, {Beam: 5, NBest: 5, Alpha: 1}, {Sample: true, Temperature: 1, TopP: 1, NBest: 3},
			} {
				free := find(t, m, 3, maxTokens, Options{Beam: 5, Alpha: o.Alpha})
				o.Constraint = c
				for source, got := range findAny(t, m, 3, maxTokens, o) {
					name := fmt.Sprintf("phrases %d, seed %d, source %d, %+v", v, seed, source, o)
					want := list
					if source == 1 {
						want = nil
					}
					for _, h := range got {
						if !containsAll(pieces.text(h.Tokens), want) && (fits || !h.Truncated) {
							t.Errorf("%s: %+v, want phrases %q", name, h, want)
						}
					}
					if source == 1 || o.Beam < 1<<10 || len(allowed) == 0 || overlap(list) {
						continue
					}
					score := func(tokens []int32) float64 { return o.score(m.logP(int32(source), tokens), len(tokens)+1) }
					order := slices.Clone(allowed)
					slices.SortStableFunc(order, func(a, b []int32) int { return cmp.Compare(score(b), score(a)) })
					if n := min(len(order), o.NBest); len(got) != n {
						t.Fatalf("%s: %d translations, want %d", name, len(got), n)
					}
					for i, h := range got {
						listed++
						if !slices.Equal(h.Tokens, order[i]) || !closeTo(h.Score, score(order[i])) {
							t.Fatalf("%s: translation %d is %+v, want %v with %v", name, i, h, order[i], score(order[i]))
						}
					}
					if !slices.Equal(free[source][0].Tokens, got[0].Tokens) {
						beaten++
					}
				}
			}
		}
	}
	if listed < 300 || beaten < 20 {
		t.Errorf("%d translations listed, %d unlike those without phrases; want at least 300 and 20", listed, beaten)
	}
}

// A narrow beam places a phrase where the model gives it the least cost, not at the end: the stages
// of progress share the beam.
func TestPhrasesFindTheirPlace(t *testing.T) {
	// The model says 5 6 7 8, and at the second position 9 for 6 at little probability.
	const improbable = -8
	m := &table{vocabulary: 12, logits: func(_ int32, prefix []int32, row []float32) {
		for i := range row {
			row[i] = -20
		}
		next := int32(5 + len(prefix))
		if len(prefix) == 4 {
			next = 2
		}
		if row[next] = 0; len(prefix) == 1 {
			row[9] = improbable
		}
	}}
	for _, beam := range []int{2, 4, 8} {
		o := Options{Beam: beam, Constraint: phrasesOf(letters(12), []string{"ge"})}
		if got := find(t, m, 1, 30, o)[0][0]; !slices.Equal(got.Tokens, []int32{5, 9, 7, 8}) || math.Abs(got.Score-improbable) > 0.01 {
			t.Errorf("beam %d: %+v, want 5 9 7 8 with score %v", beam, got, improbable)
		}
	}
}

// Phrases compose with the other constraints: the text is valid, has its prefix and its phrases.
func TestPhrasesWithOtherConstraints(t *testing.T) {
	pieces := byteLevel(3, mixedText, 60)
	m := language(len(pieces.bytes), 9, 2)
	bytesOf := func(s string) (ids []int32) {
		for _, b := range []byte(s) {
			ids = append(ids, int32(3+int(b)))
		}
		return ids
	}
	list := [][]string{{"灯", "a灭"}, {"é"}, nil}
	for _, o := range []Options{{Beam: 1}, {Beam: 4, NBest: 4}, {Beam: 8, MinTokens: 18, Alpha: 1}, {Beam: 3, NoRepeat: 3}, {Sample: true, Temperature: 1, TopP: 1, NBest: 2}} {
		o.Pieces = pieces
		o.Constraint = All(phrasesOf(pieces, list...), Prefixes(pieces, [][]int32{bytesOf(" 人"), nil, bytesOf(" x")}))
		for i, translations := range find(t, m, 3, 26, o) {
			for _, h := range translations {
				s := pieces.text(h.Tokens)
				if !containsAll(s, list[i]) || !strings.HasPrefix(s, []string{" 人", "", " x"}[i]) || strings.ToValidUTF8(s, "") != s || math.IsInf(h.Score, -1) {
					t.Errorf("%+v, source %d: %+v, text %q", o, i, h, s)
				}
			}
		}
	}
}

// Alternatives are reported and change no translation with phrases.
func TestPhrasesIgnoreAlternatives(t *testing.T) {
	pieces := byteLevel(3, mixedText, 60)
	m := language(len(pieces.bytes), 9, 2)
	list := [][]string{{"ab", "x"}, {"c"}, {"xyz"}}
	for beam := range 5 {
		o := Options{Beam: 2 + beam, NBest: 2, Pieces: pieces, Constraint: phrasesOf(pieces, list...)}
		want := find(t, m, 3, 26, o)
		o.Alternatives = 64
		for i, got := range find(t, m, 3, 26, o) {
			for k := range got {
				got[k].Alternatives = nil
			}
			if !reflect.DeepEqual(got, want[i]) {
				t.Errorf("beam %d, source %d: %+v with alternatives, %+v without", o.Beam, i, got, want[i])
			}
		}
	}
}

// A phrase can be spelled by any pieces, and its last piece may contain further text.
func TestPhrasesOfPieces(t *testing.T) {
	pieces := piecesOf("H", "u", "n", "d", "e", " Hu", "nd", "nde", "un", "x", " ")
	for _, row := range []struct {
		tokens []string
		want   int
	}{
		{nil, 2}, {[]string{" Hu"}, 1}, {[]string{" Hu", "nd"}, 0}, {[]string{" Hu", "nde"}, 0}, {[]string{" ", "H", "un"}, 1}, {[]string{" ", "H", "u"}, 1},
		{[]string{"H", "u", "nd"}, 2}, {[]string{"x", " Hu", "x"}, 2}, {[]string{"x", " Hu", "nd", "x"}, 0},
	} {
		c := phrasesOf(pieces, []string{" Hund"})
		state := make([]uint64, c.StateLen())
		c.Start(state, SourceInfo{})
		for _, piece := range row.tokens {
			c.Next(state, int32(slices.Index(pieces.bytes, piece)))
		}
		if got := c.(*phrases).missing(state, -1); got != row.want {
			t.Errorf("after %q %d tokens are missing, want %d", row.tokens, got, row.want)
		}
	}
	// A phrase of any length takes time in proportion to it.
	phrasesOf(pieces, []string{strings.Repeat("Hund", 1<<18)})
	for _, invalid := range []string{"Hut", "H\xFF"} {
		if _, err := Phrases(pieces, [][]string{nil, {"H", invalid}}); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q", invalid)) {
			t.Errorf("phrase %q: error %v, want one that names it", invalid, err)
		}
	}
}

// A phrase wins over NoRepeat: the token that begins or continues it is never forbidden, by any
// search, although the model and the length limit leave it no other place.
func TestPhrasesWinOverNoRepeat(t *testing.T) {
	pieces := letters(6)
	for seed := range uint64(8) {
		m := language(6, seed, 2)
		for _, list := range [][]string{{"aa"}, {"abab"}, {"ab", "ba"}, {"aab", "bb"}} {
			for _, o := range []Options{{Beam: 1}, {Beam: 4, NBest: 4}, {Sample: true, Temperature: 1, TopP: 1, NBest: 2}} {
				o.Constraint = phrasesOf(pieces, list)
				for o.NoRepeat = range 4 {
					for _, h := range find(t, m, 1, 8, o)[0] {
						if s := pieces.text(h.Tokens); !containsAll(s, list) || math.IsInf(h.Score, -1) {
							t.Errorf("seed %d, phrases %q, %+v: %+v, text %q", seed, list, o, h, s)
						}
					}
				}
			}
		}
	}
}
