// Package convert reads the models of other systems as model files, and writes model files in their
// formats. A package for each system maps its names and settings to a model.Config, and its tokens
// to a tokenizer:
//
//	hf           transformers: MarianMTModel, M2M100ForConditionalGeneration
//	marian       Marian, OPUS-MT's releases, Firefox
//	ctranslate2  CTranslate2
//	argos        packages of Argos Translate
//	pytorch      torch.nn.Transformer, written only
//
// What they share is in internal/parts: the files of a model, named tensors, the layers by their
// names in a system, vocabularies. convert.go recognises a system and dispatches.
package convert
