// Package documents translates the documents that a command line names.
//
//	documents.go  flags, files, and the progress
package documents
