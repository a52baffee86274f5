package corpus

import (
	"tfm/model"
	"tfm/text"
	"tfm/text/tokenizer/vocab"
)

// usage tells which pieces of tokenizers a corpus uses.
type usage struct {
	tokenizers       vocab.Tokenizers
	sources, targets []bool // by id; one slice for a joint vocabulary
	ids              []int32
}

func newUsage(t vocab.Tokenizers) *usage {
	u := &usage{tokenizers: t, sources: make([]bool, t.Source.Size())}
	if u.targets = u.sources; !t.Joint() {
		u.targets = make([]bool, t.Target.Size())
	}
	return u
}

// add marks the pieces of a pair. Its source has no code of a language.
func (u *usage) add(source, target string) {
	u.ids = u.tokenizers.Source.Encode(u.ids[:0], source)
	mark(u.sources, u.ids)
	u.ids = u.tokenizers.Target.Encode(u.ids[:0], target)
	mark(u.targets, u.ids)
}

func mark(used []bool, ids []int32) {
	for _, id := range ids {
		used[id] = true
	}
}

// trim replaces the tokenizers by ones without the pieces that the training pairs do not use, and
// renumbers the tokens of languages, which stay.
func (s *Survey) trim(u *usage) error {
	c := &s.Model
	targets, of := u.sources, func(t vocab.Tokenizers) text.Tokenizer { return t.Source }
	if c.TargetBegins {
		targets, of = u.targets, func(t vocab.Tokenizers) text.Tokenizer { return t.Target }
	}
	markLanguages(u.sources, c.SrcLanguages)
	markLanguages(targets, c.TgtLanguages)
	trimmed, err := u.trimmed()
	if err == nil {
		c.SrcLanguages, err = renumber(c.SrcLanguages, trimmed.Source, s.Tokenizers.Source)
	}
	if err == nil {
		c.TgtLanguages, err = renumber(c.TgtLanguages, of(trimmed), of(*s.Tokenizers))
	}
	s.Tokenizers = &trimmed
	return err
}

func markLanguages(used []bool, l model.Languages) {
	for _, x := range l.List() {
		mark(used, x.IDs)
	}
}

// renumber returns languages, whose tokens are of the tokenizer from, with those of to.
func renumber(l model.Languages, to, from text.Tokenizer) (model.Languages, error) {
	if l == "" {
		return "", nil
	}
	remap, err := vocab.Remap(to, from)
	if err != nil {
		return "", err
	}
	ids, list := vocab.Renumber(remap), l.List()
	for _, x := range list {
		for i, id := range x.IDs {
			x.IDs[i] = ids[id]
		}
	}
	return model.FormatLanguages(list), nil
}

// trimmed returns the tokenizers without pieces that are not used.
func (u *usage) trimmed() (t vocab.Tokenizers, err error) {
	if t.Source, err = vocab.Trim(u.tokenizers.Source, u.sources); err != nil || u.tokenizers.Joint() {
		t.Target = t.Source
		return t, err
	}
	t.Target, err = vocab.Trim(u.tokenizers.Target, u.targets)
	return t, err
}
