package clean

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"tfm/text"
)

// invalid reports invalid UTF-8, which the reader has replaced.
func (c *cleaner) invalid(p *pair) bool { return p.Invalid }

// columns reports a line of a TSV file with other than two columns.
func (c *cleaner) columns(p *pair) bool { return p.Columns != 2 }

// empty reports a side with white space at most.
func (c *cleaner) empty(p *pair) bool { return text.IsBlank(p.Source) || text.IsBlank(p.Target) }

// replacement reports U+FFFD, which a conversion of text leaves in place of characters.
func (c *cleaner) replacement(p *pair) bool {
	return strings.ContainsRune(p.Source, utf8.RuneError) || strings.ContainsRune(p.Target, utf8.RuneError)
}

// control reports characters that are no text.
func (c *cleaner) control(p *pair) bool { return hasControl(p.Source) || hasControl(p.Target) }

// hasControl reports whether s has a control character other than a tab, a line or paragraph
// separator, a byte order mark inside of the text, a noncharacter, or a character for private use.
func hasControl(s string) bool {
	for i, r := range s {
		switch {
		case r < ' ':
			if r != '\t' {
				return true
			}
		case r < 0x7F:
		case r < 0xA0, r == 0x2028, r == 0x2029, r&0xFFFE == 0xFFFE, 0xFDD0 <= r && r <= 0xFDEF, r == 0xFEFF && i > 0:
			return true
		case r >= 0xE000 && unicode.Is(unicode.Co, r):
			return true
		}
	}
	return false
}
