package charset

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// declaration matches the declaration of an encoding in HTML, XML and po files.
var declaration = regexp.MustCompile(`(?i)(?:charset|<\?xml[^>]*encoding)\s*=\s*["']?\s*([a-z0-9_:.-]+)`)

// maxDeclaration limits the bytes in which an encoding is declared.
const maxDeclaration = 4096

// Declared returns the encoding that a document declares at its begin, in lower case, or "".
func Declared(s string) string {
	if m := declaration.FindStringSubmatch(s[:min(len(s), maxDeclaration)]); m != nil {
		return strings.ToLower(m[1])
	}
	return ""
}

// Guess returns the encoding that s, a line that is not valid UTF-8, seems to have, and its name
// for iconv. Both are "" without a guess.
func Guess(s string) (name, iconv string) {
	if UTF16(s) != nil {
		return "UTF-16", "utf-16"
	}
	// Chinese text in GBK is mostly pairs of bytes from 0xA1; in Latin text such bytes are
	// single.
	pairs, single := 0, 0
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] < 0x80:
		case i+1 < len(s) && s[i] >= 0xA1 && s[i] < 0xFF && s[i+1] >= 0xA1 && s[i+1] < 0xFF:
			pairs++
			i++
		case s[i] >= 0x81 && i+1 < len(s) && s[i+1] >= 0x40: // GBK's other characters
			single++
			i++
		default:
			single++
		}
	}
	if pairs > single {
		return "GBK", "gb18030"
	}
	return "", ""
}

// Invalid returns the index of the first byte of s that is invalid UTF-8, or -1.
func Invalid(s string) int {
	for i, r := range s {
		if r == utf8.RuneError && !strings.HasPrefix(s[i:], string(utf8.RuneError)) {
			return i
		}
	}
	return -1
}
