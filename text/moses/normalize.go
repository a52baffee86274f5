package moses

import (
	"slices"
	"unicode"
)

// Normalizer makes punctuation uniform, as normalize-punctuation.perl of Moses. It is immutable and
// safe for concurrent use.
type Normalizer struct {
	language string
	options  NormalizerOptions
}

// NormalizerOptions are the steps of a Normalizer besides those of every one. The zero value has
// the defaults of sacremoses.
type NormalizerOptions struct {
	KeepBackquotes bool // ` and '' remain, as quotes of the Penn Treebank
	ReplaceWide    bool // first replace wide and Chinese punctuation by ASCII
	RemoveControl  bool // last remove control, format, private and unassigned characters
}

// NewNormalizer returns the Normalizer of a language.
func NewNormalizer(language string, o NormalizerOptions) *Normalizer {
	return &Normalizer{language, o}
}

// Normalize returns s with uniform punctuation.
func (n *Normalizer) Normalize(s string) string {
	l := newLine(s)
	defer l.free()
	n.normalize(l)
	return l.String()
}

// The rules, in the order of their application.
var (
	bracketRules = rulesOf("\r", "", "(", " (", ")", ") ")
	spaceRules   = rulesOf(
		") .", ").", ") !", ")!", ") :", "):", ") ?", ")?", ") ;", ");", ") ,", "),", "( ", "(", " )", ")",
	)
	colonRules     = rulesOf(" :", ":", " ;", ";")
	backquoteRules = rulesOf("`", "'", "''", ` " `)
	quoteRules     = rulesOf("„", `"`, "“", `"`, "”", `"`, "–", "-", "—", " - ")
	singleRules    = rulesOf("´", "'", "‘", "'", "‚", "'", "’", "'", "''", `"`, "…", "...")
	frenchRules    = rulesOf("\u00A0«\u00A0", `"`, "«\u00A0", `"`, "«", `"`, "\u00A0»\u00A0", `"`, "\u00A0»", `"`, "»", `"`)
	noBreakRules   = rulesOf(
		"\u00A0%", "%", "nº\u00A0", "nº ", "\u00A0:", ":", "\u00A0ºC", " ºC", "\u00A0cm", " cm", "\u00A0?", "?", "\u00A0!", "!",
		"\u00A0;", ";", ",\u00A0", ", ",
	)
)

var quoteCommaRules = rulesOf(`,"`, `",`)

// wideRules are those of replace-unicode-punctuation.perl; 。 and ． also replace the white space
// after them.
var wideRules = map[rune]string{
	'，': ",", '。': ". ", '、': ",", '”': `"`, '“': `"`, '∶': ":", '：': ":", '？': "?", '《': `"`, '》': `"`, '）': ")", '！': "!", '（': "(", '；': ";",
	'」': `"`, '「': `"`, '０': "0", '１': "1", '２': "2", '３': "3", '４': "4", '５': "5", '６': "6", '７': "7", '８': "8", '９': "9", '．': ". ",
	'～': "~", '’': "'", '…': "...", '━': "-", '〈': "<", '〉': ">", '【': "[", '】': "]", '％': "%",
}

func (n *Normalizer) normalize(l *line) {
	if n.options.ReplaceWide {
		l.replaceWide()
	}
	l.replace(bracketRules)
	l.joinSpaces(isASCIISpace)
	l.replace(spaceRules)
	l.joinPercent()
	l.replace(colonRules)
	if !n.options.KeepBackquotes {
		l.replace(backquoteRules)
	}
	l.replace(quoteRules)
	l.joinSpaces(isASCIISpace)
	l.replace(singleRules)
	l.replace(frenchRules)
	l.replace(noBreakRules)
	l.joinSpaces(isASCIISpace)
	separator := "."
	if slices.Contains([]string{"de", "es", "cs", "cz", "fr"}, n.language) {
		separator = ","
	}
	switch n.language {
	case "en":
		l.quoteAfterComma()
	case "de", "es", "fr":
		l.replace(quoteCommaRules)
		l.quoteBeforeStop()
	}
	l.joinNumbers(separator)
	if n.options.RemoveControl {
		l.keep(isAssigned)
	}
	l.trim()
}

// replaceWide replaces wide punctuation.
func (l *line) replaceWide() {
	for i := 0; i < len(l.chars); {
		c := l.chars[i]
		i++
		s, ok := wideRules[c.r]
		if !ok {
			l.out = append(l.out, c)
			continue
		}
		l.write(s, c)
		if c.r == '。' || c.r == '．' {
			i = l.run(i, isSpace)
		}
	}
	l.swap()
}

// joinPercent removes the space between a number and a percent sign.
func (l *line) joinPercent() {
	l.rewrite(' ', func(i, last int) int {
		if i == last || !unicode.IsDigit(l.chars[i-1].r) || !l.hasAt(i, []rune(" %")) {
			return i
		}
		l.out = append(l.out, l.chars[i+1])
		return i + 2
	})
}

// joinNumbers replaces the no-break space between two digits.
func (l *line) joinNumbers(separator string) {
	l.rewrite('\u00A0', func(i, last int) int {
		if i == last || i+1 == len(l.chars) || !unicode.IsDigit(l.chars[i-1].r) || !unicode.IsDigit(l.chars[i+1].r) {
			return i
		}
		l.write(separator, l.chars[i])
		l.out = append(l.out, l.chars[i+1])
		return i + 2
	})
}

// quoteAfterComma moves quotation marks after commas and full stops.
func (l *line) quoteAfterComma() {
	l.rewrite('"', func(i, _ int) int {
		end := l.run(i+1, func(r rune) bool { return r == ',' || r == '.' })
		if end == i+1 {
			return i
		}
		l.out = append(append(l.out, l.chars[i+1:end]...), l.chars[i])
		return end
	})
}

// quoteBeforeStop moves quotation marks before full stops, but not at the end of a line.
func (l *line) quoteBeforeStop() {
	l.rewrite('.', func(i, _ int) int {
		quote := l.run(i, func(r rune) bool { return r == '.' })
		if quote == len(l.chars) || l.chars[quote].r != '"' {
			l.out = append(l.out, l.chars[i:quote]...)
			return quote
		}
		end := l.run(quote+1, isSpace)
		if end < len(l.chars) && l.chars[end].r != '<' {
			end++
		}
		if end == quote+1 { // the end of the line, or <
			l.out = append(l.out, l.chars[i:quote]...)
			return quote
		}
		l.out = append(append(l.out, l.chars[quote]), l.chars[i:quote]...)
		l.out = append(l.out, l.chars[quote+1:end]...)
		return end
	})
}

// isAssigned reports whether r is in no general category that begins with C.
func isAssigned(r rune) bool {
	return unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z)
}
