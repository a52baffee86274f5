// Package layout tests the tree as a whole: which package may import which, that each doc.go names
// the files of its package, that the READMEs show the tested examples, are short, and link to
// files that exist, the widths of comments and help texts, and that mat has the licence. It has no
// code outside of tests and imports only the standard library.
package layout
