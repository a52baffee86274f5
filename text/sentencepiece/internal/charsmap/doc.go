// Package charsmap reads, applies and builds the precompiled_charsmap of a .model file of
// SentencePiece: replacements of characters. It imports only the standard library.
//
//	charsmap.go  decodes a map and looks up text
//	build.go     builds a map from rules
//	placer.go    assigns the nodes of a double array
package charsmap
