// Package script classifies characters by script. It imports only the standard library.
//
//	script.go    the script of a character, by pages of characters
//	unspaced.go  scripts without spaces between words, by the tables of package unicode
package script
