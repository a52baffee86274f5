package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"tfm/cmd/tfm/internal/terminal"
)

// Command is a subcommand.
type Command struct {
	Name   string
	Group  string // heading in the list of commands
	Rare   bool   // only in the list of all commands
	Manual Manual

	NoArgs bool            // arguments are an error
	Args   func() []string // values of the arguments, for completion; nil: files

	// Setup declares the flags on f. It returns the function that runs the command once they are
	// parsed: a method of a struct whose fields are the flags.
	Setup func(f *Flags) Action
}

// Declare returns the flags of the command, and the function that runs it.
func (c Command) Declare() (*Flags, Action) {
	f := NewFlags()
	act := c.Setup(f)
	f.declareSet()
	return f, act
}

// Action runs a command. args are the arguments that are no flags.
type Action = func(ctx context.Context, args []string) error

// Program is a program of subcommands.
type Program struct {
	Name     string
	About    string // the program's name and a verb: what it does
	Version  string // shown in manual pages, with the Date, which may be ""
	Date     string
	Commands []Command
}

// Run runs a command line without the program's name and returns the exit code: 0, 1 after an
// error, 2 after a wrong command line, 75 after a RetryError, 128 + the number of the signal after
// an interrupt. An error is printed as one line on standard error. Without a command it prints the
// list of commands there.
func (p Program) Run(ctx context.Context, args []string) int {
	surviveFileLimit()
	if len(args) == 0 {
		os.Stderr.WriteString(p.overview(false))
		return 2
	}
	name, rest := args[0], args[1:]
	switch name {
	case "-h", "-help", "--help":
		name = "help"
	case "-v", "-V", "-version", "--version":
		name = "version"
	}
	c, err := p.find(name)
	if err != nil {
		return p.ExitCode("", err)
	}
	return p.ExitCode(c.Name, p.run(ctx, c, rest))
}

// Call runs the named command and returns its error. That of a wrong command line names it.
func (p Program) Call(ctx context.Context, name string, args ...string) error {
	c, err := p.find(name)
	if err == nil {
		err = p.run(ctx, c, args)
	}
	if errors.As(err, new(UsageError)) {
		return fmt.Errorf("%s %s: %v", p.Name, name, err)
	}
	return err
}

// find returns the command of that name.
func (p Program) find(name string) (Command, error) {
	if strings.HasPrefix(name, "-") {
		u := UsageError{Message: fmt.Sprintf("found the flag %s, expected a command before it", name)}
		if meant := Nearest(strings.TrimLeft(name, "-"), []string{"help", "version"}); meant != "" {
			u.Meant = "--" + meant
		}
		return Command{}, u
	}
	i := slices.IndexFunc(p.Commands, func(c Command) bool { return c.Name == name })
	if i < 0 {
		return Command{}, UsageError{Message: fmt.Sprintf("unknown command %q", name), Meant: Nearest(name, p.names())}
	}
	return p.Commands[i], nil
}

// names returns the names of the commands.
func (p Program) names() []string {
	names := make([]string, len(p.Commands))
	for i, c := range p.Commands {
		names[i] = c.Name
	}
	return names
}

// run parses the flags of a command and runs it.
func (p Program) run(ctx context.Context, c Command, args []string) error {
	f, act := c.Declare()
	operands, err := f.parse(args)
	if errors.Is(err, flag.ErrHelp) {
		all := slices.Contains(args, "-all") || slices.Contains(args, "--all")
		return p.help([]string{c.Name}, "", func(c Command) string { return p.commandHelp(c, all) })
	}
	if err == nil && c.NoArgs {
		err = NoArguments(operands)
	}
	if err != nil && c.NoArgs && len(operands) > 0 && f.Lookup("src") != nil {
		err = Usagef("%v: flags name the files, such as -src %s", err, ShellWord(operands[0]))
	}
	if err != nil {
		return err
	}
	return f.named(act(ctx, operands))
}

// NoArguments reports any argument.
func NoArguments(args []string) error {
	if len(args) > 0 {
		return Usagef("unexpected argument %q", args[0])
	}
	return nil
}

// UsageError is the error of a wrong command line.
type UsageError struct {
	Message string
	Meant   string // what was probably meant; "" if nothing is near
}

func (e UsageError) Error() string { return e.Message }

// Usagef returns a UsageError with a formatted message.
func Usagef(format string, args ...any) error {
	return UsageError{Message: fmt.Sprintf(format, args...)}
}

// UsageIf returns a UsageError with a formatted message if a command line is wrong, else nil. The
// first error of several such checks is cmp.Or of them.
func UsageIf(wrong bool, format string, args ...any) error {
	if !wrong {
		return nil
	}
	return Usagef(format, args...)
}

// ExitCode prints err, if it is not nil, as one line on standard error, and returns the exit code.
// A UsageError ends with what was probably meant, or else with the command line that shows the help
// of the command, or of the program if command is "".
func (p Program) ExitCode(command string, err error) int {
	if err == nil {
		return 0
	}
	var interrupted InterruptError
	var retry RetryError
	isRetry := errors.As(err, &retry)
	if errors.As(err, &interrupted) {
		if isRetry {
			return retryCode
		}
		return interrupted.ExitCode()
	}
	message := terminal.Printable(strings.ReplaceAll(strings.TrimSpace(withoutCall(err)), "\n", "; "))
	var usage UsageError
	switch {
	case !errors.As(err, &usage):
		fmt.Fprintf(os.Stderr, "%s: %s\n", p.Name, message)
		if isRetry {
			return retryCode
		}
		return 1
	case usage.Meant != "":
		fmt.Fprintf(os.Stderr, "%s: %s; did you mean %q?\n", p.Name, message, usage.Meant)
	default:
		if command == "help" {
			command = ""
		}
		fmt.Fprintf(os.Stderr, "%s: %s; run '%s %s'\n", p.Name, message, p.Name, strings.TrimSpace("help "+command))
	}
	return 2
}

// withoutCall returns the text of an error without the name of the system call that did not find or
// open a file: the text is of the file.
func withoutCall(err error) string {
	text := err.Error()
	if e := new(fs.PathError); errors.As(err, &e) && slices.Contains([]string{"open", "stat", "lstat"}, e.Op) {
		text = strings.Replace(text, e.Op+" "+e.Path+": ", e.Path+": ", 1)
	}
	return text
}
