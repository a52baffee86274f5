// Package hf reads models of Hugging Face's transformers, MarianMTModel such as OPUS-MT, and
// M2M100ForConditionalGeneration such as NLLB-200, and writes the former.
//
//	m2m.go         a folder of M2M100ForConditionalGeneration as a model file
//	marian.go      a folder of MarianMTModel as a model file
//	vocabulary.go  its vocabularies
//	write.go       a model file as a folder of MarianMTModel
//	config.go      configuration and names
//	generation.go  settings of beam search
//	weights.go     the tensors of safetensors or of PyTorch
package hf
