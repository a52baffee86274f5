package charsmap

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"io"
)

// Names are the names of Named.
var Names = []string{"nmt_nfkc", "identity"}

// Named returns the encoded map of a normalization of spm_train: nmt_nfkc, which is Unicode's NFKC
// with control characters removed, more kinds of white space and ～ kept, or identity, which is
// empty. It panics on other names.
//
// nmt_nfkc is that of Unicode 17.0.0, made by ../../testdata/rules.py. As in sentencepiece, a
// character after the longest match of a rule is not composed with it, so that a text can differ
// from its NFKC.
func Named(name string) []byte {
	switch name {
	case "nmt_nfkc":
	case "identity":
		return nil
	default:
		panic("charsmap: unknown normalization " + name)
	}
	unzip, err := gzip.NewReader(bytes.NewReader(nmtNFKC))
	if err != nil {
		panic("charsmap: " + err.Error()) // the embedded data is valid
	}
	data, err := io.ReadAll(unzip)
	if err != nil {
		panic("charsmap: " + err.Error())
	}
	return data
}

//go:embed nmt_nfkc.gz
var nmtNFKC []byte
