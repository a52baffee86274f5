package markup

import (
	"fmt"
	"html"
	"regexp"
	"strings"
	"unicode/utf8"
)

// declared finds the declaration of an encoding at the begin of a document.
var declared = regexp.MustCompile(`(?i)(?:charset|<\?xml[^>]*encoding)\s*=\s*["']?\s*([a-z0-9_:.-]+)`)

// maxDeclared limits the bytes in which an encoding is declared.
const maxDeclared = 4096

// charset sets how the bytes of the document stand for characters: in UTF-8, or in Windows-1252 as
// in HTML that is not valid UTF-8. The error names another encoding.
func (b *builder) charset() error {
	if strings.HasPrefix(b.src, "\xFE\xFF") || strings.HasPrefix(b.src, "\xFF\xFE") {
		return fmt.Errorf("found text in UTF-16, expected UTF-8")
	}
	name := "utf-8"
	m := declared.FindStringSubmatch(b.src[:min(len(b.src), maxDeclared)])
	switch {
	case strings.HasPrefix(b.src, "\uFEFF"):
	case m != nil:
		name = lower(m[1])
	case !b.escape.xml && !utf8.ValidString(b.src):
		name = "windows-1252"
	}
	switch name {
	case "utf-8", "utf8":
		return nil
	case "iso-8859-1", "iso8859-1", "iso_8859-1", "latin1", "windows-1252", "cp1252", "us-ascii", "ascii":
		b.latin = true
	default:
		if strings.ContainsFunc(b.src, func(r rune) bool { return r >= utf8.RuneSelf }) {
			return fmt.Errorf("found text in %s, expected UTF-8", name)
		}
	}
	b.escape.ascii = true
	return nil
}

// utf8 returns bytes of the document as valid UTF-8.
func (b *builder) utf8(s string) string {
	if !b.latin {
		return strings.ToValidUTF8(s, "\uFFFD")
	}
	var t strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case 0x80 <= c && c < 0xA0:
			t.WriteString(html.UnescapeString(fmt.Sprintf("&#%d;", c))) // as Windows-1252
		default:
			t.WriteRune(rune(c))
		}
	}
	return t.String()
}
