// Package charsmap reads and applies the precompiled_charsmap of a .model file of SentencePiece:
// replacements of characters. It has that of spm_train's normalization nmt_nfkc. It imports only
// the standard library.
//
//	charsmap.go  decodes a map and looks up text
//	named.go     the map of nmt_nfkc
package charsmap
