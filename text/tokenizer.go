package text

import (
	"encoding"
	"math/rand/v2"
)

// The ids that stand for no text, the same in every Tokenizer and every model. A tokenizer that is
// read from another system's file renumbers its pieces accordingly.
const (
	Pad int32 = 0
	BOS int32 = 1
	EOS int32 = 2
)

// Range is the bytes Start to End-1 of a text.
type Range struct{ Start, End int }

// Tokenizer turns text into the ids of a model's vocabulary and back. Implementations do not
// change once made and are safe for concurrent use.
//
// The ranges of EncodeRanges and DecodeRanges follow one rule. There is one range for each id,
// the first starts at 0, each starts where the one before it ends, and the last ends where the
// text ends. A range begins and ends between characters: a character that several ids encode
// together belongs to the last of them. An id without text of its own has an empty range. A byte
// that is not part of valid UTF-8 counts as a character.
type Tokenizer interface {
	// Size returns the number of ids, which are 0 to Size()-1.
	Size() int

	// Encode appends the ids of s to dst and returns it. It adds neither BOS nor EOS.
	Encode(dst []int32, s string) []int32

	// EncodeRanges is Encode, and appends to ranges the bytes of s that each id stands for, where
	// s is the text as it was given, before any normalisation.
	EncodeRanges(dst []int32, ranges []Range, s string) ([]int32, []Range)

	// Decode returns the text of ids. Pad, BOS, EOS and ids outside the vocabulary have no text.
	Decode(ids []int32) string

	// DecodeRanges is Decode, and appends to ranges the bytes of the returned text that each id
	// stands for.
	DecodeRanges(ranges []Range, ids []int32) (string, []Range)

	// Piece returns a printable form of an id.
	Piece(id int32) string

	// MarshalBinary returns the bytes of the tokenizer for a file. Their first bytes tell which
	// kind of tokenizer it is.
	encoding.BinaryMarshaler
}

// Sampler is implemented by tokenizers that can encode a text in several ways. Training on a
// different one each time makes a model robust (Kudo 2018, "Subword Regularization").
type Sampler interface {
	Tokenizer

	// EncodeSample is Encode, with a segmentation of s that is drawn from random. alpha is the
	// parameter of the method: of BPE-dropout the probability that a merge is dropped, of a
	// unigram model the power to which the segmentations' probabilities are raised. The ids depend
	// on s, alpha and the state of random alone. It panics on an alpha outside the method's range.
	// It is safe for concurrent use if random is not shared.
	EncodeSample(dst []int32, s string, alpha float64, random *rand.PCG) []int32
}
