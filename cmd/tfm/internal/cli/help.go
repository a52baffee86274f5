package cli

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"tfm/cmd/tfm/internal/terminal"
)

// HelpCommand returns the command "help" of the program that p returns.
func HelpCommand(p func() Program) Command {
	return Command{
		Name:          "help",
		FlagsAnywhere: true,
		Args:          func() []string { return p().names() },
		Setup: func(f *Flags) Action {
			var all bool
			f.BoolVar(&all, "all", false, "show all flags and notes of the command")
			return func(_ context.Context, args []string) error { return p().help(args, all) }
		},
	}
}

func (p Program) help(args []string, all bool) error {
	switch len(args) {
	case 0:
		_, err := os.Stdout.WriteString(p.overview(helpWidth(os.Stdout)))
		return err
	case 1:
		c, err := p.find(args[0])
		if err != nil {
			return err
		}
		return p.writeHelp(os.Stdout, c, all)
	default:
		return Usagef("found %d commands, expected one", len(args))
	}
}

// helpWidth returns the number of columns of the help: those of the terminal f, within limits, or
// 80 if f is none.
func helpWidth(f *os.File) int {
	w := terminal.Width(f)
	if w == 0 {
		return 80
	}
	return min(max(w, 40), 100)
}

// overview returns the list of the commands under the headings of their groups.
func (p Program) overview(width int) string {
	var b strings.Builder
	b.WriteString(paragraphs(p.About, width) + "\n")
	group := ""
	longest := 0
	for _, c := range p.Commands {
		longest = max(longest, len(c.Name))
	}
	for i, c := range p.Commands {
		if i == 0 || c.Group != group {
			group = c.Group
			fmt.Fprintf(&b, "\n%s:\n", group)
		}
		b.WriteString(hang(fmt.Sprintf("  %-*s  %s", longest, c.Name, c.Manual.Short), width) + "\n")
	}
	fmt.Fprintf(&b, "\n%s\n", paragraphs(fmt.Sprintf("'%s help COMMAND' shows the flags of a command and examples.", p.Name), width))
	return b.String()
}

// writeHelp writes the help of a command to f: the common flags, or all.
func (p Program) writeHelp(f *os.File, c Command, all bool) error {
	_, err := io.WriteString(f, p.commandHelp(c, all, helpWidth(f)))
	return err
}

func (p Program) commandHelp(c Command, all bool, width int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\nUsage:\n", paragraphs(fmt.Sprintf("%s %s: %s", p.Name, c.Name, c.Manual.Short), width))
	for _, line := range c.Manual.Usage {
		usage := strings.TrimSpace(p.Name + " " + c.Name + " " + line)
		for i, l := range commandLine(usage, width-2) {
			b.WriteString("  " + strings.Repeat("  ", min(i, 1)) + strings.TrimSpace(l) + "\n")
		}
	}
	heading := "Example"
	if len(c.Manual.Examples) > 1 {
		heading = "Examples"
	}
	fmt.Fprintf(&b, "\n%s:\n", heading)
	for _, line := range c.Manual.Examples {
		for _, l := range commandLine(line, width-2) {
			b.WriteString("  " + l + "\n")
		}
	}
	f := NewFlags()
	c.Setup(f)
	var common []*Flag
	for _, g := range f.list {
		if g.common {
			common = append(common, g)
		}
	}
	if common != nil && !all {
		b.WriteString("\nCommon flags:\n")
		writeFlags(&b, common, width)
		fmt.Fprintf(&b, "\n%s\n", paragraphs(fmt.Sprintf("'%s help %s -all' shows all %d flags.", p.Name, c.Name, len(f.list)), width))
	} else {
		f.Groups(func(title string, flags []*Flag) {
			fmt.Fprintf(&b, "\n%s:\n", title)
			writeFlags(&b, flags, width)
		})
	}
	if c.Manual.Notes != "" {
		fmt.Fprintf(&b, "\n%s\n", paragraphs(c.Manual.Notes, width))
	}
	if c.Manual.Details != "" && (all || common == nil) {
		fmt.Fprintf(&b, "\n%s\n", paragraphs(c.Manual.Details, width))
	}
	return b.String()
}

// flagColumns is the width of the column with the names of flags.
const flagColumns = 24

// writeFlags writes a table of flags.
func writeFlags(b *strings.Builder, flags []*Flag, width int) {
	const indent = 2 + flagColumns
	for _, g := range flags {
		kind, usage := g.usage()
		name := strings.TrimSpace("-" + g.Name + " " + kind)
		if len(name) > flagColumns-2 {
			fmt.Fprintf(b, "  %s\n%*s", name, indent, "")
		} else {
			fmt.Fprintf(b, "  %-*s", flagColumns, name)
		}
		var lines []string
		for _, line := range strings.Split(usage, "\n") {
			lines = append(lines, strings.Split(hang(line, width-indent), "\n")...)
		}
		b.WriteString(strings.Join(lines, "\n"+strings.Repeat(" ", indent)) + "\n")
	}
}

// usage returns the placeholder of the flag's value and what the flag does, with its default.
func (g *Flag) usage() (kind, usage string) {
	unwrapped := *g.Flag
	if c, ok := g.Value.(*choiceValue); ok {
		unwrapped.Value = c.Value
	}
	kind, usage = flag.UnquoteUsage(&unwrapped)
	if n, ok := unwrapped.Value.(interface{ isWhole() bool }); ok && n.isWhole() && kind == "value" {
		kind = "N"
	}
	usage = strings.TrimRight(usage, "\n")
	switch {
	case g.choices != nil && kind == "value" || kind == "string":
		kind = "NAME"
	case kind == "value":
		kind = "X"
	default:
		kind = strings.ToUpper(kind)
	}
	value := g.DefValue
	switch {
	case g.chosen:
		value = "chosen from the corpus and -time"
	case g.byModel:
		value = "the model's"
	}
	if slices.Contains([]string{"", "false", "0s"}, value) || value == "0" && !strings.Contains(usage, "; 0 is") {
		return kind, usage
	}
	note := " (default " + value
	if g.byPreset && !g.chosen {
		note += ", depends on -preset"
	}
	note += ")"
	if head, list, ok := strings.Cut(usage, ":\n  "); ok {
		return kind, head + note + ":\n  " + list
	}
	return kind, usage + note
}
