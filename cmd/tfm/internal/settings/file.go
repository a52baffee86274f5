package settings

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"tfm/cmd/tfm/internal/cli"
	"tfm/cmd/tfm/recipes"
	"tfm/text"
)

// A settings file has lines
//
//	name = value    # the name and value of a flag
//
// A value with a comment sign, white space at its ends or special characters is quoted as in Go.
// The output of -dump-config and the recipes are settings files.

// Load reads the settings of the file that -config names and of the recipe that -preset names. The
// command line must have been parsed.
func (r *Run) Load() error {
	for name := range r.flags.Given() {
		r.given[name] = CommandLine
	}
	if r.ConfigFile != "" {
		var lines []string
		for l, err := range text.Lines(r.ConfigFile) {
			if err != nil {
				return err
			}
			lines = append(lines, l)
		}
		if err := r.fill(File, r.ConfigFile, lines); err != nil {
			return err
		}
	}
	if lines, name := recipes.Lines(r.Preset); lines != nil {
		return r.fill(Recipe, name, lines)
	}
	return nil
}

// declared are the flags of a training, for their traits.
var declared = sync.OnceValue(func() *cli.Flags {
	f := cli.NewFlags()
	NewRun(f)
	return f
})

// fill sets the settings of the lines of a file, except those that are given already. Errors name
// the file and the line.
func (r *Run) fill(o Origin, path string, lines []string) error {
	defer r.hold()()
	first := map[string]string{}
	for i, line := range lines {
		at := fmt.Sprintf("%s:%d", path, i+1)
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		name, text, ok := strings.Cut(line, "=")
		if !ok {
			return cli.Usagef("%s: found %.80q, expected name = value", at, line)
		}
		name = strings.TrimSpace(name)
		g := declared().Lookup(name)
		if r.Options.Rounds.Workers > 0 && g != nil && g.Has(notInPlan) && !g.IsAction() {
			continue // of a training by 'tfm train'
		}
		switch earlier, again := first[name]; {
		case g != nil && g.IsAction():
			return cli.Usagef("%s: %s is not a setting, only a flag of the command line", at, name)
		case r.flags.Lookup(name) == nil:
			return cli.UsageError{Message: fmt.Sprintf("%s: unknown setting %.80q", at, name), Meant: cli.Nearest(name, r.flags.Names())}
		case again:
			return cli.Usagef("%s: %s is set twice, first in %s", at, name, earlier)
		}
		first[name] = at
		value, err := parseValue(strings.TrimSpace(text))
		if err != nil {
			return cli.Usagef("%s: %s = %s: %v", at, name, text, err)
		}
		if err := r.flags.Set(name, value); err != nil {
			return fmt.Errorf("%s: %w", at, err)
		}
		r.given[name] = max(r.given[name], o)
	}
	return nil
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
			if !f.IsAction() {
				b.WriteString(strings.TrimSpace(f.Name+" = "+formatValue(f.Value.String())) + "\n")
			}
		}
	})
	_, err := io.WriteString(w, b.String())
	return err
}
