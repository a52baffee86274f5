// Package subword reads and applies the byte-pair encodings of subword-nmt (Sennrich, Haddow and
// Birch 2016, "Neural Machine Translation of Rare Words with Subword Units"): a file of codes and a
// file of the vocabulary. It imports text packages and the standard library.
//
//	codes.go       the file of codes
//	merge.go       the merges of one word
//	vocabulary.go  the file of the vocabulary
//	tokenizer.go   codes and a vocabulary as a text.Tokenizer
//	trim.go        a tokenizer without the pieces that are not used
//	file.go        the tokenizer as bytes, for the model file
//
// Text is a line of words with single spaces between them, as other tools have tokenized it, or raw
// text that package moses tokenizes. Other white space is part of a word.
//
// # Terms
//
//   - word: a run of characters other than spaces
//   - symbol: a string of characters while merges are applied to a word; at first each character is
//     one, and the last also has the end of the word, </w>
//   - merge: a rule that replaces two adjacent symbols by one
//   - codes: the merges, in the order of their application
//   - segment: a part of a word to which no merge applies
//   - joint: @@ at the end of a segment that is not the last of its word
//   - piece: a segment with its joint, an entry of the vocabulary
package subword
