package document

import (
	"regexp"
	"strings"
)

var (
	// tagPattern matches the tags in strings of programs, also the numbered ones of i18next.
	tagPattern = regexp.MustCompile(`</?[A-Za-z0-9][^<>]*>`)

	// cueTagPattern adds the settings of subtitles, as {\an8}.
	cueTagPattern = regexp.MustCompile(`</?[A-Za-z0-9][^<>]*>|\{\\[^{}]*\}`)

	// voidTag matches tags without an end.
	voidTag = regexp.MustCompile(`^<(?i:br|hr|img|wbr|input)\b|/>$`)
)

// tags returns s with the matches of pattern as fragments. unescape, if not nil, returns the
// characters of the text between them.
func tags(s string, pattern *regexp.Regexp, unescape func(string) string) (fragments []fragment) {
	add := func(s string) {
		if s != "" && unescape != nil {
			fragments = append(fragments, fragment{bytes: s, plain: unescape(s)})
		} else if s != "" {
			fragments = append(fragments, fragment{bytes: s, plain: s})
		}
	}
	at := 0
	for _, m := range pattern.FindAllStringIndex(s, -1) {
		add(s[at:m[0]])
		tag := s[m[0]:m[1]]
		at = m[1]
		name, isEnd := strings.CutPrefix(strings.Trim(tag, "<>"), "/")
		if i := strings.IndexAny(name, " \t\r\n."); i >= 0 {
			name = name[:i]
		}
		p := fragment{kind: openingTag, bytes: tag, key: strings.ToLower(name)}
		switch {
		case tag[0] == '{' || voidTag.MatchString(tag):
			p.kind = emptyElement
		case isEnd:
			p.kind = closingTag
		}
		fragments = append(fragments, p)
	}
	add(s[at:])
	return fragments
}
