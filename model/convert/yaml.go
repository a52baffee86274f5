package convert

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// yamlValue is a scalar, or a list of scalars.
type yamlValue struct {
	scalar string
	list   []string
	isList bool
}

// yamlEntry is a key of a YAML file with its value.
type yamlEntry struct {
	key   string
	value yamlValue
}

// readYAML decodes a file of f.
func readYAML(f folder, name string) ([]yamlEntry, error) {
	data, err := f.read(name)
	if err != nil {
		return nil, err
	}
	entries, err := parseYAML(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.name(name), err)
	}
	return entries, nil
}

// parseYAML decodes the part of YAML that Marian writes: one mapping of keys to scalars, or to
// lists of scalars, in blocks or in brackets. Text after a NUL is ignored. Errors name the line;
// duplicate keys are an error. Tags, anchors, nested mappings and text of several lines are not in
// this part.
func parseYAML(data []byte) ([]yamlEntry, error) {
	data, _, _ = bytes.Cut(data, []byte{0})
	if !utf8.Valid(data) {
		return nil, fmt.Errorf("found invalid UTF-8")
	}
	var entries []yamlEntry
	found := map[string]bool{}
	open := false // the last entry has no value yet, or is a list in a block
	number := 0
	for line := range strings.Lines(string(data)) {
		number++
		fail := func(format string, args ...any) error {
			return fmt.Errorf("line %d: %s", number, fmt.Sprintf(format, args...))
		}
		line = strings.TrimRight(line, " \t\r\n")
		content := strings.TrimLeft(line, " ")
		indented := len(content) < len(line)
		switch {
		case content == "" || content[0] == '#' || !indented && (content == "---" || content == "..."):
			continue
		case open && (content == "-" || strings.HasPrefix(content, "- ")):
			item, err := yamlScalar(strings.TrimSpace(content[1:]))
			if err != nil {
				return nil, fail("%v", err)
			}
			value := &entries[len(entries)-1].value
			value.list, value.isList = append(value.list, item), true
			continue
		case open && indented && !entries[len(entries)-1].value.isList:
			value, err := parseYAMLValue(content)
			if err != nil {
				return nil, fail("%v", err)
			}
			entries[len(entries)-1].value, open = value, false
			continue
		case indented:
			return nil, fail("found %.40q after spaces, expected a key or an item of a list", content)
		}
		key, rest, err := cutYAMLKey(content)
		if err != nil {
			return nil, fail("%v", err)
		}
		if found[key] {
			return nil, fail("found key %.40q twice", key)
		}
		found[key] = true
		value, err := parseYAMLValue(rest)
		if err != nil {
			return nil, fail("%v", err)
		}
		entries, open = append(entries, yamlEntry{key, value}), rest == ""
	}
	return entries, nil
}

// cutYAMLKey splits a line into its key and the text of its value.
func cutYAMLKey(line string) (key, rest string, err error) {
	end := 0
	if line[0] == '"' || line[0] == '\'' {
		if end = yamlQuoteEnd(line); end < 0 {
			return "", "", fmt.Errorf("found %.40q, expected a closing quote", line)
		}
		if !strings.HasPrefix(line[end:], ":") {
			return "", "", fmt.Errorf("found %.40q after a key, expected a colon", line[end:])
		}
	} else if end = strings.Index(line+" ", ": "); end < 0 {
		return "", "", fmt.Errorf("found %.40q, expected a key, a colon and a value", line)
	}
	if rest = line[end+1:]; rest != "" && rest[0] != ' ' {
		return "", "", fmt.Errorf("found %.40q after a colon, expected a space", rest)
	}
	key, err = yamlScalar(line[:end])
	return key, strings.TrimSpace(rest), err
}

// yamlQuoteEnd returns the index after the quoted text that s begins with, or -1.
func yamlQuoteEnd(s string) int {
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\' && s[0] == '"':
			i++
		case s[i] != s[0]:
		case s[0] == '\'' && strings.HasPrefix(s[i+1:], "'"):
			i++
		default:
			return i + 1
		}
	}
	return -1
}

// parseYAMLValue decodes the text after a key.
func parseYAMLValue(s string) (yamlValue, error) {
	if !strings.HasPrefix(s, "[") {
		scalar, err := yamlScalar(s)
		return yamlValue{scalar: scalar}, err
	}
	value := yamlValue{isList: true}
	for s = strings.TrimSpace(s[1:]); s != "]"; {
		end := strings.IndexAny(s, ",]")
		if s != "" && (s[0] == '"' || s[0] == '\'') {
			end = yamlQuoteEnd(s)
		}
		if end < 0 || end >= len(s) {
			return value, fmt.Errorf("found %.40q in a list, expected a bracket at its end", s)
		}
		item, err := yamlScalar(strings.TrimSpace(s[:end]))
		if err != nil {
			return value, err
		}
		value.list = append(value.list, item)
		s = strings.TrimSpace(s[end:])
		if rest, ok := strings.CutPrefix(s, ","); ok {
			s = strings.TrimSpace(rest)
		} else if s != "]" {
			return value, fmt.Errorf("found %.40q in a list, expected a comma or a bracket", s)
		}
	}
	return value, nil
}

// yamlScalar decodes a plain or quoted scalar.
func yamlScalar(s string) (string, error) {
	if s == "" {
		return "", nil
	}
	switch s[0] {
	case '\'', '"':
		if yamlQuoteEnd(s) != len(s) {
			return "", fmt.Errorf("found %.40q, expected nothing after the closing quote", s)
		}
		if s[0] == '\'' {
			return strings.ReplaceAll(s[1:len(s)-1], "''", "'"), nil
		}
		// The other escapes of YAML are those of Go.
		escapes := strings.NewReplacer(`\\`, `\\`, `\/`, `/`, `\e`, `\x1b`, `\ `, ` `, `\0`, `\x00`, `\N`, `\u0085`, `\_`, `\u00a0`, `\L`, `\u2028`, `\P`, `\u2029`)
		text, err := strconv.Unquote(byteEscapes(escapes.Replace(s)))
		if err != nil {
			return "", fmt.Errorf("found %.40q, expected text in quotes", s)
		}
		return text, nil
	case '|', '>', '&', '!', '{', '%', '@', '`':
		return "", fmt.Errorf("found %.40q, expected a plain or quoted value, or a list", s)
	}
	return s, nil
}

// byteEscapes replaces \xNN, a character of Latin-1 in YAML and a byte in Go, by \u00NN.
func byteEscapes(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			if i++; s[i] == 'x' {
				b.WriteString(`\u00`)
			} else {
				b.WriteString(s[i-1 : i+1])
			}
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
