// Package marian reads models of Marian: those of training runs, the releases of OPUS-MT and the
// models of Firefox. It writes models for Firefox and Bergamot's fork of Marian.
//
//	read.go        a folder, a file or an archive as a model file
//	settings.go    settings of the model and of the decoder
//	vocabulary.go  vocabularies
//	shortlist.go   lexical shortlists
//	preprocess.go  what releases of OPUS-MT do to text before SentencePiece
//	languages.go   the languages that a release or the names of files state
//	write.go       a model file as a folder
//	bin_write.go   files .bin
//	bin.go         the tensors of files .bin
//	npz.go         the tensors of NumPy's archives
package marian
