package split

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// stop is a kind of stop. In a run of several the largest kind counts.
type stop uint8

const (
	noStop   stop = iota
	period        // '.', which may belong to an abbreviation
	ellipsis      // …, or two or more periods
	mark          // question and exclamation marks; a lower-case letter continues the sentence
	full          // stops that end a sentence without a space after them
)

// stopOf returns the kind of r in text of any script.
func stopOf(r rune) stop {
	switch r {
	case '.':
		return period
	case '…', '⋯', '‥':
		return ellipsis
	case '!', '?', '؟', '‼', '⁇', '⁈', '⁉', '‽', '\u037E':
		return mark
	case '。', '｡', '！', '？', '．', '︒', '।', '॥', '۔', '։', '።', '፧', '፨', '၊', '။', '។', '៕', '๚', '๛', '།', '᙮', '᠃', '᠉', '꓿', '꘎':
		return full
	}
	return noStop
}

// stopAt returns the kind of the stop at i, considering the script of the text.
func (s *sentence) stopAt(i int) stop {
	r, size := utf8.DecodeRuneInString(s.w[i:])
	switch r {
	case ';': // the question mark of Greek
		if unicode.Is(unicode.Greek, lastRune(s.w[:i])) {
			return mark
		}
	case ':': // the full stop of Armenian
		if isArmenian(lastRune(s.w[:i])) {
			return mark
		}
	case '.': // a comma of Armenian
		if isArmenian(lastRune(s.w[:i])) {
			return noStop
		}
	case '፡': // twice, the full stop of Ethiopic
		if strings.HasPrefix(s.w[i+size:], "፡") {
			return full
		}
	}
	return stopOf(r)
}

func isArmenian(r rune) bool { return 0x0531 <= r && r <= 0x0587 }

// run returns the end and the kind of the run of stops at i.
func (s *sentence) run(i int) (end int, kind stop) {
	dots := 0
	for i < len(s.w) {
		r, size := utf8.DecodeRuneInString(s.w[i:])
		k := s.stopAt(i)
		if r == '፡' {
			if k == full {
				size *= 2
			}
		} else if kind > noStop && (r == ';' || r == ':') {
			k = noStop
		}
		if k == noStop {
			break
		}
		if k == period {
			if dots++; dots > 1 {
				k = ellipsis
			}
		}
		kind = max(kind, k)
		i += size
	}
	return i, kind
}

// atStop examines the stop at i. It returns the end of the sentence, 0 if the stop does not end it,
// and the offset before which no other stop needs to be examined.
func (s *sentence) atStop(i int) (end, next int) {
	w := s.w
	end, kind := s.run(i)
	quoted := false
	for {
		n, isQuote := s.closers(end, kind)
		if n == 0 {
			break
		}
		quoted = quoted || isQuote
		end += n
		if n, k := s.run(end); n > end { // as in (He left.).
			end, kind = n, max(kind, k)
		}
	}
	if end <= s.closed && s.closed > 0 {
		return 0, end
	}
	space, breaks := white(w[end:])
	if space > 0 && breaks == 0 && space <= utf8.UTFMax {
		if n := s.spacedCloser(end + space); n > 0 { // as in « Il part. »
			quoted, end = true, end+space+n
			space, breaks = white(w[end:])
		}
		if n := s.emoji(end + space); n > 0 {
			end += space + n
			space, breaks = white(w[end:])
		}
	}
	if end+space == len(w) || breaks > 0 && s.breakEnds(end, end+space, breaks) {
		return end, end
	}
	x := stopContext{kind: kind, start: i, end: end, quoted: quoted, space: space > 0}
	if x.space || s.needsNoSpace(x) {
		x.next = s.following(end + space)
		if s.ends(x) {
			return end, end
		}
	}
	return 0, end
}

// stopContext is a stop and the text after it.
type stopContext struct {
	kind       stop
	start, end int  // of the stop with the quotes and brackets that close after it
	quoted     bool // quotes close after it
	space      bool // white space follows
	next       following
}

// closers returns the length of the quotes, brackets and references that close a sentence at i,
// after a stop of a kind, and whether they have quotes.
func (s *sentence) closers(i int, kind stop) (n int, quoted bool) {
	w := s.w
	for i+n < len(w) {
		r, size := utf8.DecodeRuneInString(w[i+n:])
		switch {
		case closes(r):
			quoted = quoted || r == '”' || r == '’' || r == '」' || r == '』' || r == '›'
		case quotes(r):
			if !s.closesQuote(i+n, size, kind) {
				return n, quoted
			}
			quoted = true
		case r == '[':
			if size = len(reference.FindString(w[i+n:])); size == 0 {
				return n, quoted
			}
		case r == '¹' || r == '²' || r == '³' || 0x2070 <= r && r <= 0x2079 && r != 0x2071:
		case isDirectionEnd(r):
		default:
			return n, quoted
		}
		n += size
	}
	return n, quoted
}

// closesQuote reports whether the quote at i, which can open or close, closes.
func (s *sentence) closesQuote(i, size int, kind stop) bool {
	if i+size == len(s.w) {
		return true
	}
	r := firstRune(s.w[i+size:])
	if kind == full && !isSpace(r) {
		if quote := s.w[i : i+size]; quote != "“" && quote != "«" && quote != "»" {
			return strings.Count(s.w[:i], quote)%2 == 1
		}
	}
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '¿' && r != '¡'
}

// reference is a reference such as [12].
var reference = regexp.MustCompile(`^\[[0-9]{1,4}\]`)

// spacedCloser returns the length of the guillemet at i if it closes after a space, as in French.
func (s *sentence) spacedCloser(i int) int {
	const guillemet = "»"
	rest, ok := strings.CutPrefix(s.w[i:], guillemet)
	if r := firstRune(rest); !ok || unicode.IsLetter(r) || unicode.IsDigit(r) {
		return 0
	}
	return len(guillemet)
}

// emoticons are faces of punctuation marks and letters.
var emoticons = []string{":)", ":-)", ":(", ":-(", ";)", ";-)", ":D", ":-D", ":P", ":-P"}

// emoji returns the length of the emoji or the emoticon at i, 0 unless white space follows them.
func (s *sentence) emoji(i int) int {
	for _, e := range emoticons {
		if rest, ok := strings.CutPrefix(s.w[i:], e); ok && (rest == "" || isSpace(firstRune(rest))) {
			return len(e)
		}
	}
	rest := strings.TrimLeftFunc(s.w[i:], isEmoji)
	if rest != "" && !isSpace(firstRune(rest)) {
		return 0
	}
	return len(s.w) - i - len(rest)
}

// needsNoSpace reports whether a stop can end a sentence without white space after it.
func (s *sentence) needsNoSpace(x stopContext) bool {
	before, last, after := lastRune(s.w[:x.start]), lastRune(s.w[:x.end]), firstRune(s.w[x.end:])
	switch {
	case x.start < s.closed && (last == ')' || last == '）'): // brackets within the sentence
		return false
	case (stopOf(last) == mark || last == '！' || last == '？') && hasAnyPrefix(s.w[x.end:], quotatives):
		return false
	case x.kind == full:
		return !unicode.IsPunct(after) || opens(after) || s.isMarker(x.end)
	case x.kind == ellipsis:
		return x.quoted && isCJK(after)
	case isCJK(before) && (isCJK(after) || opens(after) && after != '-'):
		return true
	case x.kind == mark && !x.quoted && unicode.IsLower(before) && unicode.IsUpper(after):
		token := s.tokenBefore(x.start)
		return token != "" && strings.TrimFunc(token, unicode.IsLetter) == ""
	}
	return false
}

// ends reports whether a stop ends the sentence.
func (s *sentence) ends(x stopContext) bool {
	next := x.next
	if next.closing && x.space {
		return false
	}
	if x.quoted && x.space && x.kind != period && s.namesSpeaker(x) {
		return false
	}
	switch x.kind {
	case full:
		return s.fullEnds(x)
	case mark:
		return next.kind != lowerLetter || next.branded || s.isLowerCase() && !x.quoted && !next.dash
	case ellipsis:
		switch next.kind {
		case upperLetter:
			return x.start > 0 && !s.words.isI(next.word)
		case caseless:
			return x.start > 0 && next.word != "और"
		case lowerLetter:
			return next.branded
		}
		return next.kind == symbol && x.start > 0
	}
	return s.periodEnds(x)
}

// maxSpeaker is the limit in words of a name and the verb that follows it.
const maxSpeaker = 3

// namesSpeaker reports whether a name or a pronoun and a verb of speech follow a quotation, as in
// "Why?" Tom asked.
func (s *sentence) namesSpeaker(x stopContext) bool {
	if x.next.opened || x.next.dash || s.words.isStarter(x.next) {
		return false
	}
	rest := s.w[x.end:min(len(s.w), x.end+maxSpeaker*maxToken)]
	n := 0
	for word := range strings.FieldsFuncSeq(rest, isSpace) {
		letters := wordAt(word)
		if s.words.has(letters, speech) {
			return true
		}
		if n++; n == maxSpeaker || letters != word {
			return false
		}
	}
	return false
}

// isLowerCase reports whether the sentence begins in lower case and has no upper-case letter.
func (s *sentence) isLowerCase() bool { return s.lower && !s.upper }

// fullEnds is ends for full stops.
func (s *sentence) fullEnds(x stopContext) bool {
	before := s.w[:x.start]
	if strings.HasPrefix(s.w[x.start:], "．") && !x.quoted {
		if unicode.IsDigit(lastRune(before)) && (x.next.kind == digit && !x.space || isNumber(before)) {
			return false
		}
	}
	if !x.quoted || x.space || x.next.opened {
		return true
	}
	rest := s.w[x.end:]
	closer := lastRune(s.w[:x.end])
	if (closer == '」' || closer == '』') && continuesQuote(rest) {
		return false
	}
	return !s.isAttributed(x.start, closer, rest)
}

// The particles that continue a sentence of Japanese after a quotation, and the words that begin
// with their letters but do not continue it.
var (
	particles    = []string{"と", "って", "を", "は", "が", "に", "の", "で", "も", "へ", "など", "や"}
	notParticles = []string{"とても", "とにかく", "ところ", "でも", "では", "はい", "もう", "もし", "やはり", "やがて", "はじめ", "はっきり"}
)

// quotatives continue a sentence of Japanese after a question or exclamation without quotation
// marks: the particle of quotations, alone or before a verb that needs it.
var quotatives = []string{"って", "という", "といっ", "と思", "と言", "と聞", "と叫", "と書", "と答", "と呼", "と考", "と感", "と尋", "と問"}

// continuesQuote reports whether s, the text after a quotation, begins with a particle.
func continuesQuote(s string) bool {
	return hasAnyPrefix(s, particles) && !hasAnyPrefix(s, notParticles)
}

func hasAnyPrefix(s string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(s, p) })
}

// maxAttribution is the limit in characters of a clause that names the speaker.
const maxAttribution = 12

// isAttributed reports whether rest, the text after a quotation that ends with closer, begins with
// a short clause of Chinese that names the speaker, and no such clause precedes the quotation.
func (s *sentence) isAttributed(start int, closer rune, rest string) bool {
	if i := strings.LastIndex(s.w[:start], openerOf(closer)); i > 0 && strings.ContainsRune("：:，", lastRune(s.w[:i])) {
		return false
	}
	n, verb := 0, false
	for _, r := range rest {
		if verb && (isClauseEnd(r) || r == '着' || r == '了') {
			return true
		}
		if n++; n > maxAttribution || !isCJK(r) || isClauseEnd(r) {
			return false
		}
		verb = strings.ContainsRune("说說道问問喊曰", r)
	}
	return verb
}
