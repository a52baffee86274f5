// Package heatmap draws attention on a terminal: weights between words as shades (heatmap.go),
// after tokens have been joined to words (spans.go). It imports package text and the terminal.
package heatmap
