// Package terminal is what the program knows of the screen: its width (width_*.go), the columns
// that a text takes (columns.go), and a line of progress that is written over in place
// (progress.go). It imports the standard library and golang.org/x/sys alone.
package terminal
