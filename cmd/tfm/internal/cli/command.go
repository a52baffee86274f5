package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
)

// Command is a subcommand: its help, its flags and its run.
type Command struct {
	Name    string
	Short   string // one line: what it does
	Usage   string // the command line after the program's and the command's name
	Example string // lines to copy
	Notes   string // further paragraphs of the help

	FlagsAnywhere bool // flags may follow arguments

	// Setup declares the flags on f and returns what runs once they are parsed, with the arguments
	// after them.
	Setup func(f *Flags) func(ctx context.Context, args []string) error
}

// Program is a program of subcommands.
type Program struct {
	Name     string
	About    string // one line
	Commands []Command
}

// Run runs a command line, the program's name left out, and returns the exit code: 0, or 1 after an
// error, 2 after a wrong command line, 128 + the signal's number after an interrupt. An error is
// printed as one line on standard error.
func (p Program) Run(ctx context.Context, args []string) int {
	surviveFileLimit()
	if len(args) == 0 {
		return p.ExitCode("", Usagef("no command"))
	}
	name, rest := args[0], args[1:]
	switch name {
	case "-h", "-help", "--help":
		name = "help"
	case "-version", "--version":
		name = "version"
	}
	c, ok := p.find(name)
	if !ok {
		return p.ExitCode("", Usagef("unknown command %q", name))
	}
	return p.ExitCode(c.Name, p.run(ctx, c, rest))
}

func (p Program) find(name string) (Command, bool) {
	i := slices.IndexFunc(p.Commands, func(c Command) bool { return c.Name == name })
	if i < 0 {
		return Command{}, false
	}
	return p.Commands[i], true
}

// run parses the command's part of a command line and runs it.
func (p Program) run(ctx context.Context, c Command, args []string) error {
	f := NewFlags()
	act := c.Setup(f)
	var operands []string
	for rest := args; ; rest = f.set.Args()[1:] {
		if err := f.set.Parse(rest); errors.Is(err, flag.ErrHelp) {
			return p.writeHelp(os.Stdout, c)
		} else if err != nil {
			return UsageError{err.Error()}
		}
		if !c.FlagsAnywhere || f.set.NArg() == 0 {
			break
		}
		operands = append(operands, f.set.Arg(0))
	}
	if c.FlagsAnywhere {
		return act(ctx, operands)
	}
	if err := flagsFirst(args, f.set.Args()); err != nil {
		return err
	}
	return act(ctx, f.set.Args())
}

// flagsFirst reports an argument after the flags that looks like a flag. Package flag stops parsing
// at the first argument without a dash, so a later flag would silently be taken for a file.
func flagsFirst(all, left []string) error {
	if parsed := len(all) - len(left); parsed > 0 && all[parsed-1] == "--" {
		return nil
	}
	for i, a := range left {
		if i > 0 && len(a) > 1 && a[0] == '-' {
			return Usagef("flag %s follows the argument %q: flags come first (a file of that name is ./%s)", a, left[0], a)
		}
	}
	return nil
}

// NoArguments reports any argument after the flags.
func NoArguments(args []string) error {
	if len(args) > 0 {
		return Usagef("unexpected argument %q", args[0])
	}
	return nil
}

// UsageError is the error of a wrong command line.
type UsageError struct{ Message string }

func (e UsageError) Error() string { return e.Message }

// Usagef returns a UsageError with a formatted message.
func Usagef(format string, args ...any) error { return UsageError{fmt.Sprintf(format, args...)} }

// ExitCode prints err, if it is not nil, as one line on standard error, and returns the exit code.
// A UsageError points to the help of the command of that name, or of the program if it is empty.
func (p Program) ExitCode(command string, err error) int {
	if err == nil {
		return 0
	}
	var interrupted InterruptError
	if errors.As(err, &interrupted) {
		return interrupted.ExitCode()
	}
	message := strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", "; ")
	if errors.As(err, new(UsageError)) {
		fmt.Fprintf(os.Stderr, "%s: %s; run '%s %s'\n", p.Name, message, p.Name, strings.TrimSpace("help "+command))
		return 2
	}
	fmt.Fprintf(os.Stderr, "%s: %s\n", p.Name, message)
	return 1
}
