// Package filter reads and writes the lines of commands that answer each line of their input: plain
// text, columns separated by tabs, or JSON objects.
//
//	format.go    Format: the text of a line, and the line with its answer; the flags
//	columns.go   plain text and columns
//	object.go    JSON objects
//	corpus.go    files of pairs, which have no answers
//	failure.go   lines without answer
//	write.go     files of pairs that a command writes
//	request.go   what a translation keeps to: its begin, tags, the translations of terms and texts
//	split.go     sentences of lines and of paragraphs
//	stream.go    lines that are written while they are translated
//	progress.go  the progress through files of known size
//
// # Terms
//
//   - text: the part of a line that is translated
//   - key: the part of a line that identifies it among lines in any order
//   - answer: the columns or fields that are added to a line
package filter
