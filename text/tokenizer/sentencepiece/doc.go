// Package sentencepiece reads, writes and applies the .model files of SentencePiece (Kudo and
// Richardson 2018, "SentencePiece: A simple and language independent subword tokenizer"). Its ids
// equal those of spm_encode. Package train makes such models. It imports text packages, its package
// of character maps and the standard library.
//
//	model.go       the contents of a .model file
//	proto.go       the protobuf encoding of the file
//	tokenizer.go   text to ids, with ranges of the text
//	normalizer.go  replaces characters by the file's own map and writes spaces as ▁
//	unigram.go     the most probable segmentation of a unigram model
//	bpe.go         byte-pair encoding
//	words.go       a piece for each word, or for each character
//	cache.go       encoding word by word
//	decode.go      ids to text
//	remap.go       the pieces of one tokenizer as pieces of another
//	trim.go        a tokenizer without the pieces that are not used
//	trie.go        the strings that a text begins with
//
// # Terms
//
//   - normalization: replaces characters by the file's map, trims white space, writes spaces as ▁
//   - ▁: U+2581, a space in normalized text
//   - word: ▁ and the characters up to the next ▁, or in some models the characters up to ▁
//   - type: whether a piece is matched in text (normal, user-defined), is not (control, unused), or
//     is an id for text without a piece (unknown, byte)
//   - byte fallback: encodes a character without a piece as the pieces of its UTF-8 bytes
//   - dummy prefix: ▁ before the first word of a text
//   - file id: the index of a piece in the file, spm_encode's id
//   - segmentation: a split of a text into pieces
//   - score: the log probability of a piece in a unigram model; in BPE the rank of its merge
//   - symbol: a character or a piece of a text while BPE merges are applied to it
package sentencepiece
