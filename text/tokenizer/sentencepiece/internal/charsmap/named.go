package charsmap

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/binary"
	"io"
	"strings"
)

// Names are the names of Named.
var Names = []string{"nmt_nfkc", "nmt_nfkc_cf", "nfkc", "nfkc_cf", "identity"}

// Named returns the encoded map of a normalization of spm_train:
//
//   - nmt_nfkc: Unicode's NFKC, control characters removed, more kinds of white space, ～ kept
//   - nmt_nfkc_cf: nmt_nfkc and simple case folding
//   - nfkc, nfkc_cf: the same without the changes of nmt
//   - identity: an empty map
//
// It panics on other names. The maps are those of Unicode 17.0.0, made by
// ../../testdata/rules.py. As in sentencepiece, a character after the longest match of a rule is
// not composed with it, so that a text can differ from its NFKC.
func Named(name string) []byte {
	caseFolding, nmt := false, false
	switch name {
	case "nmt_nfkc":
		nmt = true
	case "nmt_nfkc_cf":
		nmt, caseFolding = true, true
	case "nfkc":
	case "nfkc_cf":
		caseFolding = true
	case "identity":
		return nil
	default:
		panic("charsmap: unknown normalization " + name)
	}
	unzip, err := gzip.NewReader(bytes.NewReader(normalizations))
	if err != nil {
		panic("charsmap: " + err.Error()) // the embedded data is valid
	}
	data, err := io.ReadAll(unzip)
	if err != nil {
		panic("charsmap: " + err.Error())
	}
	return assemble(data, caseFolding, nmt)
}

// normalizations are the compressed maps.
//
//go:embed normalizations.gz
var normalizations []byte

// Encoding of the four maps. The maps with and without nmt differ in few rules. They share a trie,
// whose values are indices of rules, and have lists of replacements. A rule of one map that the
// other lacks replaces a character by itself there.
//
//	for the maps without and with case folding:
//	    size uint32, bytes 0 of all nodes of the trie, bytes 1, 2, 3
//	    size uint32, replacements without nmt, each followed by a NUL
//	    size uint32, replacements with nmt, sameReplacement if they are the same as without

const sameReplacement = "\x01"

// assemble returns a map from the encoding.
func assemble(data []byte, caseFolding, nmt bool) []byte {
	next := func() []byte {
		size := binary.LittleEndian.Uint32(data)
		field := data[4 : 4+size]
		data = data[4+size:]
		return field
	}
	if caseFolding {
		next()
		next()
		next()
	}
	trie, plain := next(), strings.Split(string(next()), "\x00")
	if nmt {
		for i, text := range strings.Split(string(next()), "\x00") {
			if text != sameReplacement {
				plain[i] = text
			}
		}
	}
	var texts strings.Builder
	offsets := make([]uint32, len(plain))
	for i, text := range plain[:len(plain)-1] {
		offsets[i] = uint32(texts.Len())
		texts.WriteString(text + "\x00")
	}
	out := binary.LittleEndian.AppendUint32(nil, uint32(len(trie)))
	nodes := len(trie) / 4
	for i := range nodes {
		var node uint32
		for b := 3; b >= 0; b-- {
			node = node<<8 | uint32(trie[b*nodes+i])
		}
		if node&valueBit != 0 {
			node = valueBit | offsets[node&^valueBit]
		}
		out = binary.LittleEndian.AppendUint32(out, node)
	}
	return append(out, texts.String()...)
}
