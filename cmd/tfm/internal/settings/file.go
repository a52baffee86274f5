package settings

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"tfm/cmd/tfm/internal/cli"
	"tfm/text"
)

// A settings file has lines
//
//	name = value    # the name and value of a flag
//
// A value with a comment sign, white space at its ends or special characters is quoted as in Go.
// The output of -dump-config and the recipes are settings files.

// Actions are the flags that are not settings.
var Actions = []string{"config", "dump-config", "force", "resume"}

// ReadFile reads a settings file.
func ReadFile(path string) ([]Setting, error) {
	var lines []string
	for l, err := range text.Lines(path) {
		if err != nil {
			return nil, err
		}
		lines = append(lines, l)
	}
	return Parse(path, lines)
}

// Parse parses the lines of a settings file. Errors name the file and the line.
func Parse(path string, lines []string) (settings []Setting, err error) {
	f := NewRun(cli.NewFlags()).Flags()
	first := map[string]string{}
	for i, line := range lines {
		s := Setting{At: fmt.Sprintf("%s:%d", path, i+1)}
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		if !ok {
			return nil, cli.Usagef("%s: found %.80q, expected name = value", s.At, line)
		}
		s.Name = strings.TrimSpace(name)
		switch earlier, again := first[s.Name]; {
		case slices.Contains(Actions, s.Name):
			return nil, cli.Usagef("%s: %s is not a setting, only a flag of the command line", s.At, s.Name)
		case f.Lookup(s.Name) == nil:
			return nil, cli.UsageError{Message: fmt.Sprintf("%s: unknown setting %.80q", s.At, s.Name), Meant: cli.Nearest(s.Name, f.Names())}
		case again:
			return nil, cli.Usagef("%s: %s is set twice, first in %s", s.At, s.Name, earlier)
		}
		first[s.Name] = s.At
		if s.Value, err = parseValue(strings.TrimSpace(value)); err != nil {
			return nil, cli.Usagef("%s: %s = %s: %v", s.At, s.Name, value, err)
		}
		settings = append(settings, s)
	}
	return settings, nil
}

// parseValue removes the quotes and the comment of a value.
func parseValue(s string) (string, error) {
	if strings.HasPrefix(s, `"`) {
		quoted, err := strconv.QuotedPrefix(s)
		if err != nil {
			return "", errors.New("missing closing quote")
		}
		if rest := strings.TrimSpace(s[len(quoted):]); rest != "" && rest[0] != '#' {
			return "", fmt.Errorf("found %.80q after the quotes", rest)
		}
		return strconv.Unquote(quoted)
	}
	for i := range len(s) {
		if s[i] == '#' && (i == 0 || s[i-1] == ' ' || s[i-1] == '\t') {
			return strings.TrimSpace(s[:i]), nil
		}
	}
	return s, nil
}

// formatValue formats s for parseValue.
func formatValue(s string) string {
	if v, err := parseValue(s); err != nil || v != s || strings.TrimSpace(s) != s || !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool { return !strconv.IsPrint(r) }) {
		return strconv.Quote(s)
	}
	return s
}

// Write writes the settings of r as a settings file.
func (r *Run) Write(w io.Writer) error {
	var b strings.Builder
	r.flags.Groups(func(title string, flags []*cli.Flag) {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "# %s\n", title)
		for _, f := range flags {
			if !slices.Contains(Actions, f.Name) {
				b.WriteString(strings.TrimSpace(f.Name+" = "+formatValue(f.Value.String())) + "\n")
			}
		}
	})
	_, err := io.WriteString(w, b.String())
	return err
}
