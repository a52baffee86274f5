// Package terminal writes to the screen. It imports the standard library and golang.org/x/sys
// alone.
//
//	width.go     the width of a terminal; width_*.go: on each system
//	columns.go   the columns of a text; wrapping and truncation
//	progress.go  a progress line that is overwritten, and other lines
package terminal
