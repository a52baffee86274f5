package decode

import (
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"tfm/model"
)

// phrases is the Constraint that translations contain given texts. Few hypotheses satisfy it unless
// a beam search divides its beam among the stages of progress (Post and Vilar 2018, "Fast Lexically
// Constrained Decoding with Dynamic Beam Allocation"). The state is the index of the source, the
// state of the automaton in Pieces, and for each phrase of the source the number of its bytes that
// match the end of the hypothesis, or all if the hypothesis contains the phrase.
type phrases struct {
	pieces     *Pieces
	list       [][]*phrase // by index of the source
	maxPhrases int         // of a source
}

const matches = 2 // index in the state of the first phrase's number

// phrase is a text that a translation must contain. The slices are indexed by the number of bytes
// of it that match.
type phrase struct {
	text    string
	failure []int     // length of the longest proper prefix that is also the end, see match
	begins  [][]int32 // the pieces with which the remaining text begins
	needed  []int     // the least number of pieces that spell the remaining text
}

// Phrases returns the Constraint that the translation of source i contains each of the texts
// list[i]. A text that begins with a space is found at the begin of words. Beam search finds good
// places for them; greedy search and sampling have no alternatives to compare and may place them at
// the end. If a translation has no room for all, one after another, it is truncated at its length
// limit. The tokens that begin or continue a phrase are exempt from Options.NoRepeat. Phrases fails
// if pieces cannot spell a text, or a text is not valid UTF-8.
func Phrases(pieces *Pieces, list [][]string) (Constraint, error) {
	c := &phrases{pieces: pieces, list: make([][]*phrase, len(list))}
	known := map[string]*phrase{}
	for i, texts := range list {
		for _, text := range texts {
			p := known[text]
			if p == nil {
				p = newPhrase(pieces, text)
				known[text] = p
			}
			if p.needed[0] == math.MaxInt || !utf8.ValidString(text) {
				return nil, fmt.Errorf("the vocabulary has no pieces for the phrase %.40q", text)
			}
			if text != "" && !slices.Contains(c.list[i], p) {
				c.list[i] = append(c.list[i], p)
			}
		}
		c.maxPhrases = max(c.maxPhrases, len(c.list[i]))
	}
	return c, nil
}

func newPhrase(pieces *Pieces, text string) *phrase {
	n := len(text)
	p := &phrase{text, make([]int, n+1), make([][]int32, n), make([]int, n+1)}
	for i := 1; i < n; i++ {
		p.failure[i+1] = p.match(p.failure[i], text[i])
	}
	for i := n - 1; i >= 0; i-- {
		p.needed[i] = math.MaxInt
		for _, id := range pieces.beginning(text[i:]) {
			if needed := p.needed[i+len(pieces.bytes[id])]; needed < math.MaxInt {
				p.begins[i] = append(p.begins[i], id)
				p.needed[i] = min(p.needed[i], needed+1)
			}
		}
	}
	return p
}

// match returns the number of bytes that match after byte b, n before (Knuth, Morris and Pratt
// 1977).
func (p *phrase) match(n int, b byte) int {
	for ; n > 0 && p.text[n] != b; n = p.failure[n] {
	}
	if p.text[n] == b {
		n++
	}
	return n
}

// next returns the number of bytes that match after a piece, n before. A phrase that the hypothesis
// contains stays.
func (p *phrase) next(n int, piece string) int {
	for i := 0; i < len(piece) && n < len(p.text); i++ {
		n = p.match(n, piece[i])
	}
	return n
}

func (c *phrases) StateLen() int { return matches + c.maxPhrases }

func (c *phrases) Start(state []uint64, s SourceInfo) {
	clear(state)
	state[0] = uint64(s.Index)
}

// of returns the phrases of a source.
func (c *phrases) of(state []uint64) []*phrase {
	if i := state[0]; i < uint64(len(c.list)) {
		return c.list[i]
	}
	return nil
}

func (c *phrases) Next(state []uint64, token int32) {
	for i, p := range c.of(state) {
		state[matches+i] = uint64(p.next(int(state[matches+i]), c.pieces.bytes[token]))
	}
	validText{c.pieces}.Next(state[1:2], token)
}

// missing returns the least number of tokens that contain the remaining phrases one after another.
// Either a match continues, or the character is completed and all begin. With a token, it is the
// number after the token.
func (c *phrases) missing(state []uint64, token int32) int {
	character, piece := uint8(state[1]), ""
	if token >= 0 {
		character, piece = c.pieces.next[character][token], c.pieces.bytes[token]
	}
	all, saved := 0, 0 // saved: tokens of the first phrase that exist, less those of the character
	if character != utf8Invalid {
		saved = -c.pieces.needed[character]
	}
	for i, p := range c.of(state) {
		n := p.next(int(state[matches+i]), piece)
		if n < len(p.text) {
			all += p.needed[0]
		}
		if 0 < n && n < len(p.text) {
			saved = max(saved, p.needed[0]-p.needed[n])
		}
	}
	if all == 0 {
		return 0
	}
	return all - saved
}

func (c *phrases) Allows(p *Partial, token int32) bool {
	before := c.missing(p.State, -1)
	if token == model.EOS {
		return before == 0
	}
	isInVain := before > p.Remaining+1
	return before == 0 || isInVain || c.missing(p.State, token) <= p.Remaining
}

func (c *phrases) Only(*Partial) []int32 { return nil }

// Required appends the tokens that spell the phrases.
func (c *phrases) Required(ids []int32, s SourceInfo) []int32 {
	if s.Index < len(c.list) {
		for _, p := range c.list[s.Index] {
			for _, begins := range p.begins {
				ids = append(ids, begins...)
			}
		}
	}
	return ids
}

// progress returns the stage that a state has reached, 0 or more.
func (c *phrases) progress(state []uint64) int {
	stage, longest := 0, 0
	for i, p := range c.of(state) {
		if n := int(state[matches+i]); n == len(p.text) {
			stage += n
		} else {
			longest = max(longest, n)
		}
	}
	return stage + longest
}

// advancing appends tokens that lead to the next stage.
func (c *phrases) advancing(tokens []int32, state []uint64) []int32 {
	longest := 0
	list := c.of(state)
	for i, p := range list {
		if n := int(state[matches+i]); n < len(p.text) {
			longest = max(longest, n)
		}
	}
	for i, p := range list {
		if n := int(state[matches+i]); n == longest && n < len(p.text) {
			tokens = append(tokens, p.begins[n]...)
		}
	}
	return tokens
}

// advances reports whether token begins or continues a phrase that the hypothesis does not contain.
func (c *phrases) advances(state []uint64, token int32) bool {
	for i, p := range c.of(state) {
		if n := int(state[matches+i]); p.next(n, c.pieces.bytes[token]) > n {
			return true
		}
	}
	return false
}

// phrasesPart is the phrases of a Constraint.
type phrasesPart struct {
	*phrases     // nil for none
	start    int // index of its state in that of the Constraint
}

// part returns the part of a state of the Constraint.
func (c phrasesPart) part(state []uint64) []uint64 { return state[c.start:][:c.StateLen()] }

// phrasesIn returns the phrases of a Constraint, the first if there are several.
func phrasesIn(c Constraint) phrasesPart {
	switch c := c.(type) {
	case *phrases:
		return phrasesPart{c, 0}
	case *all:
		for i, element := range c.list {
			if part := phrasesIn(element); part.phrases != nil {
				return phrasesPart{part.phrases, c.starts[i] + part.start}
			}
		}
	}
	return phrasesPart{}
}
