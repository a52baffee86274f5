// Package convert reads the models of other systems as model files, and writes model files in their
// formats. A folder or an archive holds the files of a model, a container in it gives named
// tensors, a description of the system maps its names and settings to a model.Config, and one
// mapping of vocabularies turns its tokens into a tokenizer.
//
// The formats:
//
//	convert.go              recognises them and dispatches
//	ctranslate2.go          models of CTranslate2, read
//	ctranslate2_config.go   their settings
//	ctranslate2_vocab.go    their vocabularies
//	ctranslate2_write.go    models for CTranslate2
//	argos.go                packages of Argos Translate, read
//	marian.go               models of Marian, read
//	marian_settings.go      their settings
//	marian_vocab.go         their vocabularies
//	marian_bin.go           the tensors of their files .bin, those of Firefox's models
//	marian_shortlist.go     their lexical shortlists
//	marian_write.go         models for Firefox and Bergamot's fork of Marian
//	marian_bin_write.go     their files .bin
//	preprocess.go           what releases of OPUS-MT do to text before SentencePiece
//	marian_hf.go            models of transformers' MarianMTModel, read
//	marian_hf_config.go     their configuration and names
//	marian_hf_vocab.go      their vocabularies
//	marian_hf_write.go      models for MarianMTModel
//	marian_generation.go    their settings of beam search
//	m2m.go                  models of transformers' M2M100ForConditionalGeneration, NLLB-200, read
//	pytorch.go              models for torch.nn.Transformer; pytorch.py loads them
//
// What they share:
//
//	folder.go               the files of a model
//	archive.go              those in a zip archive
//	tensors.go              named tensors, with a check that a reader took all
//	hf_weights.go           those of a Hugging Face folder, safetensors or of PyTorch
//	npz.go                  those of NumPy's archives
//	ctranslate2_binary.go   those of CTranslate2's model.bin
//	assembly.go             what a reader finds of a model as a model file
//	layers.go               the layers by their names in a system, for reading and writing
//	rules.go                refuses settings that a side does not have
//	positions.go            recognises tables of sinusoids
//	vocabulary.go           the vocabularies of a model as tokenizers
//	pieces.go               those whose tokenizer is of SentencePiece
//	languages.go            the languages that tokens select
//	names.go                the names of a tokenizer's ids in other systems
//	tokenizer_json.go       a byte-level BPE for Hugging Face's tokenizers
//	tfm_extra.go            the settings of a model file that a format has no place for
package convert
