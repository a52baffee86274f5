package clean

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// hasReplacement reports whether s has U+FFFD, which a conversion of text leaves in place of
// characters.
func hasReplacement(s string) bool { return strings.ContainsRune(s, utf8.RuneError) }

// hasControl reports whether s has a control character other than a tab, a line or paragraph
// separator, a byte order mark inside of the text, a noncharacter, or a character for private use.
func hasControl(s string) bool {
	return strings.ContainsFunc(strings.TrimPrefix(s, "\uFEFF"), func(r rune) bool {
		switch {
		case r < 0x7F:
			return r < ' ' && r != '\t'
		case r < 0xA0, r == 0x2028, r == 0x2029, r&0xFFFE == 0xFFFE, 0xFDD0 <= r && r <= 0xFDEF, r == 0xFEFF:
			return true
		}
		return r >= 0xE000 && unicode.Is(unicode.Co, r)
	})
}
