// Package merges is what the byte-pair encodings have in common. It imports only the standard
// library.
//
//	word.go   the symbols of a word while merges are applied to it
//	table.go  merges by the symbols they join
//	queue.go  a priority queue
//	cache.go  the encodings of recent words
package merges
