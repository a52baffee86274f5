package clean

import (
	"strings"
	"unicode/utf8"

	"tfm/text/charset"
)

// isMojibake reports whether s has UTF-8 that was read as Latin-1 or Windows-1252 and encoded
// again, such as "Ã¤" for "ä" or "â€™" for "’": characters whose bytes in one of these are the
// UTF-8 of another character. One is enough if such a sequence hardly occurs in other text,
// otherwise it takes two. An accented letter before punctuation, as in “Spaß”, does not count.
func isMojibake(s string) bool {
	doubtful := 0
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			i++
			continue
		}
		decoded, length := decodeTwice(s[i:])
		_, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case length == 0:
			i += size
			continue
		// Punctuation and signs such as â€™, and emoji
		case 0x2010 <= decoded && decoded < 0x2300, decoded >= 0x10000:
			return true
		// The word à, which is Ã and a no-break space. No word is a single Ã.
		case decoded == 'à' && (i == 0 || s[i-1] == ' '):
			return true
		case strings.Trim(s[i+size:i+length], "‘’‚‹›“”„«»…–—\u00A0") == "":
		// Latin-1, such as Ã¤
		case decoded <= 0xFF:
			return true
		default:
			doubtful++
		}
		i += length
	}
	return doubtful >= 2
}

// decodeTwice returns the character whose UTF-8 the first characters of s are, read as
// Windows-1252, and their length in bytes. The length is 0 if they are no UTF-8 of a character
// above ASCII.
func decodeTwice(s string) (rune, int) {
	bytes := make([]byte, 0, utf8.UTFMax)
	for i, r := range s {
		b, ok := windows1252(r)
		if !ok {
			break
		}
		if bytes = append(bytes, b); !utf8.FullRune(bytes) {
			continue
		}
		if decoded, size := utf8.DecodeRune(bytes); size > 1 && size == len(bytes) {
			return decoded, i + utf8.RuneLen(r)
		}
		break
	}
	return 0, 0
}

// windows1252 returns the byte of a character above ASCII in Windows-1252, or in Latin-1, which has
// control characters where Windows-1252 has others.
func windows1252(r rune) (byte, bool) {
	const last = '™' // of Windows-1252
	if r > last || 0x80 <= r && r <= 0xFF {
		return byte(r), r <= 0xFF
	}
	return charset.Windows1252.Encode(r)
}
