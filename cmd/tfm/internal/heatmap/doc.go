// Package heatmap draws attention weights between words as shades on a terminal. It imports package
// text and the terminal.
//
//	heatmap.go  draws weights
//	spans.go    groups tokens into words or characters
package heatmap
