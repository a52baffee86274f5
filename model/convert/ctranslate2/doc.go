// Package ctranslate2 reads and writes models of CTranslate2.
//
//	read.go        a folder as a model file
//	config.go      its settings
//	positions.go   recognises tables of sinusoids
//	vocabulary.go  its vocabularies and tokenizers
//	write.go       a model file as a folder
//	binary.go      model.bin: the container of tensors
package ctranslate2
