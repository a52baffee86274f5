// Package xmltext has the characters of XML 1.0: which there are, and how they are written. It
// imports the standard library.
package xmltext

import "strings"

// Legal returns r, or U+FFFD if XML has no such character.
func Legal(r rune) rune {
	if r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0xFFFE || r == 0xFFFF {
		return '\uFFFD'
	}
	return r
}

// Escape returns s as character data, with legal characters.
func Escape(s string) string { return escaper.Replace(strings.Map(Legal, s)) }

// EscapeAttr returns s as the value of an attribute, or as character data that keeps its white
// space.
func EscapeAttr(s string) string { return attrEscaper.Replace(Escape(s)) }

var (
	escaper     = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "\r", "&#13;")
	attrEscaper = strings.NewReplacer(`"`, "&quot;", "\n", "&#10;", "\t", "&#9;")
)
