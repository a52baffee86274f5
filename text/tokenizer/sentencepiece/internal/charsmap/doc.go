// Package charsmap reads and applies the precompiled_charsmap of a .model file of SentencePiece:
// replacements of characters. It has those of spm_train's normalizations. It imports only the
// standard library.
//
//	charsmap.go  decodes a map and looks up text
//	named.go     the maps of the normalizations, by name
//	placer.go    assigns the nodes of a double array
package charsmap
