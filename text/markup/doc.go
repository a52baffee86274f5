// Package markup reads HTML and XML as texts with inline elements, puts the elements of a text
// around the words of its translation, and writes the document with the translations. It imports
// packages text and script and the standard library.
//
//	text.go      a text with its elements
//	scanner.go   the tokens of HTML and XML
//	elements.go  the elements and attributes of HTML
//	html.go      which elements of HTML enclose a text, as browsers understand any markup
//	xml.go       which elements of XML do
//	document.go  a document as texts and the bytes around them
//	entity.go    character references
//	place.go     where elements are in a translation
//	protected.go placeholders, URLs and other text that is not translated
//	units.go     words, and letters of scripts without spaces
//
// The way of a document: ReadHTML or ReadXML → Document.Texts, which are translated → Text.Place →
// Document.Append.
//
// # Terms
//
//   - plain text: a text as a reader sees it, without elements and with characters in the place of
//     entities
//   - span: an inline element, as the bytes of the plain text that it encloses
//   - block: an element that begins and ends texts, as a paragraph does
//   - kept: copied as it is, not translated
//   - stray tag: an end tag without effect
package markup
