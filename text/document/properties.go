package document

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// argument matches an argument of Java's MessageFormat, where an apostrophe is written twice.
var argument = regexp.MustCompile(`\{\d`)

type properties struct {
	*editor
	unicode bool // has characters outside ASCII in UTF-8, so that all need no escape
	doubled bool // has values of MessageFormat with apostrophes
}

// translateProperties translates the values of Java's properties, as java.util.Properties reads
// them: in UTF-8, or if that is invalid in ISO 8859-1.
func translateProperties(e *editor) {
	isUTF8 := e.page == nil && strings.ContainsFunc(e.src, func(r rune) bool { return r >= utf8.RuneSelf })
	p := properties{e, isUTF8, strings.Contains(e.src, "''")}
	for at := 0; at < len(e.src); {
		start := at + len(e.src[at:]) - len(strings.TrimLeft(e.src[at:], " \t\f\r\n"))
		if start == len(e.src) {
			break
		}
		comment := e.src[start] == '#' || e.src[start] == '!'
		at = p.logicalLine(start, comment)
		if comment {
			continue
		}
		value := start + valueOffset(e.src[start:at])
		s := unescapeProperty(e.src[value:at])
		p.value(value, at, s)
	}
}

// logicalLine returns the end of a line and of those that continue it after a backslash.
func (p properties) logicalLine(at int, comment bool) int {
	for at < len(p.src) && p.src[at] != '\n' && p.src[at] != '\r' {
		if p.src[at] == '\\' && !comment {
			if at++; strings.HasPrefix(p.src[at:], "\r\n") {
				at++
			}
		}
		at++
	}
	return min(at, len(p.src))
}

// valueOffset returns where the value of a logical line begins: after the key and a separator.
func valueOffset(line string) int {
	i := 0
	for i < len(line) && !strings.ContainsRune("=: \t\f", rune(line[i])) {
		if line[i] == '\\' {
			i++
		}
		i++
	}
	line, i = line[min(i, len(line)):], min(i, len(line))
	rest := strings.TrimLeft(line, " \t\f")
	if rest != "" && (rest[0] == '=' || rest[0] == ':') {
		rest = strings.TrimLeft(rest[1:], " \t\f")
	}
	return i + len(line) - len(rest)
}

// value makes an edit of a value.
func (p properties) value(start, end int, s string) {
	format := p.doubled && argument.MatchString(s)
	if format {
		s = strings.ReplaceAll(s, "''", "'")
	}
	if strings.Contains(s, string(utf8.RuneError)) {
		return // half a surrogate pair
	}
	p.message(start, end, s, func(s string) string {
		if format {
			s = strings.ReplaceAll(s, "'", "''")
		}
		s = propertyEscaper.Replace(s)
		if strings.HasPrefix(s, " ") {
			s = `\` + s
		}
		if !p.unicode {
			s = escapeUnicode(s)
		}
		return s
	})
}

var propertyEscaper = strings.NewReplacer(`\`, `\\`, "\n", `\n`, "\r", `\r`, "\t", `\t`, "\f", `\f`)

// unescapeProperty returns the value that a program reads.
func unescapeProperty(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var units []uint16 // an escape may be half a surrogate pair
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			r, n := utf8.DecodeRuneInString(s[i:])
			if s[i] != '\\' {
				units = utf16.AppendRune(units, r)
			}
			i += n - 1
			continue
		}
		i++
		switch c := s[i]; c {
		case 't', 'n', 'r', 'f':
			units = append(units, uint16("\t\n\r\f"[strings.IndexByte("tnrf", c)]))
		case '\r', '\n': // the line continues after its indent
			if c == '\r' && strings.HasPrefix(s[i:], "\r\n") {
				i++
			}
			i += len(s[i+1:]) - len(strings.TrimLeft(s[i+1:], " \t\f"))
		case 'u':
			if n, err := strconv.ParseUint(s[i+1:min(i+5, len(s))], 16, 16); err == nil && i+5 <= len(s) {
				units = append(units, uint16(n))
				i += 4
				continue
			}
			fallthrough
		default:
			r, n := utf8.DecodeRuneInString(s[i:])
			units = utf16.AppendRune(units, r)
			i += n - 1
		}
	}
	return string(utf16.Decode(units))
}
