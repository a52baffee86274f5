// Package split splits running text into sentences. It imports package text and the standard
// library.
//
//	split.go      Sentences
//	scanner.go    the next sentence of a text: line breaks, brackets and the length limit
//	stop.go       whether a full stop, question mark or ellipsis ends a sentence
//	following.go  the text after a stop
//	period.go     abbreviations, initials, ordinals, dates and the markers of lists
//	languages.go  the words of each language that period.go looks up
//	runes.go      classes of characters
//	join.go       wrapped lines as one line, and sentences in a script with or without spaces
//
// # Rules
//
// White space before, between and after sentences belongs to none of them, so that the sentences
// and the gaps between them make up the text.
//
// A sentence ends after a full stop, question mark, exclamation mark or ellipsis with the quotation
// marks and brackets that close there, if the text that follows can begin a sentence: an upper-case
// letter, a letter of a script without case, a digit or a symbol. Stops of scripts without spaces,
// the danda and others of one meaning need no space after them. A sentence does not end at the stop
// of an abbreviation, an initial, an ordinal or the marker of a list, nor within brackets that open
// within it, or the corner brackets 「」 and 『』. Other quotation marks do not hold a sentence
// together. A sentence without upper-case letters also ends before a lower-case one.
//
// A blank line ends a sentence, and so does the marker of a list on the next line. A single line
// break does so if the line is a heading or an item: if the first word of the next line fits on it
// by a margin, so that no program would have wrapped the text there, or if both lines are shorter
// than text is wrapped, unless the next line begins with a lower-case letter. With Options.Lines
// each line break ends a sentence.
//
// A sentence that exceeds the length limit is cut after the last clause in the second half of the
// limit, or else at the last space, or else between two characters.
//
// Words are those of Options.Language or, if that is unknown, of all languages; a word is an
// abbreviation then if it is one in any language. Splitting a sentence again yields that sentence,
// unless it contains a line break, whose meaning depends on the lines around it, or is longer than
// half of the length limit, because it may be the rest of a longer one.
//
// # Terms
//
//   - stop: the character, or run of characters, that can end a sentence
//   - period: a stop that is a single '.'
//   - gap: the white space between two sentences, which may be empty
//   - window: the text from the begin of a sentence that the rules may read
//   - starter: a word that often begins sentences, and is seldom a name
package split
