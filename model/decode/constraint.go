package decode

import (
	"slices"

	"tfm/model"
)

// Constraint decides which tokens may follow a hypothesis. It is an automaton: a hypothesis has a
// state, which its tokens determine. All searches apply it. A forbidden token is not chosen,
// however probable; the scores of others are the model's, not normalized again. If a Constraint
// leaves a source without a translation, its list has an empty one with score -Inf.
//
// The token in the position of EOS at the length limit is free, because Hypothesis.Tokens omits
// it, except that EOS must be allowed.
//
// Start and Next must set all words of the state, from their arguments alone. Allows and Only must
// not change the state. Goroutines call them concurrently for different hypotheses. A panic
// of a Constraint ends its call with a *PanicError.
type Constraint interface {
	// StateLen returns the number of words of a state.
	StateLen() int
	// Start sets state to that of an empty translation of s.
	Start(state []uint64, s SourceInfo)
	// Next replaces the state of a hypothesis by that after token. It is not called with EOS.
	// At the length limit token may be one that Allows forbids.
	Next(state []uint64, token int32)
	// Allows reports whether token, which may be EOS, may follow p and can be the first of up
	// to p.Remaining+1 tokens before EOS.
	Allows(p *Partial, token int32) bool
	// Only returns nil, or a list of tokens in ascending order. Others cannot follow p, and
	// those that can satisfy Allows. A short list saves calls of Allows.
	Only(p *Partial) []int32
}

// Requirer is a Constraint that may leave only some tokens, which the list of a source then must
// contain; see Options.Shortlist.
type Requirer interface {
	Constraint
	// Required appends to ids the tokens that the Constraint may demand in a translation of s.
	Required(ids []int32, s SourceInfo) []int32
}

// SourceInfo describes a source to a Constraint.
type SourceInfo struct {
	Index     int // in the call
	Tokens    int // without EOS
	MaxTokens int // length limit of the translation, without EOS
}

// Partial is a hypothesis that a token is to follow.
type Partial struct {
	State     []uint64 // of the Constraint
	Remaining int      // number of tokens that may follow the next one before EOS

	constraint Constraint // nil allows every token
	only       []int32    // result of Only
	tree       *tree
	tail       int32   // last node of the hypothesis
	tokens     []int32 // workspace of Tokens
	isListed   bool    // tokens is set
}

// Tokens returns the tokens of the hypothesis. They are valid until the next step.
func (p *Partial) Tokens() []int32 {
	if !p.isListed {
		p.isListed = true
		p.tokens = p.tree.appendTokens(p.tokens[:0], p.tail)
	}
	return p.tokens
}

// All returns the Constraint that allows what all of list allow, nil for an empty list. It ignores
// nil elements.
func All(list ...Constraint) Constraint {
	list = slices.DeleteFunc(slices.Clone(list), func(c Constraint) bool { return c == nil })
	switch len(list) {
	case 0:
		return nil
	case 1:
		return list[0]
	}
	a := &all{list: list, starts: []int{0}}
	for i, c := range list {
		a.starts = append(a.starts, a.starts[i]+c.StateLen())
	}
	return a
}

// all is a list of Constraints. Its state is that of each, one after another.
type all struct {
	list   []Constraint
	starts []int // index in the state of each one's state, then the length of the state
}

func (a *all) StateLen() int { return a.starts[len(a.list)] }

// of returns the part of a state that belongs to element i.
func (a *all) of(state []uint64, i int) []uint64 { return state[a.starts[i]:a.starts[i+1]] }

func (a *all) Start(state []uint64, s SourceInfo) {
	for i, c := range a.list {
		c.Start(a.of(state, i), s)
	}
}

func (a *all) Next(state []uint64, token int32) {
	for i, c := range a.list {
		c.Next(a.of(state, i), token)
	}
}

func (a *all) Allows(p *Partial, token int32) bool {
	state := p.State
	defer func() { p.State = state }()
	for i, c := range a.list {
		p.State = a.of(state, i)
		if !c.Allows(p, token) {
			return false
		}
	}
	return true
}

// Only returns the shortest list.
func (a *all) Only(p *Partial) []int32 {
	state := p.State
	defer func() { p.State = state }()
	var only []int32
	for i, c := range a.list {
		p.State = a.of(state, i)
		if list := c.Only(p); list != nil && (only == nil || len(list) < len(only)) {
			only = list
		}
	}
	return only
}

// Required appends the tokens of all elements.
func (a *all) Required(ids []int32, s SourceInfo) []int32 {
	for _, c := range a.list {
		if r, ok := c.(Requirer); ok {
			ids = r.Required(ids, s)
		}
	}
	return ids
}

// minLength is the Constraint of Options.MinTokens. The state is the number of tokens that must
// precede EOS.
type minLength struct{ tokens int }

func (c minLength) StateLen() int { return 1 }

func (c minLength) Start(state []uint64, s SourceInfo) {
	state[0] = uint64(min(c.tokens, s.MaxTokens))
}

func (c minLength) Next(state []uint64, _ int32) {
	if state[0] > 0 {
		state[0]--
	}
}

func (c minLength) Allows(p *Partial, token int32) bool {
	return token != model.EOS || p.State[0] == 0
}

func (c minLength) Only(*Partial) []int32 { return nil }

// noRepeat is the Constraint that no n tokens occur twice in a translation (Paulus, Xiong and
// Socher 2018, section 2.5). Where another Constraint leaves only some tokens, within a character
// or a prefix, they are free, so that it can be satisfied.
type noRepeat struct{ n int }

func (noRepeat) StateLen() int              { return 0 }
func (noRepeat) Start([]uint64, SourceInfo) {}
func (noRepeat) Next([]uint64, int32)       {}
func (noRepeat) Only(*Partial) []int32      { return nil }

func (c noRepeat) Allows(p *Partial, token int32) bool {
	if token == model.EOS || p.only != nil {
		return true
	}
	tokens := p.Tokens()
	last := len(tokens) - (c.n - 1) // index of the n-1 tokens that token follows
	for i := range last {
		if tokens[i+c.n-1] == token && slices.Equal(tokens[i:][:c.n-1], tokens[last:]) {
			return false
		}
	}
	return true
}
