// Package terminal writes to the screen. It imports the standard library, golang.org/x/sys and
// text alone.
//
//	width.go     the width of a terminal; width_*.go: on each system
//	columns.go   the columns of a text; wrapping and truncation
//	progress.go  a progress line that is overwritten, and other lines
//	object.go    JSON objects whose fields have an order
//	heatmap.go   attention drawn as shades; spans.go: its words or characters
package terminal
