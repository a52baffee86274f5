package parts

import (
	"cmp"
	"fmt"

	"tfm/text"
	"tfm/text/tokenizer/bpe"
	"tfm/text/tokenizer/sentencepiece"
	"tfm/text/tokenizer/subword"
	"tfm/text/tokenizer/vocab"
)

// IDNames are the names of the ids of a tokenizer in the vocabularies of other systems, distinct,
// and that of unknown text.
type IDNames struct {
	Names   []string
	Unknown string
}

// Special returns the names of Pad, BOS, EOS and unknown text.
func (v IDNames) Special() []string {
	return []string{v.Names[text.Pad], v.Names[text.BOS], v.Names[text.EOS], v.Unknown}
}

// NamesOfSides returns the names of the ids of both tokenizers, see NamesOf.
func NamesOfSides(t vocab.Tokenizers) (src, tgt IDNames, err error) {
	if src, err = NamesOf(t.Source); err != nil {
		return src, tgt, fmt.Errorf("source tokenizer: %w", err)
	}
	if tgt, err = NamesOf(t.Target); err != nil {
		return src, tgt, fmt.Errorf("target tokenizer: %w", err)
	}
	return src, tgt, nil
}

// NamesOf returns the names of the ids of t. A special id without a piece has the usual name. Those
// of a byte-level BPE are bytes as characters in the alphabet of GPT-2 (Radford et al. 2019), where
// a space is Ġ. The error names two pieces of the same name.
func NamesOf(t text.Tokenizer) (v IDNames, err error) {
	hint, distinct := "", "_" // after a special name that a piece has
	switch t := t.(type) {
	case *bpe.Tokenizer:
		hint = ": use a tokenizer of 'tfm vocab -model-type bpe' or 'unigram'"
		distinct = "▁" // outside the alphabet
		v.Names = make([]string, t.Size())
		for id := bpeSpecials; id < len(v.Names); id++ {
			for _, c := range []byte(t.Bytes(int32(id))) {
				v.Names[id] += string(byteAlphabet[c])
			}
		}
	case *sentencepiece.Tokenizer:
		if n := len(t.Model().Normalizer.Rewrites); n > 0 {
			return v, fmt.Errorf("found %d rules for text before SentencePiece, those of a preprocess.sh, which other systems do not have", n)
		}
		for id := range int32(t.Size()) {
			token := ""
			if file := t.FileID(id); file >= 0 {
				p := t.Model().Pieces[file]
				if token = p.Text; p.Type == sentencepiece.Unknown {
					v.Unknown = token
				}
			}
			v.Names = append(v.Names, token)
		}
	case *subword.Tokenizer:
		const unknown = text.EOS + 1
		for id := range int32(t.Size()) {
			v.Names = append(v.Names, t.Piece(id))
		}
		v.Unknown = v.Names[unknown]
	default:
		return v, fmt.Errorf("found a tokenizer of type %T, which other systems do not have", t)
	}
	index := map[string]int{}
	for id, token := range v.Names {
		if token == "" {
			continue
		}
		if first, ok := index[token]; ok {
			return v, fmt.Errorf("pieces %d and %d are both %q, which other systems cannot distinguish%s", first, id, t.Piece(int32(id)), hint)
		}
		index[token] = id
	}
	for id, name := range [...]string{text.Pad: "<pad>", text.BOS: "<s>", text.EOS: "</s>"} {
		if v.Names[id] != "" {
			continue
		}
		for _, found := index[name]; found; _, found = index[name] {
			name += distinct
		}
		v.Names[id] = name
	}
	v.Unknown = cmp.Or(v.Unknown, v.Names[text.Pad]) // a byte-level BPE knows every text
	return v, nil
}

// bpeSpecials is the number of ids of a bpe.Tokenizer before its bytes.
const bpeSpecials = bpe.MinSize - 256

// byteAlphabet is GPT-2's printable character of each byte: the same character for the visible ones
// of Latin-1, and those from U+0100 for the others, in their order.
var byteAlphabet = func() (alphabet [256]rune) {
	next := rune(0x100)
	for c := range rune(256) {
		if c > ' ' && c <= '~' || c >= 0xA1 && c != 0xAD {
			alphabet[c] = c
		} else {
			alphabet[c] = next
			next++
		}
	}
	return alphabet
}()

// IDsOf returns the index of each name.
func IDsOf(names []string) map[string]int {
	ids := make(map[string]int, len(names))
	for id, name := range names {
		ids[name] = id
	}
	return ids
}
