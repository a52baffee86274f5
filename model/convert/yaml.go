package convert

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// yamlValue is a scalar, or a list of scalars, which is then not nil.
type yamlValue struct {
	scalar string
	list   []string
}

// readYAML decodes a file of f.
func readYAML(f folder, name string) (map[string]yamlValue, error) {
	data, err := f.read(name)
	if err != nil {
		return nil, err
	}
	values, err := parseYAML(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.name(name), err)
	}
	return values, nil
}

// parseYAML decodes the part of YAML that Marian writes: one mapping of keys to scalars, or to
// lists of scalars, in blocks or in brackets. Text after a NUL is ignored. Errors name the line;
// duplicate keys are an error. Tags, anchors, nested mappings and text of several lines are not in
// this part.
func parseYAML(data []byte) (map[string]yamlValue, error) {
	data, _, _ = bytes.Cut(data, []byte{0})
	if !utf8.Valid(data) {
		return nil, fmt.Errorf("found invalid UTF-8")
	}
	p := yamlParser{values: map[string]yamlValue{}}
	number := 0
	for line := range strings.Lines(string(data)) {
		number++
		if err := p.parseLine(strings.TrimRight(line, " \t\r\n")); err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
	}
	return p.values, nil
}

// yamlParser holds the values of the lines before.
type yamlParser struct {
	values map[string]yamlValue
	key    string // the last one
	open   bool   // its value is missing, or is a list in a block
}

// parseLine decodes a line without white space at its end.
func (p *yamlParser) parseLine(line string) (err error) {
	content := strings.TrimLeft(line, " ")
	indented := len(content) < len(line)
	last := p.values[p.key]
	switch {
	case content == "" || content[0] == '#' || !indented && (content == "---" || content == "..."):
		return nil
	case p.open && (content == "-" || strings.HasPrefix(content, "- ")):
		item, err := yamlScalar(strings.TrimSpace(content[1:]))
		p.values[p.key] = yamlValue{list: append(last.list, item)}
		return err
	case p.open && indented && last.list == nil:
		p.values[p.key], err = parseYAMLValue(content)
		p.open = false
		return err
	case indented:
		return fmt.Errorf("found %.40q after spaces, expected a key or an item of a list", content)
	}
	key, rest, err := cutYAMLKey(content)
	if err != nil {
		return err
	}
	if _, found := p.values[key]; found {
		return fmt.Errorf("found key %.40q twice", key)
	}
	p.values[key], err = parseYAMLValue(rest)
	p.key, p.open = key, rest == ""
	return err
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
	value := yamlValue{list: []string{}}
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
		text, err := strconv.Unquote(yamlEscapes.Replace(s))
		if err != nil {
			return "", fmt.Errorf("found %.40q, expected text in quotes", s)
		}
		return text, nil
	case '|', '>', '&', '!', '{', '%', '@', '`':
		return "", fmt.Errorf("found %.40q, expected a plain or quoted value, or a list", s)
	}
	return s, nil
}

// yamlEscapes replaces the escapes of YAML that are not those of Go, where \xNN is a byte and no
// character.
var yamlEscapes = strings.NewReplacer(
	`\\`, `\\`, `\x`, `\u00`, `\/`, `/`, `\e`, `\u001b`, `\ `, ` `, `\0`, `\u0000`, `\N`, `\u0085`, `\_`, `\u00a0`, `\L`, `\u2028`, `\P`, `\u2029`,
)
