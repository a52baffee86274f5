package filter

import (
	"cmp"
	"hash/fnv"
	"io"
	"strconv"
	"strings"

	"tfm/cmd/tfm/internal/cli"
	"tfm/translate"
)

// Format is the form of input and output.
type Format interface {
	// Parse returns the text and the key of a line. The key is "" unless the format has one.
	Parse(line string) (text, key string, err error)

	// Write writes a line and its answer. number counts lines from 0. If Parse fails for the
	// line, its error is err, and the line has no translation.
	Write(w io.Writer, number int, line string, r *translate.Result, err error)
}

// Answer selects the parts of an answer.
type Answer struct {
	NBest  bool // all translations with their numbers and scores, not only the best translation
	Scores bool
	Memory bool   // mark translations of -memory
	Adapt  bool   // and those of a model that was tuned to it
	Split  bool   // texts are split into sentences; an object with scores has those of each
	Align  string // "", AlignWords, AlignTokens or AlignSoft

	// The fields of a JSON object for each token.
	TokenScores  bool
	Alternatives int // length of the list of each token
	// CheckLanguages returns an error if the model cannot translate the text of a JSON object
	// between its languages; nil if the model has one on each side.
	CheckLanguages func(text, from, to string) error
	// TokenText returns the text of a target token, for Alternatives.
	TokenText func(id int32) string
}

// NeedsTokens reports whether Write needs the tokens of translations.
func (a *Answer) NeedsTokens() bool { return a.TokenScores || a.Alternatives > 0 }

// The kinds of alignments. Links are pairs of indices from 0, of the source and the translation.
const (
	AlignWords  = "words"  // links of words, which are separated by white space
	AlignTokens = "tokens" // links of tokens
	AlignSoft   = "soft"   // links of tokens and the weights of attention
)

// AnswerFlags declares the flags of an Answer, except that of NBest.
func AnswerFlags(f *cli.Flags) *Answer {
	a := new(Answer)
	f.BoolVar(&a.Scores, "scores", false, "add the score of each translation, after a tab or as a field")
	f.BoolVar(&a.TokenScores, "token-scores", false, "with -json, add the tokens and their log-probabilities").Needs("json").Setting()
	f.IntVar(&a.Alternatives, "alternatives", 0, "with -json, add the tokens and the N most probable ones at each position").Range(0, 64).Needs("json").Setting()
	f.StringVar(&a.Align, "align", "", "add the alignment of each translation:\n"+
		"  words   pairs i-j of a source word and a target word, from 0\n"+
		"  tokens  pairs of tokens\n"+
		"  soft    pairs of tokens and the weights of attention, with -json").Choices(AlignWords, AlignTokens, AlignSoft)
	return a
}

// links returns the links of a translation of a text.
func (a *Answer) links(text string, r *translate.Result, t *translate.Translation) [][2]int {
	links := [][2]int{} // not null in JSON
	if a.Align == AlignWords {
		return append(links, r.AlignWords(text, *t)...)
	}
	for i, j := range t.Alignment() {
		links = append(links, [2]int{j, i})
	}
	return links
}

// pharaoh formats links as i-j with spaces between them.
func pharaoh(links [][2]int) string {
	words := make([]string, len(links))
	for i, l := range links {
		words[i] = strconv.Itoa(l[0]) + "-" + strconv.Itoa(l[1])
	}
	return strings.Join(words, " ")
}

// Options are the flags that select a Format.
type Options struct {
	JSON   bool   // lines are objects
	Column string // column or field of the text; "" is the default field, or lines without columns
	Key    string // column or field of the key; "" is none
	As     string // field of the translation; "" is the default
	Breaks bool   // keep the line breaks of a JSON text
}

// Flags declares the flags of a Format.
func Flags(f *cli.Flags) *Options {
	o := new(Options)
	f.StringVar(&o.Column, "column", "", "number of the `column` to translate, from 1: lines are columns separated by tabs; they are copied, and the answer is added. With -json the name of the field (default text)")
	f.BoolVar(&o.JSON, "json", false, "lines are JSON objects; their fields are copied, and the answer is added")
	f.StringVar(&o.Key, "key", "", "`column`, or field, that takes the place of the line's number in -nbest and -sample; without -column and -json 1, the line").Needs("sample", "nbest")
	f.StringVar(&o.As, "as", "", "`field` of the translation with -json (default translation)").Needs("json").Setting()
	return o
}

// Format returns the Format that the flags select. The error is that of a wrong flag.
func (o *Options) Format(a *Answer) (Format, error) {
	err := cmp.Or(
		cli.UsageIf(a.Align == AlignSoft && !o.JSON, "-align soft needs -json"),
		cli.UsageIf(o.Key != "" && o.Key != "1" && o.Column == "" && !o.JSON, "-key %s needs -column or -json; -key 1 is the line", o.Key),
	)
	switch {
	case err != nil:
		return nil, err
	case o.JSON:
		return newObjects(o, a)
	case o.Column != "":
		return newColumns(o, a)
	}
	return plain{a, o.Key != ""}, nil
}

// Number returns the number that selects the draws of a key. A decimal key is its own number, so
// that keys that count lines from 0 change no draw; others are hashed.
func Number(key string) uint64 {
	if n, err := strconv.ParseUint(key, 10, 64); err == nil && strconv.FormatUint(n, 10) == key {
		return n
	}
	h := fnv.New64a()
	io.WriteString(h, key)
	return h.Sum64()
}

// score formats a score as in n-best lists.
func score(x float64) string { return strconv.FormatFloat(x, 'f', 6, 64) }

// list returns the translations that a selects: at least one, which is empty for a blank text.
func (a *Answer) list(r *translate.Result) []translate.Translation {
	switch {
	case len(r.Translations) == 0:
		return []translate.Translation{{}}
	case !a.NBest:
		return r.Translations[:1]
	}
	return r.Translations
}
