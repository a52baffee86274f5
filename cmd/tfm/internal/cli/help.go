package cli

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

// HelpCommand returns the command "help" of the program that p returns.
func HelpCommand(p func() Program) Command {
	return Command{
		Name:          "help",
		Short:         "show what tfm can do, or one command's flags",
		Usage:         "[-all] [COMMAND]",
		Example:       "tfm help train",
		FlagsAnywhere: true,
		Setup: func(f *Flags) func(context.Context, []string) error {
			f.Bool("all", false, "show all flags of the command")
			return func(_ context.Context, args []string) error { return p().help(args) }
		},
	}
}

func (p Program) help(args []string) error {
	switch len(args) {
	case 0:
		_, err := os.Stdout.WriteString(p.overview())
		return err
	case 1:
		c, ok := p.find(args[0])
		if !ok {
			return Usagef("unknown command %q", args[0])
		}
		return p.writeHelp(os.Stdout, c)
	default:
		return Usagef("one command at a time")
	}
}

func (p Program) overview() string {
	var b strings.Builder
	b.WriteString(p.About + "\n\n")
	for _, c := range p.Commands {
		fmt.Fprintf(&b, "  %s %-11s %s\n", p.Name, c.Name, c.Short)
	}
	fmt.Fprintf(&b, "\n'%s help COMMAND' shows its flags with their defaults, and an example. Flags come before other arguments.\n", p.Name)
	return b.String()
}

// writeHelp writes the help of a command.
func (p Program) writeHelp(w io.Writer, c Command) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s: %s\n\nUsage:\n  %s %s\n\nExample:\n", p.Name, c.Name, c.Short, p.Name, strings.TrimSpace(c.Name+" "+c.Usage))
	for _, line := range strings.Split(strings.TrimSpace(c.Example), "\n") {
		fmt.Fprintf(&b, "  %s\n", strings.TrimSpace(line))
	}
	f := NewFlags()
	c.Setup(f)
	f.Groups(func(title string, flags []*Flag) {
		fmt.Fprintf(&b, "\n%s:\n", title)
		for _, g := range flags {
			kind, use := flag.UnquoteUsage(g.Flag)
			fmt.Fprintf(&b, "  -%s\n      %s", strings.TrimSpace(g.Name+" "+kind), strings.ReplaceAll(use, "\n", "\n      "))
			if g.DefValue != "" {
				fmt.Fprintf(&b, " (default %s)", g.DefValue)
			}
			b.WriteByte('\n')
		}
	})
	if c.Notes != "" {
		fmt.Fprintf(&b, "\n%s\n", strings.TrimSpace(c.Notes))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
