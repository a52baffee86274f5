package translate

import (
	"cmp"

	"tfm/lang"
	"tfm/mat"
	"tfm/model"
	"tfm/text"
)

// affixes are the tokens that name the languages of a text and its translation.
type affixes struct{ model.Affixes }

// wrap returns the source of a text's ids.
func (a *affixes) wrap(ids []int32) []int32 {
	if len(a.Before)+len(a.After) == 0 {
		return ids
	}
	src := make([]int32, 0, len(a.Before)+len(ids)+len(a.After))
	return append(append(append(src, a.Before...), ids...), a.After...)
}

// length returns the number of tokens that wrap adds.
func (a *affixes) length() int { return len(a.Before) + len(a.After) }

// textWeights turns a row of attention to a source into that to its text and then, as one element,
// to all else. It changes row.
func (a *affixes) textWeights(row []float32) []float32 {
	end := len(row) - 1 - len(a.After)
	rest := row[end:]
	sum := rest[len(rest)-1]
	for _, w := range rest[:len(rest)-1] {
		sum += w
	}
	for _, w := range row[:len(a.Before)] {
		sum += w
	}
	row[end] = sum
	return row[len(a.Before) : end+1]
}

// textMatrix returns a copy of the attention of a target to a source with the rows of the target's
// text, as textWeights makes them.
func (a *affixes) textMatrix(w mat.Matrix) mat.Matrix {
	var data []float32
	row := make([]float32, w.Cols)
	for i := len(a.Begin); i < w.Rows; i++ {
		copy(row, w.Row(i))
		data = append(data, a.textWeights(row)...)
	}
	return mat.Of(data, w.Rows-len(a.Begin), w.Cols-a.length())
}

// textCode returns the code >>id<< that s begins with, of a language that the model may lack, and
// where the text after it begins. It returns "" and 0 if s begins with none, or if no code selects
// the model's target.
func (t *Translator) textCode(s string) (code string, offset int) {
	if t.config.TgtLanguages == "" {
		return "", 0
	}
	code, rest, found := lang.CutCode(s)
	if !found {
		return "", 0
	}
	return ">>" + code + "<<", len(s) - len(rest)
}

// codeOf returns the code of text i of r, which its own >>id<< or r.codes names, or "" for that of
// r.To, and where the text after its own begins.
func (t *Translator) codeOf(r *Request, i int) (code string, offset int) {
	code, offset = t.textCode(r.Texts[i])
	if i < len(r.codes) {
		code = cmp.Or(code, r.codes[i])
	}
	return code, offset
}

// affixesByCodes holds the affixes of the languages of a call, because finding a language in a list
// of 200 takes 0.1 ms.
type affixesByCodes map[[2]string]affixes

// affixes returns the affixes of a text. from and to may be "". The error is a *model.FieldError
// that lists the languages.
func (t *Translator) affixes(known affixesByCodes, from, to string) (a affixes, err error) {
	if a, ok := known[[2]string{from, to}]; ok {
		return a, nil
	}
	src, tgt, err := t.chooseLanguages(from, to)
	if err != nil {
		return a, err
	}
	a.Affixes = t.config.Affixes(src, tgt)
	known[[2]string{from, to}] = a
	return a, nil
}

// Tags returns the BCP 47 tags of the languages of a Request with From and To, "" if unknown.
func (t *Translator) Tags(from, to string) (src, tgt string) {
	src, tgt = t.srcLang, t.tgtLang
	if l, err := chooseLanguage("from", t.config.SrcLanguages, cmp.Or(from, t.from), src); err == nil && l.Code != "" {
		src = lang.Of(l.Code)
	}
	if l, err := chooseLanguage("to", t.config.TgtLanguages, cmp.Or(to, t.to), tgt); err == nil && l.Code != "" {
		tgt = lang.Of(l.Code)
	}
	return src, tgt
}

// chooseLanguages returns the languages of a text, as affixes does.
func (t *Translator) chooseLanguages(from, to string) (src, tgt model.Language, err error) {
	if src, err = chooseLanguage("from", t.config.SrcLanguages, cmp.Or(from, t.from), t.srcLang); err != nil {
		return src, tgt, err
	}
	tgt, err = chooseLanguage("to", t.config.TgtLanguages, cmp.Or(to, t.to), t.tgtLang)
	return src, tgt, err
}

// chooseLanguage returns the language of a side. want is the code that the caller gives, and known
// that of the model file; either may be "".
func chooseLanguage(field string, l model.Languages, want, known string) (model.Language, error) {
	if l == "" {
		if want == "" || known != "" && lang.Is(want, known) {
			return model.Language{}, nil
		}
		expected := cmp.Or(known, "no language") + ", because the model has one " + map[string]string{"from": "source", "to": "target"}[field] + " language"
		if known == "" {
			expected += ", which its file does not name"
		}
		return model.Language{}, &model.FieldError{Field: field, Found: want, Expected: expected}
	}
	if list := l.List(); want == "" && len(list) == 1 {
		return list[0], nil
	}
	if want == "" && known != "" {
		if found, err := l.Find(field, known); err == nil {
			return found, nil
		}
	}
	return l.Find(field, want)
}

// CheckLanguages returns the error of a Request for s with From and To: a *model.FieldError for
// from or to if it is missing, or if the model has no such language or several.
func (t *Translator) CheckLanguages(s, from, to string) error {
	code, offset := t.textCode(s)
	if text.IsBlank(s[offset:]) {
		return nil
	}
	_, err := t.affixes(affixesByCodes{}, from, cmp.Or(code, to))
	return err
}

// checkOptions returns a *model.FieldError for a language of the options that the model does not
// have.
func (t *Translator) checkOptions() error {
	if from := t.from; from != "" {
		if _, err := chooseLanguage("from", t.config.SrcLanguages, from, t.srcLang); err != nil {
			return err
		}
	}
	if to := t.to; to != "" {
		if _, err := chooseLanguage("to", t.config.TgtLanguages, to, t.tgtLang); err != nil {
			return err
		}
	}
	return nil
}

// encodeSource returns the source of s in a call without options, and its affixes.
func (t *Translator) encodeSource(known affixesByCodes, s string) ([]int32, affixes, error) {
	code, offset := t.textCode(s)
	a, err := t.affixes(known, "", code)
	return a.wrap(t.tokenizers.Source.Encode(nil, s[offset:])), a, err
}

// shifted returns ranges of a text as those of the text with n bytes before it, which are in the
// first range.
func shifted(ranges []text.Range, n int) []text.Range {
	for i := range ranges {
		ranges[i].Start, ranges[i].End = ranges[i].Start+n, ranges[i].End+n
	}
	if len(ranges) > 0 {
		ranges[0].Start = 0
	}
	return ranges
}
