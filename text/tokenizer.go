package text

import "encoding"

// The ids that stand for no text, the same in every Tokenizer and every model.
const (
	Pad int32 = 0
	BOS int32 = 1
	EOS int32 = 2
)

// Tokenizer turns text into the ids of a model's vocabulary and back. Implementations do not
// change once made and are safe for concurrent use.
type Tokenizer interface {
	// Size returns the number of ids, which are 0 to Size()-1.
	Size() int

	// Encode appends the ids of s to dst and returns it. It adds neither BOS nor EOS.
	Encode(dst []int32, s string) []int32

	// Decode returns the text of ids. Pad, BOS, EOS and ids outside the vocabulary have no text.
	Decode(ids []int32) string

	// Piece returns a printable form of an id.
	Piece(id int32) string

	// MarshalBinary returns the bytes of the tokenizer for a file. Their first bytes tell which
	// kind of tokenizer it is.
	encoding.BinaryMarshaler
}
