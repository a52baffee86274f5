package subword

import (
	"encoding/binary"
	"fmt"
	"unicode/utf8"

	"tfm/text/tokenizer/internal/varint"
	"tfm/text/tokenizer/moses"
)

// Magic begins an encoded Tokenizer. The format version follows in one byte.
const Magic = "tfm-subword"

// The format versions: of tokenizers for words, and for raw text. They also cover the rules for
// words, because the ids of a text depend on them.
const (
	wordsVersion = 1
	rawVersion   = 2
)

const (
	normalizes   = 1  // settings of a chain in a file: it begins with Moses' normalizer
	codesVersion = 2  // of the codes: 0.2
	maxLanguage  = 64 // limit in bytes of a language
)

// MarshalBinary encodes the tokenizer: the magic, the format version, for raw text the language of
// its chain and 1, then 2 and 0, then the merges and the vocabulary, each as its
// length and its strings. A string is its length and bytes; a piece is followed by its count.
// Numbers are unsigned varints. The error is always nil.
func (t *Tokenizer) MarshalBinary() ([]byte, error) {
	c := t.codes
	data := append([]byte(Magic), wordsVersion)
	appendString := func(s string) {
		data = binary.AppendUvarint(data, uint64(len(s)))
		data = append(data, s...)
	}
	if t.chain != nil {
		data[len(Magic)] = rawVersion
		appendString(t.chain.Language())
		data = append(data, normalizes)
	}
	data = append(data, codesVersion, 0) // no glossaries of subword-nmt, which are not supported
	data = binary.AppendUvarint(data, uint64(len(c.lines)))
	for _, m := range c.lines {
		appendString(m[0])
		appendString(m[1])
	}
	data = binary.AppendUvarint(data, uint64(len(t.vocabulary.entries)))
	for _, x := range t.vocabulary.entries {
		appendString(x.Piece)
		data = binary.AppendUvarint(data, uint64(x.Count))
	}
	return data, nil
}

// Unmarshal decodes a tokenizer from the output of MarshalBinary. Untrusted data is safe: Unmarshal
// rejects anything that MarshalBinary cannot produce, and allocates at most 200 bytes for each byte
// of data.
func Unmarshal(data []byte) (*Tokenizer, error) {
	d := varint.New(data, Magic, rawVersion)
	var chain *moses.Chain
	if d.Version == rawVersion {
		language, settings := d.String(), d.Number()
		if settings != normalizes || len(language) > maxLanguage || !utf8.ValidString(language) {
			return nil, fmt.Errorf("found language %.80q and settings %d of Moses' rules, expected up to %d bytes and %d; import the model again",
				language, settings, maxLanguage, normalizes)
		}
		chain = moses.NewChain(language)
	}
	if version, glossaries := d.Number(), d.Number(); d.Err == nil && (version != codesVersion || glossaries > 0) {
		return nil, fmt.Errorf("found codes of version %d and %d glossaries, expected %d and none", version, glossaries, codesVersion)
	}
	var merges [][2]string
	for range count(d) {
		merges = append(merges, [2]string{d.String(), d.String()})
	}
	var entries []Entry
	for range count(d) {
		entries = append(entries, Entry{d.String(), int64(d.Number())})
	}
	switch {
	case d.Err != nil:
		return nil, d.Err
	case len(d.Data) > 0:
		return nil, fmt.Errorf("found %d bytes after the vocabulary, expected the end", len(d.Data))
	}
	c, err := NewCodes(merges)
	if err != nil {
		return nil, err
	}
	v, err := NewVocabulary(entries)
	if err != nil {
		return nil, err
	}
	return NewRaw(c, v, chain), nil
}

// count decodes the number of strings that follow, at most one for each byte.
func count(d *varint.Decoder) int {
	n := d.Number()
	if n > uint64(len(d.Data)) { // a string has at least a byte for its length
		d.Err, d.Data = fmt.Errorf("found %d strings, %d bytes follow", n, len(d.Data)), nil
		return 0
	}
	return int(n)
}
