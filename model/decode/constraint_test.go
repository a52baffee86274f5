package decode

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"tfm/model"
)

// piecesOf returns the Pieces of three special ids and the given pieces.
func piecesOf(list ...string) *Pieces {
	list = append(make([]string, model.EOS+1), list...)
	return NewPieces(len(list), func(id int32) string { return list[id] })
}

func (p *Pieces) text(ids []int32) string {
	var s strings.Builder
	for _, id := range ids {
		s.WriteString(p.bytes[id])
	}
	return s.String()
}

// byteLevel returns the Pieces of a byte-level vocabulary: bytes, and merges that begin and end
// anywhere in the characters of text.
func byteLevel(seed uint64, text string, merges int) *Pieces {
	r := rand.New(rand.NewPCG(seed, 2))
	var list []string
	for b := range 256 {
		list = append(list, string([]byte{byte(b)}))
	}
	for range merges {
		i := r.IntN(len(text) - 6)
		list = append(list, text[i:i+2+r.IntN(5)])
	}
	return piecesOf(list...)
}

const mixedText = "每个人都在监视。 The naïve façade costs 10 €! 𝄞 in F♯, 日本語と한국어, привет. 没有人知道灯为何灭了。"

// The automaton accepts exactly the strings that are valid UTF-8, and reads exactly those that
// further bytes make valid.
func TestUTF8Automaton(t *testing.T) {
	bytes := []byte{0, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF}
	completable := func(s string) bool {
		for _, tail := range []string{"", "\x80", "\x90", "\xA0", "\x80\x80", "\x90\x80", "\xA0\x80", "\x80\x80\x80", "\x90\x80\x80"} {
			if utf8.ValidString(s + tail) {
				return true
			}
		}
		return false
	}
	var check func(s string, state uint8)
	check = func(s string, state uint8) {
		if valid := utf8.ValidString(s); valid != (state == utf8Start) || completable(s) != (state != utf8Invalid) {
			t.Errorf("%q: state %d, valid %t, completable %t", s, state, valid, completable(s))
		}
		if state == utf8Invalid || len(s) == 5 {
			return
		}
		for _, b := range bytes {
			check(s+string([]byte{b}), utf8Next(state, b))
		}
	}
	check("", utf8Start)
}

// With a byte-level vocabulary no search gives invalid text, at the length limit neither. Searches
// that meet no invalid token have the words and scores of those without Pieces.
func TestTextIsValid(t *testing.T) {
	options := []Options{
		{Beam: 1}, DefaultOptions(), {Beam: 7, NBest: 7, Alpha: 1, Penalty: PenaltyPower},
		{Sample: true, Temperature: 1, TopP: 1, NBest: 3}, {Sample: true, Temperature: 2, TopP: 0.9, NBest: 3},
		{Sample: true, Temperature: 1, TopP: 1, TopK: 4, NBest: 3},
	}
	changed, same, truncated, multibyte := 0, 0, 0, 0
	for seed := range uint64(6) {
		merges := 40 * int(seed%4)
		pieces := byteLevel(seed, mixedText, merges)
		m := language(len(pieces.bytes), seed, 2)
		random := m.logits
		m.logits = func(source int32, prefix []int32, row []float32) {
			random(source, prefix, row)
			for id := model.EOS + 1; id < len(row); id++ { // ASCII is more probable in some models
				if piece := pieces.bytes[id]; utf8.ValidString(piece) {
					row[id] += 3 * float32(seed%3)
				}
			}
			row[model.EOS] += float32(seed % 5)
		}
		for _, o := range options {
			for _, maxTokens := range []int{1, 2, 3, 4, 7, 15} {
				free, valid := find(t, m, 4, maxTokens, o), o
				valid.Pieces = pieces
				for i, list := range find(t, m, 4, maxTokens, valid) {
					isValid := func(h Hypothesis) bool { return utf8.ValidString(pieces.text(h.Tokens)) }
					for _, h := range list {
						s := pieces.text(h.Tokens)
						if !isValid(h) || math.IsInf(h.Score, -1) {
							t.Errorf("%d merges, %+v, up to %d tokens: %+v, text %q", merges, o, maxTokens, h, s)
						}
						if h.Truncated {
							truncated++
						}
						if len(s) > utf8.RuneCountInString(s) {
							multibyte++
						}
					}
					if o.Beam > 1 && !o.Sample {
						continue // other hypotheses of the beam may be invalid
					}
					if reflect.DeepEqual(list, free[i]) {
						same++
					} else {
						changed++
					}
					// Sampling sorts the list, so the k-th need not be the same
					// draw.
					if !slices.ContainsFunc(free[i], func(h Hypothesis) bool { return !isValid(h) || h.Truncated }) && !reflect.DeepEqual(list, free[i]) {
						t.Errorf("%+v, up to %d tokens: %+v, want the valid %+v", o, maxTokens, list, free[i])
					}
				}
			}
		}
	}
	if changed < 100 || same < 100 || truncated < 100 || multibyte < 100 {
		t.Errorf("%d lists changed, %d same, %d translations truncated, %d with characters of several bytes; want at least 100 of each", changed, same, truncated, multibyte)
	}
}

// A character that no pieces complete is never begun. Without other pieces, translations are empty.
func TestPiecesThatCannotCompleteACharacter(t *testing.T) {
	for _, c := range []struct {
		pieces *Pieces
		want   string // characters of translations
	}{
		{piecesOf("\xE4", "a", "b", "\xE4\xB8"), "ab"},
		{piecesOf("\xE4", "\xE4\xB8"), ""},
		{piecesOf("\x80", "\xBF"), ""},
		{piecesOf("\xE4", "\xB8\xAD", "\xE4\xB8"), "中"},
		{piecesOf("\xE4", "\xAD", "\xE4\xB8", "a"), "中䭭a"},
		{piecesOf("\xED", "\xA0", "\x80"), "\uD000\uD020"},
		{piecesOf("", "\xE4", "\xB8\xAD"), "中"},
	} {
		m := language(len(c.pieces.bytes), 5, 2)
		for _, o := range []Options{{Beam: 1}, {Beam: 4, NBest: 4}, {Sample: true, Temperature: 1, TopP: 1, NBest: 4}} {
			o.Pieces = c.pieces
			seen := ""
			for _, list := range find(t, m, 20, 7, o) {
				for _, h := range list {
					s := c.pieces.text(h.Tokens)
					if seen += s; !utf8.ValidString(s) || strings.Trim(s, c.want) != "" || math.IsInf(h.Score, -1) {
						t.Errorf("%q, %+v: %+v, text %q, want characters of %q", c.pieces.bytes, o, h, s, c.want)
					}
				}
			}
			if c.want != "" && seen == "" {
				t.Errorf("%q, %+v: all translations are empty", c.pieces.bytes, o)
			}
		}
	}
}

// The tail of a prefix is its last word, for pieces with the space before them or after them.
func TestPrefixTail(t *testing.T) {
	for _, c := range []struct {
		pieces []string // of the prefix
		head   int
		tail   string
	}{
		{[]string{"le", " ch"}, 1, " ch"},
		{[]string{"le", " c", "h"}, 1, " ch"},
		{[]string{"le "}, 0, "le"},
		{[]string{"le ", "ch "}, 1, "ch"},
		{[]string{"le ", "c", "h "}, 1, "ch"},
		{[]string{"l", "e "}, 0, "le"},
		{[]string{"le", " "}, 1, " "},
		{[]string{"ab", "c"}, 1, "c"},
	} {
		pieces := piecesOf(c.pieces...)
		var ids []int32
		for i := range c.pieces {
			ids = append(ids, model.EOS+1+int32(i))
		}
		if p := newPrefix(pieces, ids); len(p.head) != c.head || p.tail != c.tail {
			t.Errorf("prefix %q: %d tokens and tail %q, want %d and %q", c.pieces, len(p.head), p.tail, c.head, c.tail)
		}
	}
}

// allowedBy reports whether a translation satisfies the options, from their definition. n is the
// length limit.
func allowedBy(o *Options, tokens []int32, n int, head []int32, prefix string) bool {
	if o.NoRepeat > 0 {
		seen := map[string]bool{}
		for i := range tokens {
			if i+1 >= o.NoRepeat {
				gram := fmt.Sprint(tokens[i+1-o.NoRepeat : i+1])
				before := o.Pieces.text(tokens[:i])
				inside := !utf8.ValidString(before) || len(before) < len(prefix)
				if seen[gram] && !inside {
					return false
				}
				seen[gram] = true
			}
		}
	}
	if s := o.Pieces.text(tokens); !utf8.ValidString(s) || !strings.HasPrefix(s, prefix) || len(tokens) < len(head) || !slices.Equal(tokens[:len(head)], head) {
		return false
	}
	return len(tokens) >= min(n-1, o.MinTokens) && (o.MaxTokens == 0 || len(tokens) <= o.MaxTokens)
}

// With a beam that drops no hypothesis, the n-best list is the best of all translations that the
// options allow, in order. Greedy search and sampling give an allowed one.
func TestConstraintsAgainstAllTranslations(t *testing.T) {
	vocabularies := []*Pieces{
		piecesOf("a", "\xE4\xB8", "\xAD"), piecesOf("a", "b", "ab"), piecesOf("\xC3", "\xA9", "é", "\xA9\xC3"), piecesOf(" a", "ab", " ab"),
	}
	// fixed is the number of ids that must be the first tokens: those before the last space, or
	// else all except the last.
	type prefix struct {
		ids   []int32
		fixed int
	}
	prefixesOf := [][]prefix{
		{{}, {[]int32{3}, 0}, {[]int32{4, 5}, 1}}, {{}, {[]int32{3, 4}, 1}, {[]int32{5}, 0}, {[]int32{3, 3, 3}, 2}},
		{{}, {[]int32{5}, 0}, {[]int32{3, 6}, 1}}, {{}, {[]int32{3}, 0}, {[]int32{5, 3}, 1}, {[]int32{3, 4}, 0}},
	}
	const maxTokens = 5
	listed, empty, seeds := 0, 0, uint64(2)
	if testing.Short() {
		seeds = 1
	}
	for v, pieces := range vocabularies {
		all := allTranslations(len(pieces.bytes), maxTokens-1)
		for _, prefix := range prefixesOf[v] {
			ids, head := prefix.ids, prefix.ids[:prefix.fixed]
			for seed := range seeds {
				m := language(len(pieces.bytes), seed, 1.5)
				for _, o := range []Options{
					{}, {MinTokens: 2}, {MinTokens: 9}, {MaxTokens: 2}, {MinTokens: 1, MaxTokens: 1}, {NoRepeat: 1}, {NoRepeat: 2}, {NoRepeat: 3},
					{NoRepeat: 2, MinTokens: 3, Alpha: 1}, {MinTokens: 3, Alpha: 2}, {NoRepeat: 1, MinTokens: 4},
				} {
					o.Beam, o.NBest, o.Pieces = 1<<12, 12, pieces
					o.Prefixes = &Begins{[][]int32{ids, ids, ids}}
					limit := maxTokens
					if o.MaxTokens > 0 {
						limit = o.MaxTokens + 1
					}
					lists := findAny(t, m, 3, maxTokens, o)
					for source, list := range lists {
						score := func(tokens []int32) float64 { return o.score(m.logP(int32(source), tokens), len(tokens)+1) }
						order := slices.Clone(all)
						order = slices.DeleteFunc(order, func(tokens []int32) bool { return !allowedBy(&o, tokens, limit, head, pieces.text(ids)) })
						slices.SortStableFunc(order, func(a, b []int32) int { return cmp.Compare(score(b), score(a)) })
						name := fmt.Sprintf("vocabulary %d, prefix %q, seed %d, source %d, %+v", v, pieces.text(ids), seed, source, o)
						if len(order) == 0 {
							if empty++; len(list) != 1 || len(list[0].Tokens) > limit-1 || !math.IsInf(list[0].Score, -1) && !list[0].Truncated {
								t.Errorf("%s: %+v, but no translation is allowed", name, list)
							}
							continue
						}
						if want := min(len(order), o.NBest); len(list) != want {
							t.Fatalf("%s: %d translations, want %d", name, len(list), want)
						}
						for i, h := range list {
							listed++
							if !slices.Equal(h.Tokens, order[i]) || !closeTo(h.Score, score(order[i])) || h.Truncated {
								t.Fatalf("%s: translation %d is %+v, want %v with %v", name, i, h, order[i], score(order[i]))
							}
						}
					}
					for _, s := range []Options{{Beam: 1}, {Beam: 2, NBest: 2}, {Sample: true, Temperature: 1, TopP: 1, NBest: 3}, {Sample: true, Temperature: 1, TopP: 0.7, TopK: 3, NBest: 3}} {
						narrow := o
						narrow.Beam, narrow.Sample, narrow.Temperature, narrow.TopP, narrow.TopK, narrow.NBest = s.Beam, s.Sample, s.Temperature, s.TopP, s.TopK, s.NBest
						for _, list := range find(t, m, 3, maxTokens, narrow) {
							for _, h := range list {
								// A truncated one may miss what was
								// to come, and the end of a search
								// without continuation is empty.
								if !allowedBy(&o, h.Tokens, limit, nil, pieces.text(ids)) && !h.Truncated && !math.IsInf(h.Score, -1) || !utf8.ValidString(pieces.text(h.Tokens)) {
									t.Errorf("vocabulary %d, prefix %q, seed %d, %+v: %+v", v, pieces.text(ids), seed, narrow, h)
								}
							}
						}
					}
				}
			}
		}
	}
	if listed < 1000 || empty == 0 {
		t.Errorf("%d translations listed, want at least 1000; %d searches without a translation, want some", listed, empty)
	}
}

// A search with a repetition penalty finds what a search without it finds in penalized logits.
func TestRepetitionPenalty(t *testing.T) {
	differ := 0
	for seed := range uint64(5) {
		for _, penalty := range []float64{1.3, 4, 0.5} {
			m := language(8, seed, 2)
			penalized := &table{vocabulary: 8, logits: func(source int32, prefix []int32, row []float32) {
				m.logits(source, prefix, row)
				for id := range row {
					if slices.Contains(prefix, int32(id)) && row[id] > 0 {
						row[id] /= float32(penalty)
					} else if slices.Contains(prefix, int32(id)) {
						row[id] *= float32(penalty)
					}
				}
			}}
			for _, o := range []Options{{Beam: 1}, {Beam: 4, Alpha: 1, NBest: 4}, {Sample: true, Temperature: 1, TopP: 1, NBest: 2}} {
				plain, want := find(t, m, 5, 9, o), find(t, penalized, 5, 9, o)
				o.RepetitionPenalty = penalty
				if got := find(t, m, 5, 9, o); !reflect.DeepEqual(got, want) {
					t.Errorf("%+v: %+v, want %+v", o, got, want)
				}
				if !reflect.DeepEqual(plain, want) {
					differ++
				}
			}
		}
	}
	if differ < 40 {
		t.Errorf("%d of 45 searches differ from those without a penalty, want at least 40", differ)
	}
}

// Token scores add up to the score of a translation, and are those of the model.
func TestTokenScores(t *testing.T) {
	m := language(9, 4, 1.5)
	truncated := 0
	for _, o := range []Options{{Beam: 1}, {Beam: 5, NBest: 5, Alpha: 1}, {Sample: true, Temperature: 2, TopP: 1, NBest: 4}, {Beam: 3, NoRepeat: 1, NBest: 3}} {
		plain := find(t, m, 10, 7, o)
		o.TokenScores = true
		for source, list := range find(t, m, 10, 7, o) {
			for k, h := range list {
				if h.Truncated {
					truncated++
				}
				sum := 0.0
				if len(h.TokenScores) != len(h.Tokens)+1 {
					t.Fatalf("%+v: %d token scores of %d tokens and EOS", o, len(h.TokenScores), len(h.Tokens))
				}
				for i, x := range h.TokenScores {
					if sum += x; i < len(h.Tokens) {
						if want := math.Log(m.probabilities(int32(source), h.Tokens[:i])[h.Tokens[i]]); !closeTo(x, want) {
							t.Errorf("%+v: score %v of token %d of %+v, want %v", o, x, i, h, want)
						}
					}
				}
				if !closeTo(o.score(sum, len(h.TokenScores)), h.Score) {
					t.Errorf("%+v: token scores %v add up to %v, score is %v", o, h.TokenScores, sum, h.Score)
				}
				if h.TokenScores = nil; !reflect.DeepEqual(h, plain[source][k]) {
					t.Errorf("%+v: %+v, want %+v as without token scores", o, h, plain[source][k])
				}
			}
		}
	}
	if truncated == 0 {
		t.Error("no translation was truncated")
	}
}

// Alternatives are the most probable allowed tokens of each position.
func TestAlternatives(t *testing.T) {
	m := language(12, 4, 1.5)
	for _, o := range []Options{
		{Beam: 1}, {Beam: 3, NBest: 3, Alpha: 1}, {Sample: true, Temperature: 2, TopP: 1, NBest: 4}, {Beam: 2, Pieces: onlyIDs(12, 3, 5, 7, 9, 11)}, {Beam: 1, MinTokens: 3, NoScore: true},
		{Sample: true, Temperature: 1, TopP: 1, Pieces: onlyIDs(12, 3, 5)},
	} {
		plain := find(t, m, 10, 7, o)
		for _, o.Alternatives = range []int{1, 4, 12} {
			for source, list := range find(t, m, 10, 7, o) {
				for k, h := range list {
					if len(h.Alternatives) != len(h.Tokens)+1 {
						t.Fatalf("%+v: alternatives of %d positions for %d tokens and EOS", o, len(h.Alternatives), len(h.Tokens))
					}
					for i, got := range h.Alternatives {
						p := m.probabilities(int32(source), h.Tokens[:i])
						var want []int32
						for id := int32(model.EOS); id < 12; id++ {
							forbidden := o.Pieces != nil && id != model.EOS && o.Pieces.Bytes(id) != "a" || id == model.EOS && i < o.MinTokens
							// At the limit tokens are free.
							if forbidden && (i < 6 || id == model.EOS) {
								continue
							}
							want = append(want, id)
						}
						slices.SortFunc(want, func(a, b int32) int { return cmp.Compare(p[b], p[a]) })
						want = want[:min(len(want), o.Alternatives)]
						for j := range want {
							if len(got) != len(want) || got[j].Token != want[j] || !closeTo(got[j].LogP, math.Log(p[want[j]])) {
								t.Fatalf("%+v: alternatives %v in position %d of %v, want %v", o, got, i, h.Tokens, want)
							}
						}
					}
					if h.Alternatives = nil; !o.NoScore && !reflect.DeepEqual(h, plain[source][k]) {
						t.Errorf("%+v: %+v, want %+v as without alternatives", o, h, plain[source][k])
					}
				}
			}
		}
	}
}
