// Package parts has what readers and writers of other systems' models share. A folder or an archive
// holds the files of a model, a container in it gives named tensors, a table of names maps them to
// layers, and one mapping of vocabularies turns tokens into a tokenizer.
//
//	assembly.go        what a reader finds of a model as a model file
//	layers.go          the layers by their names in a system, for reading and writing
//	tensors.go         named tensors, with a check that a reader took all
//	languages.go       the languages that tokens select
//	pieces.go          vocabularies of a model as tokenizers, with those of SentencePiece
//	vocabulary.go      vocabularies of a model
//	folder.go          the files of a model
//	archive.go         those in a zip archive
//	tokenizer_json.go  a byte-level BPE for Hugging Face's tokenizers
//	names.go           the names of a tokenizer's ids in other systems
//	rules.go           refuses settings that a side does not have
package parts
