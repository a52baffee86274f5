package moses

import "strings"

// detokenize writes the words of a line as text, as detokenizer.perl of Moses, and restores escaped
// characters.
//
// Of the rules of sacremoses one is missing, that for mail after a dash in Czech, with which
// sacremoses stops.
func detokenize(l *line, language string) {
	l.joinDashes()
	l.unescape()
	var words [][]char
	l.words(func(word []char) { words = append(words, word) })
	w := writer{line: l, language: language, classes: classes(), words: words, quotes: map[string]int{}}
	for i := range words {
		w.add(i)
	}
	l.swap()
	l.joinSpaces(isASCIISpace)
	l.trim()
}

// joinDashes joins words that Moses' tokenizer separates at dashes as an option.
func (l *line) joinDashes() {
	if !l.may.has('@') {
		return
	}
	space := char{r: ' '}
	if n := len(l.chars); n > 0 {
		space.at = l.chars[n-1].at
	}
	l.chars = append(append([]char{{r: ' '}}, l.chars...), space)
	l.may.add(' ')
	l.rewrite(' ', func(i, _ int) int {
		const separated = " @-@ "
		if !l.hasAt(i, []rune(separated)) {
			return i
		}
		l.write("-", l.chars[i+len(separated)-2])
		return i + len(separated)
	})
}

// unescaped are the names that unescape restores: escapes and older ones.
var unescaped = rulesOf(
	"&bar;", "|", "&#124;", "|", "&lt;", "<", "&gt;", ">", "&bra;", "[", "&ket;", "]", "&quot;", `"`, "&apos;", "'", "&#91;", "[", "&#93;", "]",
	"&amp;", "&",
)

// unescape restores escaped characters.
func (l *line) unescape() {
	l.rewrite('&', func(i, _ int) int {
		for _, u := range unescaped {
			if l.hasAt(i, u.old) {
				end := i + len(u.old)
				l.write(u.new, l.chars[end-1])
				return end
			}
		}
		return i
	})
}

// writer writes words to l.out.
type writer struct {
	*line
	language string
	classes  *classTable
	words    [][]char
	joins    bool           // the next word follows without a space
	quotes   map[string]int // number of each quotation mark so far
}

// append appends a word, without a space before it if it joins the previous one.
func (w *writer) append(word []char, joins bool) {
	if !joins && len(w.out) > 0 {
		w.out = append(w.out, char{' ', w.out[len(w.out)-1].at})
	}
	w.out = append(w.out, word...)
	w.joins = false
}

// add writes word i.
func (w *writer) add(i int) {
	word := w.words[i]
	first, last := word[0].r, word[len(word)-1].r
	var previous, next []char
	if i > 0 {
		previous = w.words[i-1]
	}
	if i+1 < len(w.words) {
		next = w.words[i+1]
	}
	isAlpha := func(r rune) bool { return w.classes.is(r, alpha) }
	switch {
	case isCJK(first) && w.language != "ko":
		w.append(word, w.joins || previous != nil && isCJK(previous[len(previous)-1].r))
	case w.all(word, func(r rune) bool { return strings.ContainsRune("([{¿¡", r) || w.classes.is(r, currency) }):
		w.append(word, w.joins)
		w.joins = true
	case w.all(word, func(r rune) bool { return strings.ContainsRune(`,.?!:;\%}])`, r) }):
		isSpaced := w.language == "fr" && len(word) == 1 && strings.ContainsRune(`?!:;\%`, first)
		w.append(word, !isSpaced)
	case w.language == "en" && previous != nil && first == '\'' && len(word) > 1 && isAlpha(word[1].r):
		w.append(word, true)
	case w.language == "cs" && i > 1 && w.all(word, isASCIIDigit) && w.endsInDecimal():
		w.append(word, true)
	case (w.language == "fr" || w.language == "it" || w.language == "ga") && last == '\'' && len(word) > 1 && isAlpha(word[len(word)-2].r) &&
		next != nil && isAlpha(next[0].r):
		w.append(word, w.joins)
		w.joins = true
	case w.all(word, func(r rune) bool { return strings.ContainsRune("'\"„“`", r) }):
		w.addQuote(word, previous)
	default:
		w.append(word, w.joins)
	}
}

// addQuote writes quotation marks: every second is a closing one.
func (w *writer) addQuote(word, previous []char) {
	s := textOf(word)
	if w.all(word, func(r rune) bool { return r == '„' || r == '“' }) {
		if w.language == "cs" && len(word) == 1 {
			w.quotes[`"`] = map[string]int{"„": 0, "“": 1}[s]
		}
		s = `"`
	}
	isClosing := w.quotes[s]%2 != 0
	if !isClosing && w.language == "en" && s == "'" && previous != nil && previous[len(previous)-1].r == 's' {
		w.append(word, true) // of a possessive
		return
	}
	w.quotes[s]++
	w.append(word, isClosing || w.joins)
	w.joins = !isClosing
}

// endsInDecimal reports whether the last two words are a number and a separator. sacremoses looks
// there, and not before a word.
func (w *writer) endsInDecimal() bool {
	n := len(w.words)
	separator := w.words[n-1]
	return len(separator) == 1 && (separator[0].r == '.' || separator[0].r == ',') && w.all(w.words[n-2], isASCIIDigit)
}

// all reports whether all characters of a word are in set.
func (w *writer) all(word []char, set func(rune) bool) bool {
	for _, c := range word {
		if !set(c.r) {
			return false
		}
	}
	return true
}

func isASCIIDigit(r rune) bool { return r >= '0' && r <= '9' }
