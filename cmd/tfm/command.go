package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"tfm/mat"
)

// A command is one subcommand: what its help says, and how it is set up and run.
type command struct {
	name    string
	short   string      // what it does, one line
	usage   string      // the command line after "tfm name"
	example string      // lines to copy
	notes   string      // what else the help should say
	groups  []flagGroup // in which it shows the flags; those in none come first

	// setup declares the flags and returns what runs once they are parsed. The arguments are those after the flags.
	setup func(f *flag.FlagSet) func(ctx context.Context, args []string) error
}

func commands() []command {
	return []command{demoCommand(), lessonCommand(), trainCommand(), averageCommand(), translateCommand(), evalCommand(), reportCommand(), infoCommand(), vocabCommand(), mnistCommand(), benchCommand(), helpCommand(), versionCommand()}
}

// usageError is the error of a wrong command line.
type usageError struct{ message string }

func (e usageError) Error() string { return e.message }

func usagef(format string, args ...any) error { return usageError{fmt.Sprintf(format, args...)} }

// run is the program: it runs the command line and returns the exit code.
func run(args []string) int {
	surviveFileLimit()
	if err := mat.CheckKernel(); err != nil {
		return exitCode("", err)
	}
	if len(args) == 0 {
		return exitCode("", usagef("no command"))
	}
	name, rest := args[0], args[1:]
	switch name {
	case "-h", "-help", "--help":
		name = "help"
	case "-version", "--version":
		name = "version"
	}
	c, ok := find(name)
	if !ok {
		return exitCode("", usagef("unknown command %q", name))
	}
	return exitCode(c.name, c.run(context.Background(), rest))
}

func find(name string) (command, bool) {
	all := commands()
	i := slices.IndexFunc(all, func(c command) bool { return c.name == name })
	if i < 0 {
		return command{}, false
	}
	return all[i], true
}

// run parses the command's part of a command line and runs it.
func (c command) run(ctx context.Context, args []string) error {
	f := c.newFlags()
	act := c.setup(f)
	if err := f.Parse(args); errors.Is(err, flag.ErrHelp) {
		return c.help(os.Stdout)
	} else if err != nil {
		return usageError{err.Error()}
	}
	if err := flagsFirst(args, f.Args()); err != nil {
		return err
	}
	return act(ctx, f.Args())
}

func (c command) newFlags() *flag.FlagSet {
	f := flag.NewFlagSet(c.name, flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.Usage = func() {}
	return f
}

// flagsFirst is an error if one of the arguments left over after parsing looks like a flag: package flag
// stops at the first argument that is none, and what follows would silently be taken for a file.
func flagsFirst(all, left []string) error {
	if parsed := len(all) - len(left); parsed > 0 && all[parsed-1] == "--" {
		return nil
	}
	for i, a := range left {
		if i > 0 && len(a) > 1 && a[0] == '-' {
			return usagef("flag %s follows the argument %q: flags come first (a file of that name is ./%s)", a, left[0], a)
		}
	}
	return nil
}

func noArguments(args []string) error {
	if len(args) > 0 {
		return usagef("unexpected argument %q", args[0])
	}
	return nil
}

// help writes what `tfm name -h` shows.
func (c command) help(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "tfm %s: %s\n\nUsage:\n  tfm %s\n\nExample:\n", c.name, c.short, strings.TrimSpace(c.name+" "+c.usage))
	for _, line := range strings.Split(strings.TrimSpace(c.example), "\n") {
		fmt.Fprintf(&b, "  %s\n", strings.TrimSpace(line))
	}
	f := c.newFlags()
	c.setup(f)
	visit(f, c.groups, func(title string, flags []*flag.Flag) {
		fmt.Fprintf(&b, "\n%s:\n", title)
		for _, g := range flags {
			kind, use := flag.UnquoteUsage(g)
			fmt.Fprintf(&b, "  -%s\n      %s", strings.TrimSpace(g.Name+" "+kind), strings.ReplaceAll(use, "\n", "\n      "))
			if g.DefValue != "" {
				fmt.Fprintf(&b, " (default %s)", g.DefValue)
			}
			b.WriteByte('\n')
		}
	})
	if c.notes != "" {
		fmt.Fprintf(&b, "\n%s\n", strings.TrimSpace(c.notes))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// exitCode writes err, if there is one, as one line on standard error, and returns the exit code.
func exitCode(name string, err error) int {
	if err == nil {
		return 0
	}
	var interrupted interruptError
	if errors.As(err, &interrupted) {
		return interrupted.exitCode()
	}
	message := strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", "; ")
	if errors.As(err, new(usageError)) {
		fmt.Fprintf(os.Stderr, "tfm: %s; run 'tfm %s'\n", message, strings.TrimSpace("help "+name))
		return 2
	}
	fmt.Fprintf(os.Stderr, "tfm: %s\n", message)
	return 1
}
