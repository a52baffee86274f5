package corpus

import (
	"tfm/model"
	"tfm/text/vocab"
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
	list := s.Languages.List()
	for _, l := range list {
		mark(u.sources, l.IDs)
	}
	trimmed, err := u.trimmed()
	if err != nil || len(list) == 0 {
		s.Tokenizers = &trimmed
		return err
	}
	remap, err := vocab.Remap(trimmed.Source, s.Tokenizers.Source)
	if err != nil {
		return err
	}
	ids := vocab.Renumber(remap)
	for _, l := range list {
		for i, id := range l.IDs {
			l.IDs[i] = ids[id]
		}
		if _, ok := s.codes[l.Code]; ok {
			s.codes[l.Code] = l.IDs
		}
	}
	s.Languages, s.Tokenizers = model.FormatLanguages(list), &trimmed
	return nil
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
