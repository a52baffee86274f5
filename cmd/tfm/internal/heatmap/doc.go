// Package heatmap draws attention on a terminal: weights between words as shades (heatmap.go),
// after tokens have been joined to words (spans.go).
package heatmap
