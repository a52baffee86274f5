// Package tokenizers reads tokenizers from files and trains them on files. It imports packages cli,
// format, model, safetensors, terminal and the text packages.
//
//	read.go           tokenizers of models, of `tfm vocab`, of sentencepiece and of subword-nmt
//	train.go          training of byte-level BPE; lines, progress and notes of any training
//	sentencepiece.go  training of unigram models of sentencepiece, and its flags
package tokenizers
