package translate

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"tfm/text"
)

// Glossary holds terms and their translations. It is immutable and safe for concurrent use.
type Glossary struct {
	entries map[string][]entry // by the first word of a form in lower case, the longest form first
}

// Len returns the number of forms of terms.
func (g *Glossary) Len() (n int) {
	for _, list := range g.entries {
		n += len(list)
	}
	return n
}

// entry is a form of a term.
type entry struct {
	form    string
	target  string   // "" copies the term
	accepts []string // translations that may stand instead
}

// Term is a term in a text.
type Term struct {
	text.Range

	// Target is its translation, the text of Range for a term that is copied.
	Target string

	// Accepts are other forms of Target, which a translation may have in its place.
	Accepts []string
}

// The limits of a glossary.
const (
	maxGlossaryBytes = 64 << 20
	maxTermBytes     = 1000
	maxTermForms     = 100
)

// ReadGlossary reads a glossary: lines of two columns separated by a tab, which are the forms of a
// term, separated by "|", and its translations, likewise.
//
// The translation of a form is the one in the same position, if there are as many translations as
// forms, or else the first. The others are accepted. A term without translations, or without
// a second column, is copied. Further columns and blank lines are ignored, and of equal forms all
// but the first. Errors begin with name and the number of a line.
func ReadGlossary(r io.Reader, name string) (*Glossary, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxGlossaryBytes+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", name, err)
	case len(data) > maxGlossaryBytes:
		return nil, fmt.Errorf("%s: more than %d MB, expected a glossary", name, maxGlossaryBytes>>20)
	}
	g := &Glossary{entries: map[string][]entry{}}
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	if bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte("<")) {
		return nil, fmt.Errorf("%s:1: found XML, such as TBX, expected lines of a term, a tab and its translation", name)
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, maxGlossaryBytes)
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		if text.IsBlank(line) {
			continue
		}
		columns := append(strings.Split(line, "\t"), "")
		if err := g.add(strings.Split(columns[0], "|"), strings.Split(columns[1], "|")); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, n, err)
		}
	}
	for _, list := range g.entries {
		slices.SortStableFunc(list, func(a, b entry) int { return len(b.form) - len(a.form) })
	}
	return g, nil
}

// add adds the forms of a term. If they are paired with as many targets, each has its own.
func (g *Glossary) add(forms, targets []string) error {
	if len(targets) == 1 && text.IsBlank(targets[0]) {
		targets = nil
	}
	if len(forms) > maxTermForms || len(targets) > maxTermForms {
		return fmt.Errorf("found %d forms and %d translations, expected up to %d", len(forms), len(targets), maxTermForms)
	}
	clean := func(list []string, what string) error {
		for i, s := range list {
			list[i] = strings.Join(strings.Fields(s), " ")
			switch {
			case !utf8.ValidString(s):
				return fmt.Errorf("%s %.40q: expected valid UTF-8", what, s)
			case !strings.ContainsFunc(s, isAlphanumeric):
				return fmt.Errorf("%s %.40q: found no letter or digit", what, s)
			case len(s) > maxTermBytes:
				return fmt.Errorf("%s %.40q: %d bytes, expected up to %d", what, s, len(s), maxTermBytes)
			}
		}
		return nil
	}
	if err := clean(forms, "term"); err != nil {
		return err
	}
	if err := clean(targets, "translation"); err != nil {
		return err
	}
	for i, form := range forms {
		e := entry{form: form}
		if len(targets) > 0 {
			e.target = targets[0]
			if len(targets) == len(forms) {
				e.target = targets[i]
			}
			e.accepts = targets
		}
		word := firstWord(form)
		g.entries[word] = append(g.entries[word], e)
	}
	return nil
}

// firstWord returns the first word of s in lower case, one character in scripts without spaces
// between words.
func firstWord(s string) string {
	_, n := utf8.DecodeRuneInString(s)
	for isSpaced(runeBefore(s, n)) && isSpaced(runeAfter(s, n)) {
		n += utf8.RuneLen(runeAfter(s, n))
	}
	return strings.ToLower(s[:n])
}

// Match returns the terms of s: from left to right the longest of those that begin at a word. White
// space in a term matches any. A term without capitals matches words in any case, any other only
// itself and, if one letter alone is a capital or none but the first, itself in capitals.
func (g *Glossary) Match(s string) (terms []Term) {
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if !isAlphanumeric(r) && unicode.IsSpace(r) || isSpaced(r) && isSpaced(runeBefore(s, i)) {
			i += size
			continue
		}
		n := 0
		for _, e := range g.entries[firstWord(s[i:])] {
			if n = matchForm(s[i:], e.form); n == 0 {
				continue
			}
			t := Term{Range: text.Range{Start: i, End: i + n}, Target: e.target, Accepts: e.accepts}
			if t.Target == "" {
				t.Target = s[i : i+n]
			} else if isUpper(s[i:i+n]) && !isUpper(e.form) {
				t.Target = strings.ToUpper(t.Target)
			}
			terms = append(terms, t)
			break
		}
		i += max(n, size)
	}
	return terms
}

// matchForm returns the number of bytes of s that are the form of a term, up to the end of a word,
// 0 for none.
func matchForm(s, form string) int {
	isLower := strings.ToLower(form) == form
	n := 0
	for _, want := range form {
		r, size := utf8.DecodeRuneInString(s[n:])
		switch {
		case want == ' ' && unicode.IsSpace(r):
			for unicode.IsSpace(r) {
				n += size
				r, size = utf8.DecodeRuneInString(s[n:])
			}
			continue
		case r != want && !(isLower && unicode.ToLower(r) == want) || size == 0:
			return 0
		}
		n += size
	}
	if isSpaced(runeBefore(s, n)) && isSpaced(runeAfter(s, n)) {
		return 0
	}
	return n
}

// isUpper reports whether s has several letters and all are capitals.
func isUpper(s string) bool {
	return strings.ToUpper(s) == s && strings.ToLower(s) != s && utf8.RuneCountInString(s) > 1
}
