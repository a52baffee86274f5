package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"tfm/cmd/tfm/internal/terminal"
)

// HelpCommand returns the command "help" of the program that p returns.
func HelpCommand(p func() Program) Command {
	return Command{
		Name: "help", Rare: true,
		Args: func() []string { return p().names() },
		Setup: func(f *Flags) Action {
			var all, man bool
			f.BoolVar(&all, "all", false, "show all flags and notes of the command, or all commands")
			f.BoolVar(&man, "man", false, "print the manual page, for man or groff")
			return func(_ context.Context, args []string) error {
				p := p()
				if man {
					return p.help(args, p.manIndex(), p.manPage)
				}
				return p.help(args, p.overview(all), func(c Command) string { return p.commandHelp(c, all) })
			}
		},
	}
}

// help prints the text of all commands, or of the one that args names.
func (p Program) help(args []string, overview string, command func(Command) string) error {
	text := overview
	switch len(args) {
	case 0:
	case 1:
		c, err := p.find(args[0])
		if err != nil {
			return err
		}
		text = command(c)
	default:
		return Usagef("found %d commands, expected one", len(args))
	}
	_, err := os.Stdout.WriteString(text)
	return err
}

// overview returns the list of the commands under the headings of their groups: without the rare
// ones, or all.
func (p Program) overview(all bool) string {
	var b strings.Builder
	b.WriteString(p.About + "\n")
	longest := 0
	for _, name := range p.names() {
		longest = max(longest, len(name))
	}
	group, rare := "", 0
	for _, c := range p.Commands {
		if c.Rare && !all {
			rare++
			continue
		}
		if c.Group != group {
			group = c.Group
			fmt.Fprintf(&b, "\n%s:\n", group)
		}
		b.WriteString(terminal.Row("  "+c.Name, c.Manual.Short, longest+4, helpColumns) + "\n")
	}
	fmt.Fprintf(&b, "\n'%s help COMMAND' shows the flags of a command and examples.\n", p.Name)
	if rare > 0 {
		fmt.Fprintf(&b, "'%s help -all' lists %d more commands.\n", p.Name, rare)
	}
	return b.String()
}

// commandHelp returns the help of a command: with the common flags, or all.
func (p Program) commandHelp(c Command, all bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s: %s\n\n%s\n", p.Name, c.Name, c.Manual.Short, c.Manual.Usage)
	f, _ := c.Declare()
	common := slices.DeleteFunc(f.All(), func(g *Flag) bool { return !g.common })
	all = all || len(common) == 0
	settings := f.settings()
	if all {
		f.Groups(func(title string, flags []*Flag) {
			writeFlags(&b, title, slices.DeleteFunc(flags, (*Flag).IsSetting))
		})
		writeFlags(&b, settingsTitle, settings)
	} else {
		writeFlags(&b, "Common flags", common)
		fmt.Fprintf(&b, "\n'%s help %s -all' shows all %d flags", p.Name, c.Name, len(f.list)-len(settings))
		if len(settings) > 0 {
			fmt.Fprintf(&b, " and %d settings", len(settings))
		}
		b.WriteString(".\n")
	}
	if c.Manual.Notes != "" {
		fmt.Fprintf(&b, "\n%s\n", c.Manual.Notes)
	}
	if c.Manual.Details != "" && all {
		fmt.Fprintf(&b, "\n%s\n", c.Manual.Details)
	}
	return b.String()
}

// settings returns the flags that are settings.
func (f *Flags) settings() []*Flag {
	return slices.DeleteFunc(f.All(), func(g *Flag) bool { return !g.setting })
}

// settingsTitle is the heading of the settings.
const settingsTitle = "Settings, for -set NAME=VALUE"

const (
	helpColumns = 80 // of the help
	flagColumns = 26 // of the names of flags in the help
)

// writeFlags writes a table of flags. A line of a usage is continued below its last column, which
// follows two spaces.
func writeFlags(b *strings.Builder, title string, flags []*Flag) {
	if len(flags) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s:\n", title)
	for _, g := range flags {
		kind, usage := g.usage()
		name := strings.TrimRight("  "+g.Label()+" "+kind, " ")
		if len(name) > flagColumns-2 {
			b.WriteString(name + "\n")
			name = ""
		}
		for line := range strings.SplitSeq(usage, "\n") {
			start := strings.LastIndex("  "+line, "  ") // of the last column
			label := fmt.Sprintf("%-*s%s", flagColumns, name, line[:start])
			b.WriteString(terminal.Row(label, line[start:], flagColumns+start, helpColumns) + "\n")
			name = ""
		}
	}
}

// usage returns the placeholder of the flag's value and what the flag does, with its default.
func (g *Flag) usage() (kind, usage string) {
	kind, usage = g.placeholder, g.Usage
	if before, rest, ok := strings.Cut(usage, "`"); ok {
		name, after, _ := strings.Cut(rest, "`")
		kind, usage = strings.ToUpper(name), before+name+after
	}
	value := cmp.Or(g.defaultText, g.DefValue)
	if slices.Contains([]string{"", "false", "0s"}, value) || value == "0" && !strings.Contains(usage, "; 0 is") {
		return kind, usage
	}
	note := " (default " + value + ")"
	if head, list, ok := strings.Cut(usage, ":\n  "); ok {
		return kind, head + note + ":\n  " + list
	}
	return kind, usage + note
}
