package train

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"tfm/text/sentencepiece/internal/charsmap"
)

// CompileRules returns the precompiled_charsmap of normalization rules in the format of spm_train
// -normalization_rule_tsv: a line has the characters to replace, a tab and their replacement, each
// as hexadecimal numbers separated by spaces. A second tab begins a comment. A text is normalized
// from left to right by the longest rule that matches. Errors begin with name and the line.
func CompileRules(r io.Reader, name string) ([]byte, error) {
	var rules []charsmap.Rule
	lines := map[string]int{} // by Rule.From
	scanner := bufio.NewScanner(r)
	n := 1 // line
	for ; scanner.Scan(); n++ {
		fields := strings.Split(strings.TrimSuffix(scanner.Text(), "\r"), "\t")
		if len(fields) == 1 && strings.TrimSpace(fields[0]) == "" {
			continue
		}
		var parsed [2]string
		for i, field := range fields[:min(2, len(fields))] {
			var err error
			if parsed[i], err = parseCharacters(field); err != nil {
				return nil, fmt.Errorf("%s:%d: %w", name, n, err)
			}
		}
		if parsed[0] == "" {
			return nil, fmt.Errorf("%s:%d: found no characters to replace", name, n)
		}
		if len(parsed[1]) > charsmap.MaxReplacement {
			return nil, fmt.Errorf("%s:%d: found a replacement of %d bytes, expected at most %d", name, n, len(parsed[1]), charsmap.MaxReplacement)
		}
		if first, ok := lines[parsed[0]]; ok {
			return nil, fmt.Errorf("%s:%d: found a second rule for %q, the first is in line %d", name, n, parsed[0], first)
		}
		lines[parsed[0]] = n
		rules = append(rules, charsmap.Rule{From: parsed[0], To: parsed[1]})
	}
	switch err := scanner.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, fmt.Errorf("%s:%d: found a line of more than %d bytes", name, n, bufio.MaxScanTokenSize)
	case err != nil:
		return nil, fmt.Errorf("%s:%d: %w", name, n, err)
	}
	data, err := charsmap.Compile(rules)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return data, nil
}

// parseCharacters parses characters in hexadecimal, each with or without U+.
func parseCharacters(field string) (string, error) {
	var s strings.Builder
	for _, hex := range strings.Fields(field) {
		c, err := strconv.ParseUint(strings.TrimPrefix(hex, "U+"), 16, 32)
		if err != nil || c == 0 || !utf8.ValidRune(rune(c)) {
			return "", fmt.Errorf("found %q, expected a hexadecimal character from 1 to 10FFFF without surrogates", hex)
		}
		s.WriteRune(rune(c))
	}
	return s.String(), nil
}
