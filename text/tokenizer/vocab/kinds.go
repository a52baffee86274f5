package vocab

import (
	"bytes"
	"fmt"

	"tfm/text"
	"tfm/text/tokenizer/bpe"
	"tfm/text/tokenizer/sentencepiece"
	"tfm/text/tokenizer/subword"
)

// kinds are the kinds of tokenizers. At most one of them accepts the first bytes of a file.
var kinds = []struct {
	name      string
	accepts   func(start []byte) bool
	unmarshal func(data []byte) (text.Tokenizer, error)
}{
	{"byte-level BPE", hasMagic(bpe.Magic), unmarshal(bpe.Unmarshal)},
	{"sentencepiece", sentencepiece.IsModel, unmarshal(sentencepiece.Unmarshal)},
	{"subword-nmt", hasMagic(subword.Magic), unmarshal(subword.Unmarshal)},
}

// hasMagic returns a function that reports whether data begins with magic.
func hasMagic(magic string) func([]byte) bool {
	return func(data []byte) bool { return bytes.HasPrefix(data, []byte(magic)) }
}

// unmarshal adapts the Unmarshal function of one kind to the interface type.
func unmarshal[T text.Tokenizer](f func([]byte) (T, error)) func([]byte) (text.Tokenizer, error) {
	return func(data []byte) (text.Tokenizer, error) {
		t, err := f(data)
		if err != nil {
			return nil, err // a nil T in the interface would not be nil
		}
		return t, nil
	}
}

// SniffLen is the number of bytes that IsTokenizer needs.
const SniffLen = 16

// IsTokenizer reports whether a file can be a tokenizer, from its first SniffLen bytes, or all of a
// shorter one.
func IsTokenizer(start []byte) bool {
	for _, k := range kinds {
		if k.accepts(start) {
			return true
		}
	}
	return false
}

// Unmarshal decodes a tokenizer of any kind from the output of MarshalBinary. Untrusted data is
// safe.
func Unmarshal(data []byte) (text.Tokenizer, error) {
	for _, k := range kinds {
		if k.accepts(data) {
			t, err := k.unmarshal(data)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", k.name, err)
			}
			return t, nil
		}
	}
	return nil, fmt.Errorf("unknown kind of tokenizer: %d bytes that begin with %q", len(data), data[:min(len(data), SniffLen)])
}

// Remap returns the ids of old for each id of t, so that weights learned with old can be carried
// over to t: the id of the same piece in old, or if old lacks it, the ids into which old splits it.
// It fails if the tokenizers are of different kinds.
func Remap(t, old text.Tokenizer) ([][]int32, error) {
	switch t := t.(type) {
	case *bpe.Tokenizer:
		if old, ok := old.(*bpe.Tokenizer); ok {
			return t.Remap(old), nil
		}
	case *sentencepiece.Tokenizer:
		if old, ok := old.(*sentencepiece.Tokenizer); ok {
			return t.Remap(old), nil
		}
	case *subword.Tokenizer:
		if old, ok := old.(*subword.Tokenizer); ok {
			return t.Remap(old), nil
		}
	}
	return nil, fmt.Errorf("tokenizers of different kinds: %T and %T", t, old)
}

// Trim returns the tokenizer of t's kind without most of the pieces that are not used: used[id]
// tells whether the piece of an id of t is used. A text whose pieces are all used keeps them.
func Trim(t text.Tokenizer, used []bool) (text.Tokenizer, error) {
	switch t := t.(type) {
	case *bpe.Tokenizer:
		return t.Trim(used)
	case *sentencepiece.Tokenizer:
		return t.Trim(used)
	case *subword.Tokenizer:
		return t.Trim(used)
	}
	return nil, fmt.Errorf("%T cannot be trimmed", t)
}

// CanLearn reports whether t are of the kind that a Trainer learns. nil is.
func CanLearn(t *Tokenizers) bool {
	if t == nil {
		return true
	}
	_, src := t.Source.(*bpe.Tokenizer)
	_, tgt := t.Target.(*bpe.Tokenizer)
	return src && tgt
}

// Renumber returns the ids of t for those of old that have the same piece, where remap is Remap of
// the two.
func Renumber(remap [][]int32) map[int32]int32 {
	ids := map[int32]int32{}
	for id, was := range remap {
		if len(was) == 1 {
			if _, ok := ids[was[0]]; !ok {
				ids[was[0]] = int32(id)
			}
		}
	}
	return ids
}
