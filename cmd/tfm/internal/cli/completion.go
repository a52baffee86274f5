package cli

import (
	"context"
	"embed"
	"os"
	"strings"
)

// shells holds a completion script for each shell. The scripts call 'NAME completion -words', so
// they know no command and no flag.
//
//go:embed shells
var shells embed.FS

// shellNames are the shells that have a script.
var shellNames = []string{"bash", "zsh", "fish", "powershell"}

// CompletionCommand returns the command "completion" of the program that p returns.
func CompletionCommand(p func() Program) Command {
	return Command{
		Name: "completion", Rare: true,
		Args: func() []string { return shellNames },
		Setup: func(f *Flags) Action {
			var words, empty bool
			f.BoolVar(&words, "words", false, "print the completions of the last argument of a command line, for the scripts")
			f.BoolVar(&empty, "empty-word", false, "with -words: the last argument is a further, empty one")
			return func(_ context.Context, args []string) error {
				if empty {
					args = append(args, "")
				}
				if words {
					_, err := os.Stdout.WriteString(p().completions(args))
					return err
				}
				if len(args) != 1 {
					return Usagef("found %d shells, expected one of %s", len(args), strings.Join(shellNames, ", "))
				}
				script, err := shells.ReadFile("shells/" + args[0])
				if err != nil {
					return UsageError{Message: "unknown shell " + args[0] + ", expected " + orList(shellNames), Meant: Nearest(args[0], shellNames)}
				}
				_, err = os.Stdout.WriteString(strings.ReplaceAll(string(script), "NAME", p().Name))
				return err
			}
		},
	}
}

// Requests to the shell for its own completion.
const (
	completeFiles   = ":files"
	completeFolders = ":folders"
)

// completions returns the completions of the last of words, the words of a command line after the
// program's name, as lines: a request, or a candidate, a tab and what it is.
func (p Program) completions(words []string) string {
	if len(words) == 0 {
		return ""
	}
	last := words[len(words)-1]
	var lines []string
	if len(words) == 1 {
		for _, c := range p.Commands {
			lines = append(lines, c.Name+"\t"+c.Manual.Short)
		}
		return matching(lines, last)
	}
	c, err := p.find(words[0])
	if err != nil {
		return ""
	}
	f, _ := c.Declare()
	pending, flagsOver := f.scan(words[1 : len(words)-1])
	switch {
	case pending != nil && pending.assigns:
		return matching(f.assignments(last), last)
	case pending != nil:
		return matching(pending.values(), last)
	case flagsOver || !strings.HasPrefix(last, "-"):
		if c.Args == nil {
			return completeFiles + "\n"
		}
		return matching(c.Args(), last)
	}
	name := strings.TrimPrefix(strings.TrimPrefix(last, "-"), "-")
	dashes := last[:len(last)-len(name)]
	name, _, assigned := strings.Cut(name, "=")
	if !assigned {
		for _, g := range f.list {
			if !g.setting {
				lines = append(lines, dashes+g.Name+"\t"+g.summary())
			}
		}
		return matching(lines, last)
	}
	g := f.Lookup(name)
	if g == nil || g.setting {
		return ""
	}
	return matching(g.assigned(dashes+name), last)
}

// assignments returns the completions of a value of -set: the names of settings, or the values of
// the one that is named.
func (f *Flags) assignments(typed string) (lines []string) {
	name, _, assigned := strings.Cut(typed, "=")
	if !assigned {
		for _, g := range f.settings() {
			lines = append(lines, g.Name+"=\t"+g.summary())
		}
		return lines
	}
	if g := f.Lookup(name); g != nil {
		return g.assigned(name)
	}
	return nil
}

// assigned returns the completions of the flag's value after its name and "=".
func (g *Flag) assigned(name string) []string {
	lines := g.values()
	for i, l := range lines {
		if !strings.HasPrefix(l, ":") {
			lines[i] = name + "=" + l
		}
	}
	return lines
}

// scan parses the words of a command line up to the one to complete. It returns the flag whose
// value comes next, nil if none, and whether no further flags may come.
func (f *Flags) scan(words []string) (pending *Flag, flagsOver bool) {
	for _, w := range words {
		switch {
		case pending != nil:
			pending = nil
		case flagsOver:
		case w == "--":
			flagsOver = true
		case isFlag(w):
			g := f.Lookup(strings.TrimPrefix(w[1:], "-"))
			if g != nil && !g.isBool() {
				pending = g
			}
		}
	}
	return pending, flagsOver
}

// values returns the completions of the flag's value.
func (g *Flag) values() []string {
	lines := append([]string(nil), g.choices...)
	if lines == nil && g.isBool() {
		lines = []string{"true", "false"}
	}
	switch kind, _ := g.usage(); kind {
	case "FILE":
		lines = append(lines, completeFiles)
	case "FOLDER":
		lines = append(lines, completeFolders)
	}
	return lines
}

// summary returns the first phrase of the flag's usage.
func (g *Flag) summary() string {
	_, usage := g.usage()
	end := strings.IndexAny(usage, "\n;:(")
	if end < 0 {
		end = len(usage)
	}
	return strings.TrimSpace(usage[:end])
}

// matching returns the lines that are requests or begin with prefix.
func matching(lines []string, prefix string) string {
	var b strings.Builder
	for _, l := range lines {
		if strings.HasPrefix(l, ":") || strings.HasPrefix(l, prefix) {
			b.WriteString(l + "\n")
		}
	}
	return b.String()
}
