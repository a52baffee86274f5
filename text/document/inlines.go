package document

import (
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"tfm/text/markup"
)

// inlineText is a text of Markdown, without the alternative texts of its images.
type inlineText struct {
	marked
	images []marked // whose places in the bytes of elements are imageMark
}

// imageMark returns what the bytes of an image have in the place of its alternative text. No text
// has a zero byte.
func imageMark(i int) string { return fmt.Sprintf("\x00%d\x00", i) }

var (
	autolinkPattern = regexp.MustCompile(`^<(?:[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*|[\w.!#$%&'*+/=?^{|}~-]+@[\w.-]+)>`)
	inlineTag       = regexp.MustCompile(`^(?:<!--[^>]*-->|</?[A-Za-z][^<>]*>|<[?!][^<>]*>)`)
	entityPattern   = regexp.MustCompile(`^&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});`)
	linkPattern     = regexp.MustCompile(`^\(\s*(?:<[^<>\n]*>|[^\s()<>]*(?:\([^\s()]*\)[^\s()]*)*)(?:\s+(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\((?:[^()\\]|\\.)*\)))?\s*\)`)
	labelPattern    = regexp.MustCompile(`^\[([^\[\]]*)\]`)
	afterBreak      = regexp.MustCompile(`((?:  |\\)\n)[ \n]+`) // white space after a line break
	footnoteMark    = regexp.MustCompile(`^\[\^[^\[\]\s]+\]`)
)

// maxLink is the limit in bytes of the target of a link with its title.
const maxLink = 4096

// inlineParser parses the inline elements of CommonMark.
type inlineParser struct {
	s          string
	references map[string]bool
	fragments  []fragment
	runs       []delimiterRun
	brackets   []bracket
	images     []marked
	lastTicks  map[int]int // where the last run of a number of backticks begins
	keys       int         // of links and emphasis
}

// delimiterRun is a run of *, _ or ~, whose fragment is a placeholder for its ends of emphasis.
type delimiterRun struct {
	fragment          int
	char              byte
	count, length     int // delimiters that are left, and all
	canOpen, canClose bool
	closes, opens     []fragment // in the order in which they were found
}

// bracket is a [ that may begin a link, or with ! before it an image.
type bracket struct {
	fragment, at, runs int // index, offset in s, and number of runs before it
	image, active      bool
}

// parseInlines returns the text of s, whose lines are separated by \n.
func parseInlines(s string, references map[string]bool) inlineText {
	p := inlineParser{s: s, references: references, lastTicks: map[int]int{}}
	for i := 0; i < len(s); i++ {
		if n := countByte(s[i:], '`'); n > 0 {
			p.lastTicks[n] = i
			i += n
		}
	}
	for i := 0; i < len(s); {
		i += p.next(i)
	}
	p.emphasis(0)
	var all []fragment
	at := 0
	for _, r := range p.runs {
		all = append(all, p.fragments[at:r.fragment]...)
		at = r.fragment + 1
		all = append(all, r.closes...)
		if r.count > 0 {
			all = append(all, plainFragment(strings.Repeat(string(r.char), r.count)))
		}
		slices.Reverse(r.opens)
		all = append(all, r.opens...)
	}
	all = append(all, p.fragments[at:]...)
	return inlineText{build(all, false), p.images}
}

// plainFragment returns s as a fragment.
func plainFragment(s string) fragment { return fragment{bytes: s, plain: s} }

// countByte returns the number of bytes c that s begins with.
func countByte(s string, c byte) int {
	n := 0
	for n < len(s) && s[n] == c {
		n++
	}
	return n
}

func (p *inlineParser) add(f fragment) { p.fragments = append(p.fragments, f) }

// next parses what begins at s[i], and returns its length.
func (p *inlineParser) next(i int) int {
	rest := p.s[i:]
	switch c := rest[0]; {
	case c == '\\' && len(rest) > 1 && rest[1] == '\n':
		p.lineBreak(`\`)
		return 2
	case c == '\\' && len(rest) > 1 && strings.IndexByte("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", rest[1]) >= 0:
		p.add(fragment{bytes: rest[:2], plain: rest[1:2]})
		return 2
	case c == ' ' || c == '\n':
		n := len(rest) - len(strings.TrimLeft(rest, " "))
		if n == len(rest) || rest[n] != '\n' {
			n = max(n, 1)
			p.add(plainFragment(rest[:n]))
			return n
		}
		n++
		if n > 2 {
			p.lineBreak("  ")
		} else {
			p.add(fragment{bytes: rest[:n], plain: " "})
		}
		return n + len(rest[n:]) - len(strings.TrimLeft(rest[n:], " \t"))
	case c == '`':
		return p.code(i)
	case c == '<':
		if m := autolinkPattern.FindString(rest); m != "" {
			p.add(fragment{kind: keptElement, bytes: m, plain: m[1 : len(m)-1]})
			return len(m)
		}
		if m := inlineTag.FindString(rest); m != "" {
			f := fragment{kind: emptyElement, bytes: m}
			if parsed := tags(m, tagPattern, nil); len(parsed) == 1 && parsed[0].kind != plainText {
				f = parsed[0]
				f.key = "<" + f.key
			}
			p.add(f)
			return len(m)
		}
	case c == '&':
		if m := entityPattern.FindString(rest); m != "" {
			p.add(fragment{bytes: m, plain: html.UnescapeString(m)})
			return len(m)
		}
	case c == '*' || c == '_' || c == '~':
		return p.delimiters(i)
	case c == '[' || c == '!' && strings.HasPrefix(rest, "!["):
		if m := footnoteMark.FindString(rest); m != "" {
			p.add(fragment{kind: emptyElement, bytes: m})
			return len(m)
		}
		n := 1 + strings.IndexByte(rest, '[')
		p.brackets = append(p.brackets, bracket{len(p.fragments), i + n, len(p.runs), n == 2, true})
		p.add(plainFragment(rest[:n]))
		return n
	case c == ']':
		return p.bracket(i)
	}
	n := 1 + strings.IndexAny(rest[1:], "\\ \n`<&*_~[!]")
	if n == 0 {
		n = len(rest)
	}
	p.add(plainFragment(rest[:n]))
	return n
}

// lineBreak adds a line break that readers see.
func (p *inlineParser) lineBreak(bytes string) {
	p.add(fragment{kind: emptyElement, bytes: bytes + "\n"})
	p.add(fragment{plain: " "})
}

// code parses a code span.
func (p *inlineParser) code(i int) int {
	n := countByte(p.s[i:], '`')
	for j := i + n; p.lastTicks[n] >= j; {
		j += strings.IndexByte(p.s[j:], '`')
		if k := countByte(p.s[j:], '`'); k != n {
			j += k
			continue
		}
		p.add(fragment{kind: keptElement, bytes: p.s[i : j+n], plain: strings.ReplaceAll(p.s[i+n:j], "\n", " ")})
		return j + n - i
	}
	p.add(plainFragment(p.s[i : i+n]))
	return n
}

// delimiters parses a run of *, _ or ~.
func (p *inlineParser) delimiters(i int) int {
	n := countByte(p.s[i:], p.s[i])
	before, _ := utf8.DecodeLastRuneInString(p.s[:i])
	after, _ := utf8.DecodeRuneInString(p.s[i+n:])
	if i == 0 {
		before = ' '
	}
	if i+n == len(p.s) {
		after = ' '
	}
	isPunct := func(r rune) bool { return unicode.IsPunct(r) || unicode.IsSymbol(r) }
	left := !unicode.IsSpace(after) && (!isPunct(after) || unicode.IsSpace(before) || isPunct(before))
	right := !unicode.IsSpace(before) && (!isPunct(before) || unicode.IsSpace(after) || isPunct(after))
	r := delimiterRun{fragment: len(p.fragments), char: p.s[i], count: n, length: n, canOpen: left, canClose: right}
	switch r.char {
	case '_':
		r.canOpen, r.canClose = left && (!right || isPunct(before)), right && (!left || isPunct(after))
	case '~':
		if n > 2 {
			r.canOpen, r.canClose = false, false
		}
	}
	p.runs = append(p.runs, r)
	p.add(fragment{})
	return n
}

// emphasis pairs the runs from index bottom.
func (p *inlineParser) emphasis(bottom int) {
	// floor is the index of the first run that may open, by what the closing run is.
	type closer struct {
		char    byte
		length  int // modulo 3
		canOpen bool
	}
	floor := map[closer]int{}
	for i := bottom; i < len(p.runs); i++ {
		c := &p.runs[i]
		for c.canClose && c.count > 0 {
			key := closer{c.char, c.length % 3, c.canOpen}
			j := i - 1
			lowest := max(bottom, floor[key])
			for ; j >= lowest; j-- {
				o := &p.runs[j]
				multiple := (o.canClose || c.canOpen) && (o.length+c.length)%3 == 0 && (o.length%3 != 0 || c.length%3 != 0)
				if o.char == c.char && o.canOpen && o.count > 0 && !multiple && (c.char != '~' || o.count == c.count) {
					break
				}
			}
			if j < lowest {
				floor[key] = i
				break
			}
			o := &p.runs[j]
			n := 1
			if o.count >= 2 && c.count >= 2 {
				n = 2
			}
			p.keys++
			mark := strings.Repeat(string(c.char), n)
			o.opens = append(o.opens, fragment{kind: openingTag, bytes: mark, key: fmt.Sprint(p.keys)})
			c.closes = append(c.closes, fragment{kind: closingTag, bytes: mark, key: fmt.Sprint(p.keys)})
			o.count -= n
			c.count -= n
			for k := j + 1; k < i; k++ { // emphasis does not overlap
				p.runs[k].canOpen, p.runs[k].canClose = false, false
			}
		}
	}
	for i := bottom; i < len(p.runs); i++ {
		p.runs[i].canOpen, p.runs[i].canClose = false, false
	}
}

// bracket parses a ] and what follows it.
func (p *inlineParser) bracket(i int) int {
	if len(p.brackets) == 0 {
		p.add(plainFragment("]"))
		return 1
	}
	b := p.brackets[len(p.brackets)-1]
	p.brackets = p.brackets[:len(p.brackets)-1]
	end, closing := i+1, ""
	rest := p.s[end:min(len(p.s), end+maxLink)]
	label := p.s[b.at:i]
	if m := linkPattern.FindString(rest); m != "" {
		closing, end = "]"+m, end+len(m)
	} else if m := labelPattern.FindStringSubmatch(rest); m != nil && p.references[linkLabel(m[1])] {
		closing, end = "]"+m[0], end+len(m[0])
	} else if len(label) <= maxLink && p.references[linkLabel(label)] {
		closing = "][" + label + "]" // the label stays when the text changes
		if m != nil && m[1] == "" {
			end += len(m[0])
		}
	}
	if closing == "" || !b.active {
		p.add(plainFragment("]"))
		return 1
	}
	p.emphasis(b.runs)
	if b.image {
		inner := parseInlines(label, nil)
		p.fragments, p.runs = p.fragments[:b.fragment], p.runs[:b.runs]
		if len(inner.images) > 0 || len(inner.Spans) > 0 {
			p.add(fragment{kind: emptyElement, bytes: "![" + label + closing})
			return end - i
		}
		p.add(fragment{kind: emptyElement, bytes: "![" + imageMark(len(p.images)) + closing})
		p.images = append(p.images, inner.marked)
		return end - i
	}
	p.keys++
	key := fmt.Sprint(p.keys)
	p.fragments[b.fragment] = fragment{kind: openingTag, bytes: "[", key: key}
	p.add(fragment{kind: closingTag, bytes: closing, key: key})
	for k := range p.brackets { // links have no links in them
		if !p.brackets[k].image {
			p.brackets[k].active = false
		}
	}
	return end - i
}

var inlineEscaper = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", `\<`, ">", `\>`, "~", `\~`, "&", `\&`, "!", `\!`)

// escapeInlines returns s with all characters escaped that may mean something in Markdown.
func escapeInlines(s string) string { return inlineEscaper.Replace(s) }

// render returns t in Markdown. Characters are escaped if it would be read as another text without.
func (t inlineText) render(translation markup.Text, references map[string]bool) string {
	s := afterBreak.ReplaceAllString(t.elements.render(translation, nil), "$1")
	again := parseInlines(s, references)
	oneLine := strings.ReplaceAll(translation.Plain, "\n", " ")
	same := func(a, b markup.Span) bool { return a.Range == b.Range && a.Keep == b.Keep }
	if again.Plain == oneLine && slices.EqualFunc(again.Spans, translation.Spans, same) {
		return s
	}
	return afterBreak.ReplaceAllString(t.elements.render(translation, escapeInlines), "$1")
}
