// Package markup holds texts with inline elements, and puts the elements of a text around the words
// of its translation. It imports package text and the standard library.
//
//	text.go  a text with its elements
//
// # Terms
//
//   - plain text: a text as a reader sees it, without elements and with characters in the place of
//     entities
//   - span: an inline element, as the bytes of the plain text that it encloses
package markup
