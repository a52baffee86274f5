package translate

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"tfm/model/decode"
	"tfm/text"
	"tfm/text/script"
)

// CheckPhrase returns an error if phrase cannot be a result of Request.PhrasesOf: it is blank, has
// a line break, is not valid UTF-8, or has characters that the target vocabulary cannot spell.
func (t *Translator) CheckPhrase(phrase string) error {
	s, err := t.spell(phrase)
	if err == nil {
		_, err = decode.Phrases(t.pieces, [][]string{{s}})
	}
	return err
}

// spell returns the text of a phrase as the tokenizer writes it: normalized, after a space in
// scripts with spaces between words, so that it is not found within a word.
func (t *Translator) spell(phrase string) (string, error) {
	switch {
	case text.IsBlank(phrase):
		return "", fmt.Errorf("phrase %.40q: found no word", phrase)
	case !utf8.ValidString(phrase) || strings.ContainsAny(phrase, "\r\n"):
		return "", fmt.Errorf("phrase %.40q: expected one line of valid UTF-8", phrase)
	}
	phrase = strings.TrimSpace(phrase)
	var b strings.Builder
	for _, id := range t.tokenizers.Target.Encode(nil, phrase) {
		b.WriteString(t.pieces.Bytes(id))
	}
	if first, _ := utf8.DecodeRuneInString(phrase); script.OfUnspaced(first) != script.None {
		return strings.TrimPrefix(b.String(), " "), nil
	}
	return b.String(), nil
}

// phrases returns the Constraint of the phrases of the texts with the given indices, nil if they
// have none.
func (t *Translator) phrases(r Request, indices []int) (decode.Constraint, error) {
	if r.PhrasesOf == nil {
		return nil, nil
	}
	lists, n := make([][]string, len(indices)), 0
	for k, i := range indices {
		for _, phrase := range r.PhrasesOf(r.Texts[i]) {
			s, err := t.spell(phrase)
			if err != nil {
				return nil, err
			}
			lists[k] = append(lists[k], s)
			n++
		}
	}
	if n == 0 {
		return nil, nil
	}
	return decode.Phrases(t.pieces, lists)
}
