// Package translator opens models for the commands that translate, and reads their input.
//
//	model.go      the model and its flags
//	lines.go      the lines of files and of standard input
//	documents.go  documents: flags, files, and the progress
//	warnings.go   warnings about lines and their translations
package translator
