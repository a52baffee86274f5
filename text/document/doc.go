// Package document translates the text of files that other programs wrote, and copies all other
// bytes. It imports packages text, charset, markup, script and split, and the standard library.
//
//	document.go  Translate
//	formats.go   the table of formats, and how a file is recognized
//	editor.go    a text file as it is copied with translations in the place of texts
//	group.go     groups of texts, in the form in which they are translated
//	elements.go  inline elements: from bytes to spans and back
//	encoding.go  a document as an editor of its text in UTF-8
//	tags.go      tags in strings and subtitles
//	message.go   strings of programs: passages with tags
//	plural.go    the forms of nouns of a language
//	divide.go    a text in parts of given lengths
//	passage.go   plain text as passages: lines, or several wrapped ones as one
//	bilingual.go the texts of a document with their translations, as columns or XLIFF
//	html.go      HTML, by package markup
//	markdown.go  blocks of Markdown
//	inlines.go   inline elements of Markdown
//	subtitles.go srt, vtt
//	po.go        po
//	properties.go  Java's properties
//	json.go      JSON
//	xliff.go     XLIFF 1.2 and 2
//	archive.go   documents that are zip archives of parts
//	node.go      elements of XML as trees, with the names of their namespaces
//	paragraph.go paragraphs of office formats: runs and objects as texts with spans, and back
//	office.go    docx, pptx, xlsx
//	odf.go       odt, odp, ods
//	epub.go      e-books
//
// # Terms
//
//   - text: a paragraph, cell, entry or the like, which is translated as a whole
//   - element: inline formatting as the bytes of its format; in a markup.Text it is a span
//   - edit: a range of a file that is replaced by the translations of one or more texts
//   - passage: a paragraph of plain text
//   - utterance: what one speaker says in a cue of subtitles
//   - part: a file in the archive that a document is
//   - fragment: a tag, or the text between tags
//   - run: characters of one format in a paragraph of an office document
//   - gap: what separates two texts of a paragraph, such as a tab or a line break
//   - group: consecutive texts of a file that are translated in one call
//
// A format is a row of the table in formats.go and a file with one function, which finds the texts
// of a file and passes their ranges to an editor in order. All other bytes are copied. A format
// that is an archive makes an editor for each part with text, and passes it to translateText.
package document
