// Package layout holds tests of the whole tree: which package may import which, that each doc.go
// names the files of its package, and that both READMEs show the examples, are short, and link to
// files that exist. It has no code and imports the standard library alone.
package layout
