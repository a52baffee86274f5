package train

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strings"

	"tfm/text/sentencepiece"
	"tfm/text/sentencepiece/internal/charsmap"
)

// normalizationNames are the normalizations of NamedNormalizer.
var normalizationNames = []string{"nmt_nfkc", "nmt_nfkc_cf", "nfkc", "nfkc_cf", "identity"}

// NamedNormalizer returns the settings of a normalization of spm_train:
//
//   - nmt_nfkc: Unicode's NFKC, control characters removed, more kinds of white space, ～ kept
//   - nmt_nfkc_cf: nmt_nfkc and simple case folding
//   - nfkc, nfkc_cf: the same without the changes of nmt
//   - identity: only white space is normalized
//
// The maps are those of Unicode 17.0.0, made by ../testdata/rules.py. As in sentencepiece, a
// character after the longest match of a rule is not composed with it, so that a text can differ
// from its NFKC.
func NamedNormalizer(name string) (sentencepiece.NormalizerSpec, error) {
	spec := sentencepiece.NewNormalizerSpec()
	spec.Name = name
	if name == "identity" {
		return spec, nil
	}
	if !slices.Contains(normalizationNames, name) {
		return spec, fmt.Errorf("unknown normalization %q, expected %s", name, strings.Join(normalizationNames, ", "))
	}
	unzip, err := gzip.NewReader(bytes.NewReader(normalizations))
	if err == nil {
		var data []byte
		if data, err = io.ReadAll(unzip); err == nil {
			spec.PrecompiledCharsmap = namedCharsmap(data, strings.HasSuffix(name, "_cf"), strings.HasPrefix(name, "nmt_"))
		}
	}
	if err != nil {
		panic("train: " + err.Error()) // the embedded data is valid
	}
	return spec, nil
}

// normalizations are the compressed maps, as marshalNormalizations encodes them.
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

// namedCharsmap returns a map from the encoding.
func namedCharsmap(data []byte, caseFolding, nmt bool) []byte {
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
	nodes := make([]uint32, len(trie)/4)
	for i := range nodes {
		for b := 3; b >= 0; b-- {
			nodes[i] = nodes[i]<<8 | uint32(trie[b*len(nodes)+i])
		}
		if nodes[i]&charsmap.ValueBit != 0 {
			nodes[i] = charsmap.ValueBit | offsets[nodes[i]&^charsmap.ValueBit]
		}
	}
	return charsmap.Marshal(nodes, texts.String())
}
