// Package layout holds tests of the whole tree: which package may import which, that each doc.go
// names the files of its package, and that README.md shows the examples as they are. It has no code
// and imports the standard library alone.
package layout
