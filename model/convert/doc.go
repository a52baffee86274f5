// Package convert reads the models of other systems as model files, and writes model files in their
// formats.
//
//	convert.go              the formats, recognised and dispatched
//	folder.go               the files of a source model
//	positions.go            recognises tables of sinusoids
//	vocabulary.go           the vocabularies of a source model as tokenizers
//	ctranslate2.go          models of CTranslate2, read
//	ctranslate2_write.go    models for CTranslate2
//	ctranslate2_binary.go   the file model.bin of CTranslate2
//	ctranslate2_extra.go    the settings of a model file in a folder of CTranslate2
//	argos.go                packages of Argos Translate, read
//	argos_write.go          packages for Argos Translate
//	archive.go              the files of a zip archive
//	marian.go               models of Marian, read
//	marian_hf.go            models of transformers' MarianMTModel, read
//	marian_hf_write.go      models for MarianMTModel
//	marian_generation.go    their settings of beam search
//	layers.go               the names of the layers of a system, which are read or written
//	marian_vocab.go         vocabularies with SentencePiece models of their own
//	npz.go                  the arrays of NumPy's archives
//	yaml.go                 the part of YAML that Marian writes
//	tensors.go              the tensors of a source model, with a check that a reader took all
//	pickle.go               recognises pickled files, which are not read
//	pytorch.go              models for torch.nn.Transformer; pytorch.py loads them
//	tokenizer_json.go       a byte-level BPE for Hugging Face's tokenizers
package convert
