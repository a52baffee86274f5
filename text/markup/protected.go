package markup

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"tfm/text"
	"tfm/text/script"
)

// protection is a kind of protected text.
type protection struct {
	regexp  *regexp.Regexp
	follows func(r rune) bool      // whether it may follow a character, utf8.RuneError at the begin
	trims   string                 // characters that are not the last
	valid   func(text string) bool // nil is any
}

func kind(pattern string, follows func(rune) bool, trims string) protection {
	return protection{regexp: regexp.MustCompile("^(?:" + pattern + ")"), follows: follows, trims: trims}
}

const (
	// Scripts without spaces between words, and their punctuation, end a URL.
	inURL = `[^\s<>"“”«»\x60\\^{|}\x{3000}-\x{303F}\x{FF00}-\x{FFEF}\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]`
	// A domain without a scheme ends in one of these, because "end.Next" is more often a
	// missing space than a domain.
	domains = `(?:com|org|net|edu|gov|int|info|io|dev|app|eu|de|fr|at|ch|uk|cz|pl|nl|es|pt|it|ru|cn|jp|kr|br|in|us|ca|au)`
	// Extensions of file names.
	extensions = `(?:txt|md|rst|tex|pdf|rtf|docx?|xlsx?|pptx?|od[tspg]|epub|csv|tsv|json[l5]?|xml|xliff|tmx|ya?ml|toml|ini|cfg|conf|log|sql|db|` +
		`html?|css|js|mjs|ts|tsx|php|py|go|rs|rb|pl|sh|bat|ps1|c|h|cc|cpp|hpp|cs|java|kt|swift|lua|po|pot|properties|desktop|service|` +
		`zip|tar|t?gz|bz2|xz|zst|7z|rar|deb|rpm|iso|img|exe|dll|so|jar|apk|dmg|msi|` +
		`png|jpe?g|gif|svg|webp|bmp|tiff?|ico|mp[34]|wav|ogg|flac|avi|mkv|webm|mov|srt|vtt|ttf|otf|safetensors|gguf|onnx|bak|tmp|lock|key|pem|crt)`
	punctuation = `.,;:!?'"…)]}>*`
)

// protections lists the kinds from the most to the least specific.
var protections = []protection{
	// URLs and e-mail addresses.
	kind(`(?i:[a-z][a-z0-9+.-]{1,15}://|www\.|mailto:)`+inURL+`+`, notWord, punctuation),
	kind(`[\pL\pN._%+-]+@[\pL\pN-]+(?:\.[\pL\pN-]+)+`, notWordOr("._%+-"), ".-"),
	kind(`[a-z0-9-]+(?:\.[a-z0-9-]+)*\.`+domains+`\b(?:/`+inURL+`*)?`, notWordOr(".@-/"), punctuation),

	// Placeholders and tags.
	kind(`\{\{[^{}\n]{0,200}\}\}`, nil, ""),
	kind(`[$#%@]\{[^{}\n]{1,200}\}`, nil, ""),
	kind(`\{\s*[\pL\pN_.]+\s*,\s*(?:plural|select|selectordinal)\s*,(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}`, nil, ""),
	kind(`\{\s*[\pL\pN_.]+\s*,\s*(?:number|date|time|spellout|ordinal|duration)\b[^{}\n]{0,100}\}`, nil, ""),
	kind(`\{[A-Za-z0-9_.:!,$@#<>^+\[\]()|/-]{0,100}\}`, nil, ""),
	kind(`</?[A-Za-z0-9][A-Za-z0-9_:.-]*(?:\s+[A-Za-z_:@*#.\[(][^\s=<>"'/]*\s*=\s*(?:"[^"<>]*"|'[^'<>]*'|[^\s"'<>=]+))*\s*/?>`, nil, ""),
	kind(`&(?:[A-Za-z][A-Za-z0-9]{1,31}|#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6});`, nil, ""),
	kind(`%[1-9][0-9]?\$[-+0#]*[0-9]*(?:\.[0-9]+)?(?:hh?|ll?|[qjzt])?[A-Za-z@]`, nil, ""),
	kind(`%\([A-Za-z0-9_.]+\)[-+0#]*[0-9]*(?:\.[0-9]+)?[a-zA-Z]`, nil, ""),
	kind(`%[A-Z][A-Z0-9_]+%|%%`, nil, ""),
	kind(`%[-+0#]*(?:[0-9]+|\*)?(?:\.(?:[0-9]+|\*))?(?:hh?|ll?|[qjzt])?(?:[sduf]|[iFgGxXoceEpn@Lv]\b|@)`, notDigit, ""),
	kind(`%L?[1-9][0-9]?`, notDigit, ""),
	kind(`\$[A-Za-z_][A-Za-z0-9_]*`, notWord, ""),
	kind(`\[[A-Z0-9_]*[0-9_][A-Z0-9_]*\]|\[\[[^\[\]\n]{1,100}\]\]`, nil, ""),
	kind(`__[A-Za-z0-9]+(?:_[A-Za-z0-9]+)*__|@[A-Z][A-Z0-9_]+@`, notWord, ""),
	kind(`\\[nrt]\b|\\n`, nil, ""),

	// Files, paths and options of commands.
	kind(`(?:[A-Za-z]:|\\\\[\pL\pN_.-]+)(?:\\[\pL\pN_.$~-]+)+\\?`, notWord, "."),
	kind(`(?:~|\.\.?)?(?:/[\pL\pN_.+@~-]+){2,}/?|(?:~|\.\.?)(?:/[\pL\pN_.+@~-]+)+/?|/(?:bin|boot|dev|etc|home|lib|media|mnt|opt|proc|root|run|sbin|srv|sys|tmp|usr|var)\b/?`, notWordOr(`/\.<+-`), ".-"),
	kind(`(?:[\pL\pN_.+-]+/)*[\pL\pN_][\pL\pN_.+-]*\.`+extensions+`\b`, notWordOr(`/\.<+-`), ""),
	kind(`--[a-z][a-z0-9]*(?:-[a-z0-9]+)*(?:=[^\s"',;)]+)?`, notWordOr("-"), "."),

	// Identifiers: versions, hashes, names in programs.
	kind(`[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\b|0[xX][0-9A-Fa-f]+\b`, notWord, ""),
	kind(`[vV]?[0-9]+(?:\.[0-9]+){2,}(?:[-+~][0-9A-Za-z.]*[0-9A-Za-z])?|[vV][0-9]+(?:\.[0-9]+)*\b`, notWordOr(".@-/"), ""),
	{regexp.MustCompile(`^[0-9a-f]{7,128}\b`), notWord, "", hasDigitAndLetter},
	kind(`[A-Za-z_][A-Za-z0-9_]*(?:(?:\.|::|->)[A-Za-z_][A-Za-z0-9_]*)*\(\)`, notWordOr(".:>"), ""),
	kind(`[A-Za-z0-9]+(?:_+[A-Za-z0-9]+)+\b`, notWord, ""),

	// Of messages.
	kind(`:(?:[a-z][a-z0-9_+-]*|[+-]1|100):`, notWordOr(":"), ""),
	kind(`@[A-Za-z0-9_][A-Za-z0-9_.-]*`, notWord, ".-"),
	kind(`#[\pL_][\pL\pM\pN_]*`, notWord, ""),
	// Numbers.
	{regexp.MustCompile(`^[0-9]+(?:[.,:/'’-][0-9]+)*[\pL_]*`), notWordOr(".,"), "", endsInDigit},
	kind(`[\x{1F000}-\x{1FAFF}\x{2600}-\x{27BF}\x{2B50}\x{2B55}][\x{1F000}-\x{1FAFF}\x{2600}-\x{27BF}\x{FE0F}\x{200D}\x{20E3}]*`, nil, ""),
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }

func notDigit(r rune) bool { return !unicode.IsDigit(r) }

// notWord reports whether r ends no word. Scripts without spaces between words have words next to
// those of others.
func notWord(r rune) bool { return !isWord(r) || script.OfUnspaced(r) != script.None }

// notWordOr returns the conjunction of notWord and that r is none of characters.
func notWordOr(characters string) func(rune) bool {
	return func(r rune) bool { return notWord(r) && !strings.ContainsRune(characters, r) }
}

func hasDigitAndLetter(s string) bool {
	return strings.ContainsAny(s, "0123456789") && strings.Trim(s, "0123456789") != ""
}

func endsInDigit(s string) bool { return '0' <= s[len(s)-1] && s[len(s)-1] <= '9' }

// Protected returns the ranges of s that a translation should contain unchanged: placeholders of
// the formats of messages (C, Python, Java, ICU, Qt, templates), tags, entities, URLs, addresses of
// e-mail, names and paths of files, options of commands, identifiers with underscores or
// parentheses, versions, hashes, :emoji:, @user, #tag, emoji, and numbers in digits. Ranges next to
// each other are one. Protected takes time linear in len(s).
func Protected(s string) (ranges []text.Range) {
	before := utf8.RuneError
	for i := 0; i < len(s); {
		if n := protectedAt(s[i:], before); n > 0 {
			if last := len(ranges) - 1; last >= 0 && ranges[last].End == i {
				ranges[last].End += n
			} else {
				ranges = append(ranges, text.Range{Start: i, End: i + n})
			}
			i += n
		} else {
			// No kind begins within a word.
			r, size := utf8.DecodeRuneInString(s[i:])
			for i += size; !notWord(r) && i < len(s); i += size {
				if r, size = utf8.DecodeRuneInString(s[i:]); notWord(r) {
					break
				}
			}
		}
		before, _ = utf8.DecodeLastRuneInString(s[:i])
	}
	return ranges
}

// protectedAt returns the number of bytes at the begin of s, which follows the character before,
// that are protected.
func protectedAt(s string, before rune) int {
	switch r, size := utf8.DecodeRuneInString(s); {
	case unicode.IsSpace(r) || strings.ContainsRune(`,;!?"'()*=|`, r):
		return 0
	case unicode.IsLetter(r):
		// Every kind that begins with a letter continues with another character.
		rest := strings.TrimLeftFunc(s[size:], unicode.IsLetter)
		rest = strings.TrimLeft(rest, ".,;!?")
		if next, _ := utf8.DecodeRuneInString(rest); rest == "" || unicode.IsSpace(next) {
			return 0
		}
	}
	for _, p := range protections {
		if p.follows != nil && !p.follows(before) {
			continue
		}
		n := len(strings.TrimRight(p.regexp.FindString(s), p.trims))
		if n > 0 && (p.valid == nil || p.valid(s[:n])) {
			return n
		}
	}
	return 0
}
