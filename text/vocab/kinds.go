package vocab

import (
	"bytes"
	"fmt"

	"tfm/text"
	"tfm/text/bpe"
)

// kinds lists the kinds of tokenizer that a file can hold. The bytes of each begin differently.
var kinds = []struct {
	name      string
	begins    func(data []byte) bool
	unmarshal func(data []byte) (text.Tokenizer, error)
}{
	{"byte-level BPE", prefix(bpe.Magic), unmarshal(bpe.Unmarshal)},
}

func prefix(magic string) func([]byte) bool {
	return func(data []byte) bool { return bytes.HasPrefix(data, []byte(magic)) }
}

// unmarshal gives the function of one kind the type that all share.
func unmarshal[T text.Tokenizer](f func([]byte) (T, error)) func([]byte) (text.Tokenizer, error) {
	return func(data []byte) (text.Tokenizer, error) {
		t, err := f(data)
		if err != nil {
			return nil, err // not a T without value, which would not be nil
		}
		return t, nil
	}
}

// SniffLen is the number of bytes that IsTokenizer needs.
const SniffLen = 16

// IsTokenizer reports whether a file that begins with start, its first SniffLen bytes or all of
// it, can be a tokenizer.
func IsTokenizer(start []byte) bool {
	for _, k := range kinds {
		if k.begins(start) {
			return true
		}
	}
	return false
}

// Unmarshal returns the tokenizer of any kind that its MarshalBinary wrote, recognised by how
// data begins. Data from anywhere is safe.
func Unmarshal(data []byte) (text.Tokenizer, error) {
	for _, k := range kinds {
		if k.begins(data) {
			t, err := k.unmarshal(data)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", k.name, err)
			}
			return t, nil
		}
	}
	return nil, fmt.Errorf("no known kind of tokenizer: %d bytes that begin with %q", len(data), data[:min(len(data), SniffLen)])
}

// Remap returns what each id of t was in old, so that what a model learned with old can be carried
// over to t: the one id of the same piece if old has it, else the pieces into which old splits
// it. Tokenizers of different kinds are an error.
func Remap(t, old text.Tokenizer) ([][]int32, error) {
	if t, ok := t.(*bpe.Tokenizer); ok {
		if old, ok := old.(*bpe.Tokenizer); ok {
			return t.Remap(old), nil
		}
	}
	return nil, fmt.Errorf("tokenizers of different kinds: %T and %T", t, old)
}
