package convert

import (
	"fmt"
	"strings"

	"tfm/model"
	"tfm/text"
	"tfm/text/moses"
	"tfm/text/subword"
	"tfm/text/vocab"
)

// mosesSides are the rules of Moses around the codes of each side.
type mosesSides struct{ src, tgt moses.Settings }

// argosMoses returns the rules of Argos Translate for its language codes.
func argosMoses(from, to string) *mosesSides {
	return &mosesSides{moses.Settings{Language: from, Normalize: true}, moses.Settings{Language: to, Normalize: true}}
}

// fairseqCodes is the file of codes beside the models of fairseq, such as those of WMT19.
const fairseqCodes = "bpecodes"

// fairseqMoses are the rules of fairseq without their language, which no file names.
var fairseqMoses = moses.Settings{SplitDashes: true}

// readSegments sets the tokenizers to those of a file of codes.
func (r *ct2Reader) readSegments(name string) error {
	path := r.tokenizers.name(name)
	data, err := r.tokenizers.read(name)
	if err != nil {
		return err
	}
	src, tgt := *r.src, *r.tgt
	src.codes, tgt.codes = &codes{path, data, nil}, &codes{path, data, nil}
	if r.moses != nil {
		src.codes.moses, tgt.codes.moses = &r.moses.src, &r.moses.tgt
	}
	r.source, r.target, err = pieceSides(&src, &tgt, r.joint)
	return err
}

// SetMosesLanguages sets the languages of tokenizers by Moses' rules whose files do not name them,
// which are those of fairseq, to those of f. It fails if f lacks them.
func SetMosesLanguages(f *model.File) error {
	t, err := vocab.UnmarshalTokenizers(f.Tokenizers)
	if err != nil {
		return err
	}
	changed := false
	set := func(t text.Tokenizer, language string) (text.Tokenizer, error) {
		s, ok := t.(*subword.Tokenizer)
		if !ok || s.Chain() == nil || s.Chain().Settings().Language != "" || s.Chain().Settings().Perl {
			return t, nil
		}
		settings := s.Chain().Settings()
		if settings.Language, _, _ = strings.Cut(language, "-"); settings.Language == "" {
			return t, fmt.Errorf("found %s of fairseq, which has rules for each language, expected -src-lang and -tgt-lang", fairseqCodes)
		}
		changed = true
		chain, err := moses.NewChain(settings)
		return subword.NewRaw(s.Codes(), s.Vocabulary(), chain), err
	}
	if t.Source, err = set(t.Source, f.SrcLang); err != nil {
		return err
	}
	if t.Target, err = set(t.Target, f.TgtLang); err != nil {
		return err
	}
	if changed {
		f.Tokenizers, err = t.Marshal()
	}
	return err
}
