package model

import (
	"math"
	"slices"
	"testing"

	"tfm/mat"
)

// Package decode imports model, so tests that need both are in package model_test, in
// decode_test.go. This file exports to them what the tests of package model use, and Translate
// gives package model's tests a decoder.

var Toy, NewToy, RandomBatch = toy, newModel, randomBatch

// EachVariant runs test for each variant of toy, with perturbed initial weights.
func EachVariant(t *testing.T, test func(*testing.T, *Transformer)) {
	eachVariant(t, toy, func(t *testing.T, c Config) { test(t, perturbed(t, c)) })
}

// Logits returns the logits [n × V] of a pass over whole sentences.
func Logits(m *Transformer, b *Batch) mat.Matrix {
	x := wholeBatch(m, nil, b, false).forward(b, dropouts{}, dropouts{})
	y := mat.New(x.Rows, m.Config.TgtVocab)
	m.Output.Logits(nil, y, x)
	return y
}

// Translation is the part of a decode.Hypothesis that tests compare.
type Translation struct {
	Tokens []int32
	Score  float64
}

// Translate calls decode.Decoder.Translate with default options; set in decode_test.go.
var Translate func(m *Transformer, p *mat.Pool, srcs [][]int32) []Translation

// bitsEqual reports whether a and b have equal bits; a NaN equals itself.
func bitsEqual(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(x, y float32) bool { return math.Float32bits(x) == math.Float32bits(y) })
}

// sources returns the ids of a batch's sources without EOS.
func sources(b *Batch) [][]int32 {
	var srcs [][]int32
	for i := range b.Sentences() {
		srcs = append(srcs, b.Src[b.SrcStarts[i]:b.SrcStarts[i+1]-1])
	}
	return srcs
}
