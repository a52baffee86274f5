// Package cli is the machinery of a command line: a program of subcommands, its help and exit codes (command.go, help.go),
// groups of flags (groups.go), flags that several commands have (flags.go) and kinds of values (values.go), signals as the
// end of a context (interrupt.go), words of a shell (shell.go), and whether a file can be written (writable.go). It knows no command and imports the
// standard library alone.
package cli
