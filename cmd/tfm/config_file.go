package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"tfm/cmd/tfm/internal/cli"
	"tfm/text"
)

// A file of settings has lines
//
//	name = value    # the name and value of a flag
//
// A value that would not be read as it is stands in quotes, as in Go. What -dump-config prints is such a file, and so are the recipes.

// setting is one of its lines.
type setting struct {
	name, value string
	at          string // FILE:LINE
}

// actions are the flags that say what to do with a run, and are no settings of it.
var actions = []string{"config", "dump-config", "force", "resume"}

// readSettings reads a file of settings of f.
func readSettings(path string, f *flag.FlagSet) ([]setting, error) {
	var lines []string
	for l, err := range text.Lines(path) {
		if err != nil {
			return nil, err
		}
		lines = append(lines, l)
	}
	return parseSettings(path, lines, f)
}

// parseSettings finds the settings in the lines of a file, and that f has such flags.
func parseSettings(path string, lines []string, f *flag.FlagSet) (settings []setting, err error) {
	first := map[string]string{}
	for i, line := range lines {
		s := setting{at: fmt.Sprintf("%s:%d", path, i+1)}
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		if !ok {
			return nil, cli.Usagef("%s: found %.80q, expected name = value", s.at, line)
		}
		s.name = strings.TrimSpace(name)
		switch earlier, again := first[s.name]; {
		case slices.Contains(actions, s.name):
			return nil, cli.Usagef("%s: %s is no setting of a run and belongs on the command line", s.at, s.name)
		case f.Lookup(s.name) == nil:
			return nil, cli.Usagef("%s: there is no setting %.80q", s.at, s.name)
		case again:
			return nil, cli.Usagef("%s: %s is set twice, first in %s", s.at, s.name, earlier)
		}
		first[s.name] = s.at
		if s.value, err = parseValue(strings.TrimSpace(value)); err != nil {
			return nil, cli.Usagef("%s: %s = %s: %v", s.at, s.name, value, err)
		}
		settings = append(settings, s)
	}
	return settings, nil
}

// parseValue takes the quotes and the comment away from what stands behind the =.
func parseValue(s string) (string, error) {
	if strings.HasPrefix(s, `"`) {
		quoted, err := strconv.QuotedPrefix(s)
		if err != nil {
			return "", errors.New("the quotes do not end")
		}
		if rest := strings.TrimSpace(s[len(quoted):]); rest != "" && rest[0] != '#' {
			return "", fmt.Errorf("found %.80q behind the quotes", rest)
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

// formatValue is what parseValue reads as s.
func formatValue(s string) string {
	if v, err := parseValue(s); err != nil || v != s || strings.TrimSpace(s) != s || !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool { return !strconv.IsPrint(r) }) {
		return strconv.Quote(s)
	}
	return s
}

// set gives flags the values of settings.
func set(f *flag.FlagSet, settings []setting) error {
	for _, s := range settings {
		if err := f.Set(s.name, s.value); err != nil {
			return cli.Usagef("%s: invalid value %q for %s: %v", s.at, s.value, s.name, err)
		}
	}
	return nil
}

// dumpSettings writes the values that the flags have now as a file of settings.
func dumpSettings(w io.Writer, f *flag.FlagSet) error {
	var b strings.Builder
	cli.VisitGroups(f, trainFlags, func(title string, flags []*flag.Flag) {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "# %s\n", title)
		for _, g := range flags {
			if !slices.Contains(actions, g.Name) {
				b.WriteString(strings.TrimSpace(g.Name+" = "+formatValue(g.Value.String())) + "\n")
			}
		}
	})
	_, err := io.WriteString(w, b.String())
	return err
}
