package text

import (
	"encoding"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The special ids, equal in all tokenizers and models. A tokenizer that is read from another
// system's file renumbers its pieces accordingly.
const (
	Pad int32 = 0
	BOS int32 = 1
	EOS int32 = 2
)

// Range is the bytes Start to End-1 of a text.
type Range struct{ Start, End int }

// Tokenizer turns text into the ids of a vocabulary and back. Implementations are immutable and
// safe for concurrent use.
//
// EncodeRanges and DecodeRanges return one range of the text for each id. The ranges are adjacent
// and cover the text. They begin and end between characters: a character that several ids encode
// is in the range of the last of them. An id without text has an empty range. A byte that is not
// part of valid UTF-8 counts as a character.
type Tokenizer interface {
	// Size returns the size of the vocabulary. Its ids are 0 to Size()-1.
	Size() int

	// Encode appends the ids of s to dst, without BOS and EOS, and returns the extended slice.
	Encode(dst []int32, s string) []int32

	// EncodeRanges is like Encode and also appends the range of s of each id to ranges. Offsets
	// are those of s before any normalization.
	EncodeRanges(dst []int32, ranges []Range, s string) ([]int32, []Range)

	// Decode returns the text of ids. Special ids and ids outside the vocabulary have no text.
	Decode(ids []int32) string

	// DecodeRanges is like Decode and also appends the range of the returned text of each id to
	// ranges.
	DecodeRanges(ranges []Range, ids []int32) (string, []Range)

	// Bytes returns the text that an id contributes to Decode: the text of ids is that of each,
	// one after another, without a space at its start that Encode adds. Special ids and ids
	// outside the vocabulary have none. It may be a part of a character.
	Bytes(id int32) string

	// Piece returns the piece of an id in printable form.
	Piece(id int32) string

	// MarshalBinary encodes the tokenizer for a file. The encoding begins with bytes that
	// identify the kind of tokenizer.
	encoding.BinaryMarshaler
}

// PartialDecoder is a Tokenizer for which the text of some ids may differ when more follow.
type PartialDecoder interface {
	Tokenizer

	// DecodeBegin returns text that Decode of ids and any further ids begins with.
	DecodeBegin(ids []int32) string
}

// SpecialPiece returns the piece of Pad, BOS or EOS, which text does not have.
func SpecialPiece(id int32) string { return [...]string{Pad: "<pad>", BOS: "<s>", EOS: "</s>"}[id] }

// PrintablePiece returns a piece with its bytes that make no printable character as <0xE4>.
func PrintablePiece(piece string) string {
	var s strings.Builder
	for piece != "" {
		r, size := utf8.DecodeRuneInString(piece)
		if r == utf8.RuneError && size == 1 || !unicode.IsGraphic(r) {
			for _, c := range []byte(piece[:size]) {
				fmt.Fprintf(&s, "<0x%02X>", c)
			}
		} else {
			s.WriteString(piece[:size])
		}
		piece = piece[size:]
	}
	return s.String()
}
