// Package charset reads and writes text that is not in UTF-8. It imports package lang and the
// standard library.
//
//	page.go   encodings with one byte a character: those of Windows, by name and by language
//	utf16.go  UTF-16, which its byte order mark tells
//	hint.go   the encoding that a document declares, and guesses for messages
package charset
