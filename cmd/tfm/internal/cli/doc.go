// Package cli is the machinery of a command line. It knows no command and imports the standard
// library alone.
//
//	command.go    a program of subcommands: parsing, errors, exit codes
//	flags.go      the table of a command's flags
//	values.go     kinds of values of flags
//	help.go       the help, made from the table
//	interrupt.go  signals as the end of a context; signals_*.go: which signals a system has
//	shell.go      words as a shell takes them
//	writable.go   whether a file can be written
package cli
