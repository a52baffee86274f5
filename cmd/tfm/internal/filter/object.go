package filter

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"tfm/cmd/tfm/internal/cli"
	"tfm/cmd/tfm/internal/terminal"
	"tfm/text"
	"tfm/translate"
)

// objects is the Format of lines that are JSON objects. A blank line is copied.
type objects struct {
	*Answer
	text, key string // names of fields; key may be ""
	as        string // name of the translation
	breaks    bool   // texts keep their line breaks
}

// The fields of an answer, in addition to the translation.
const (
	scoreField     = "score"
	nBestField     = "nbest"
	memoryField    = "memory"     // true if a translation is that of -memory
	similarField   = "similarity" // of the source of -memory that the model was tuned to
	truncatedField = "truncated"  // true if a translation reached its length limit before its end
	errorField     = "error"
	sentencesField = "sentences" // of a text that was split: objects of a text and its answer

	alignmentField    = "alignment"     // links: pairs of indices
	sourceTokensField = "source_tokens" // the texts of the tokens that were translated
	targetTokensField = "target_tokens"
	attentionField    = "attention" // a row of weights of source tokens and EOS for each token

	// Of each token and of EOS: log-probabilities, and lists of pairs of text and
	// log-probability.
	tokenScoresField  = "token_scores"
	alternativesField = "alternatives"
)

// answerFields are all fields of answers, except the translation.
var answerFields = []string{memoryField, similarField, scoreField, nBestField, truncatedField, errorField, sentencesField, alignmentField, sourceTokensField, targetTokensField,
	attentionField, tokenScoresField, alternativesField}

func newObjects(o *Options, a *Answer) (Format, error) {
	f := objects{Answer: a, text: cmp.Or(o.Column, "text"), key: o.Key, as: cmp.Or(o.As, "translation"), breaks: o.Breaks}
	return f, cmp.Or(
		cli.UsageIf(slices.Contains(answerFields, f.as), "as %s: the field has another meaning", f.as),
		cli.UsageIf(f.as == f.text || f.as == f.key, "as is %q, expected another name than -column and -key", f.as),
		cli.UsageIf(slices.Contains(f.added(), f.text), "-column %s: the answer has a field of this name", f.text),
	)
}

// Parse returns the text, with spaces for its line breaks unless it keeps them.
func (f objects) Parse(line string) (s, key string, err error) {
	fields, err := objectFields(line)
	if err != nil || fields == nil {
		return "", "", err
	}
	for _, name := range f.added() {
		if _, ok := fields[name]; ok {
			return "", "", fmt.Errorf("found a field %q, which is the name of a field of the answer", name)
		}
	}
	if s, err = textField(fields, f.text); err == nil && !f.breaks {
		s, _ = text.OneLine(s)
	}
	if err == nil && f.CheckLanguages != nil {
		var from, to string
		if from, to, err = languagesIn(fields); err == nil {
			err = f.CheckLanguages(s, from, to)
		}
		if err != nil {
			s = ""
		}
	}
	if err != nil || f.key == "" {
		return s, "", err
	}
	switch raw, ok := fields[f.key]; {
	case !ok:
		return "", "", fmt.Errorf("found no field %q", f.key)
	case raw[0] == '"':
		err = json.Unmarshal(raw, &key)
	case raw[0] == '-' || '0' <= raw[0] && raw[0] <= '9':
		key = string(raw)
	default:
		err = fmt.Errorf("field %q is %s, expected a string or a number", f.key, kind(raw))
	}
	return s, key, err
}

// The fields of an object that name its languages, in a model of several.
const (
	fromField = "from"
	toField   = "to"
)

// languagesIn returns the languages of an object, "" for those that it does not name.
func languagesIn(fields map[string]json.RawMessage) (from, to string, err error) {
	if _, ok := fields[fromField]; ok {
		from, err = textField(fields, fromField)
	}
	if _, ok := fields[toField]; ok && err == nil {
		to, err = textField(fields, toField)
	}
	return from, to, err
}

// LineLanguages returns the languages that a JSON object names, "" for those that it does not.
func LineLanguages(line string) (from, to string) {
	fields, err := objectFields(line)
	if err != nil {
		return "", ""
	}
	from, to, _ = languagesIn(fields)
	return from, to
}

// textField returns a field that is a string.
func textField(fields map[string]json.RawMessage, name string) (s string, err error) {
	raw, ok := fields[name]
	if !ok {
		return "", fmt.Errorf("found no field %q", name)
	}
	if err := json.Unmarshal(raw, &s); err != nil || raw[0] != '"' {
		return "", fmt.Errorf("field %q is %s, expected a string", name, kind(raw))
	}
	return s, nil
}

// objectFields returns the fields of an object, nil for a blank line.
func objectFields(line string) (fields map[string]json.RawMessage, err error) {
	line = strings.TrimSpace(line)
	switch {
	case line == "":
		return nil, nil
	case line[0] != '{':
		return nil, fmt.Errorf("found %s, expected a JSON object", kind([]byte(line)))
	}
	if err := json.Unmarshal([]byte(line), &fields); err != nil {
		return nil, fmt.Errorf("malformed JSON: %w", err)
	}
	return fields, nil
}

// added returns the names of the fields that an answer may add to an object.
func (f objects) added() []string {
	names := []string{f.as, truncatedField}
	add := func(isAdded bool, name string) {
		if isAdded {
			names = append(names, name)
		}
	}
	add(f.Memory, memoryField)
	add(f.Adapt, similarField)
	add(f.Scores || f.NBest, scoreField)
	add(f.NBest, nBestField)
	add(f.Scores && f.Split, sentencesField)
	add(f.Align != "", alignmentField)
	add(f.tokenLinks(), sourceTokensField)
	add(f.tokenLinks() || f.NeedsTokens(), targetTokensField)
	add(f.Align == AlignSoft, attentionField)
	add(f.TokenScores, tokenScoresField)
	add(f.Alternatives > 0, alternativesField)
	return names
}

// tokenLinks reports whether the alignment is that of tokens.
func (f objects) tokenLinks() bool { return f.Align == AlignTokens || f.Align == AlignSoft }

// kind describes a JSON value, or text that begins none.
func kind(raw []byte) string {
	switch c := raw[0]; {
	case c == '"':
		return "a string"
	case c == '{':
		return "an object"
	case c == '[':
		return "an array"
	case c == '-' || '0' <= c && c <= '9':
		return "a number"
	case json.Valid(raw): // true, false, null
		return string(raw)
	}
	return "no JSON"
}

func (f objects) Write(w io.Writer, _ int, line string, r *translate.Result, err error) {
	switch line = strings.TrimSpace(line); {
	case line == "":
		io.WriteString(w, "\n")
		return
	case err != nil: // alone if the line is no object
		writeObject(w, withoutError(line), new(terminal.Object).Add(errorField, err.Error()))
		return
	}
	list := f.list(r)
	text, _, _ := f.Parse(line)
	answer := f.addTranslation(new(terminal.Object), text, r, &list[0])
	if f.tokenLinks() {
		answer.Add(sourceTokensField, tokenTexts(text, r.Tokens))
	}
	if f.Scores && f.Split {
		all := []*terminal.Object{}
		for i := range r.Sentences {
			s := &r.Sentences[i]
			object := new(terminal.Object).Add(f.text, text[s.Source.Start:s.Source.End])
			all = append(all, f.addTranslation(object, "", &s.Result, &s.Translations[0]))
		}
		answer.Add(sentencesField, all)
	}
	if f.NBest {
		var all []*terminal.Object
		for i := range list {
			all = append(all, f.addTranslation(new(terminal.Object), text, r, &list[i]))
		}
		answer.Add(nBestField, all)
	}
	writeObject(w, line, answer)
}

// writeObject writes an object with the fields of an answer.
func writeObject(w io.Writer, object string, answer *terminal.Object) {
	start := strings.TrimSuffix(object, "}")
	if strings.TrimSpace(start) != "{" {
		start += ","
	}
	io.WriteString(w, start+answer.Fields()+"}\n")
}

// withoutError returns an object without the field of an error, or an empty object for a line that
// is none. It sorts the fields if there is one to remove.
func withoutError(line string) string {
	fields, err := objectFields(line)
	if err != nil {
		return "{}"
	}
	if _, ok := fields[errorField]; !ok {
		return line
	}
	delete(fields, errorField)
	sorted, err := json.Marshal(fields)
	if err != nil {
		return "{}"
	}
	return string(sorted)
}

// addTranslation adds the fields of a translation of a text.
func (f objects) addTranslation(o *terminal.Object, text string, r *translate.Result, t *translate.Translation) *terminal.Object {
	o.Add(f.as, t.Text)
	if f.Scores || f.NBest {
		o.Add(scoreField, number(t.Score))
	}
	if r.InMemory {
		o.Add(memoryField, true)
	}
	if r.Similarity > 0 {
		o.Add(similarField, number(r.Similarity))
	}
	if t.Truncated {
		o.Add(truncatedField, true)
	}
	if f.tokenLinks() || f.NeedsTokens() {
		o.Add(targetTokensField, tokenTexts(t.Text, t.Tokens))
	}
	if f.Align != "" {
		o.Add(alignmentField, f.links(text, r, t))
	}
	if f.Align == AlignSoft {
		o.Add(attentionField, weights(t.Attention[:len(t.Tokens)]))
	}
	if f.TokenScores {
		scores := []json.RawMessage{}
		for _, x := range t.TokenScores {
			scores = append(scores, number(x))
		}
		o.Add(tokenScoresField, scores)
	}
	if f.Alternatives > 0 {
		all := [][][2]any{}
		for _, list := range t.Alternatives {
			var pairs [][2]any
			for _, x := range list {
				pairs = append(pairs, [2]any{f.TokenText(x.Token), number(x.LogP)})
			}
			all = append(all, pairs)
		}
		o.Add(alternativesField, all)
	}
	return o
}

// tokenTexts returns the text of each token of s.
func tokenTexts(s string, tokens []translate.Token) []string {
	texts := []string{}
	for _, k := range tokens {
		texts = append(texts, s[k.Start:k.End])
	}
	return texts
}

// weights returns attention weights with four decimals.
func weights(rows [][]float32) [][]json.RawMessage {
	all := [][]json.RawMessage{}
	for _, row := range rows {
		var list []json.RawMessage
		for _, w := range row {
			list = append(list, strconv.AppendFloat(nil, float64(w), 'f', 4, 32))
		}
		all = append(all, list)
	}
	return all
}

// number returns a score as a JSON number, or null if it is not finite.
func number(x float64) json.RawMessage {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return json.RawMessage("null")
	}
	return json.RawMessage(score(x))
}
