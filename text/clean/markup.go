package clean

import (
	"html"
	"strings"
	"unicode"
)

// hasMarkup reports whether s has a tag, a comment, an entity, or the brackets of a wiki or of
// subtitles. A word in angle brackets is a tag if HTML has it, or if it has a slash or attributes.
func hasMarkup(s string) bool {
	if strings.Contains(s, `{\`) || hasBrackets(s, "{{", "}}") || hasBrackets(s, "[[", "]]") {
		return true
	}
	for i := range len(s) {
		if s[i] == '<' && isTag(s[i+1:]) || s[i] == '&' && isEntity(s[i+1:]) {
			return true
		}
	}
	return false
}

func hasBrackets(s, open, end string) bool {
	_, rest, ok := strings.Cut(s, open)
	return ok && strings.Contains(rest, end)
}

// maxTag is the limit of the bytes of a tag.
const maxTag = 1 << 10

// isTag reports whether s, which follows "<", begins with the rest of a tag.
func isTag(s string) bool {
	if strings.HasPrefix(s, "!--") || strings.HasPrefix(s, "![CDATA[") || strings.HasPrefix(s, "?xml") {
		return true
	}
	end := strings.IndexByte(s[:min(len(s), maxTag)], '>')
	if end <= 0 {
		return false
	}
	tag := s[:end]
	name := strings.TrimSuffix(strings.TrimPrefix(tag, "/"), "/")
	n := 0
	for n < len(name) && (isLetter(name[n]) || n > 0 && (unicode.IsDigit(rune(name[n])) || strings.IndexByte("-_:.", name[n]) >= 0)) {
		n++
	}
	if n == 0 {
		return false
	}
	attributes := strings.TrimSpace(name[n:])
	switch {
	case attributes != "":
		return name[n] == ' ' && strings.Contains(attributes, "=")
	case len(name) < len(tag):
		return true
	}
	return htmlTags[strings.ToLower(name)]
}

func isLetter(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' }

// isEntity reports whether s, which follows "&", begins with the rest of a reference to a
// character.
func isEntity(s string) bool {
	end := strings.IndexByte(s[:min(len(s), 10)], ';')
	if end <= 0 {
		return false
	}
	// Only a whole name or number loses its semicolon: &copying; becomes ©ing;
	return !strings.HasSuffix(html.UnescapeString("&"+s[:end+1]), ";")
}

// htmlTags are the tags of HTML that text has.
var htmlTags = setOf("a abbr address article aside b big blockquote body br button caption center cite code col dd del details dfn div dl dt em " +
	"figcaption figure font footer form h1 h2 h3 h4 h5 h6 head header hr html i iframe img input ins kbd label li link main mark meta nav " +
	"noscript ol option p pre q s samp script section select small span strike strong style sub summary sup table tbody td textarea tfoot " +
	"th thead title tr tt u ul var video")

func setOf(names string) map[string]bool {
	set := map[string]bool{}
	for _, name := range strings.Fields(names) {
		set[name] = true
	}
	return set
}
