// Package cli is the machinery of a command line. It knows no command, and imports the standard
// library and package terminal alone.
//
//	command.go     a program of subcommands: parsing, errors, exit codes
//	flags.go       the table of a command's flags
//	values.go      kinds of values of flags
//	manual.go      the text of a command's help, from a file
//	help.go        help, made from the manual and the table
//	man.go         manual pages, made from the same
//	completion.go  completion by a shell, made from the table; the scripts are in shells
//	suggest.go     the name that a misspelt one probably means
//	interrupt.go   signals as the end of a context; signals_*.go: the signals of a system
//	retry.go       failures that another attempt may not have
//	shell.go       words quoted for a shell
//	writable.go    whether a file can be written
package cli
