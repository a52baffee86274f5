package model

import (
	"math"
	"slices"
	"testing"

	"tfm/mat"
)

// Package decode imports this one, so tests that need both are in package model_test, in
// decode_test.go. Here is what they share with the tests of this package.

var Toy, NewToy, RandomBatch = toy, newModel, randomBatch

// EachVariant runs a test with a model, away from its start, of every variant of the toy.
func EachVariant(t *testing.T, test func(*testing.T, *Transformer)) {
	eachVariant(t, toy, func(t *testing.T, c Config) { test(t, agitated(t, c)) })
}

// Logits are those [n × V] of the pass over whole sentences.
func Logits(m *Transformer, b *Batch) mat.Matrix {
	pass := NewPass(m, nil)
	allocAll(pass, b, false)
	x := pass.forward(b, dropouts{}, dropouts{})
	y := mat.New(x.Rows, m.Config.TgtVocab)
	m.Output.Logits(nil, y, x)
	return y
}

// Translation is a decode.Hypothesis.
type Translation struct {
	Tokens []int32
	Score  float64
}

// Translate is set to decode's best translations with its default options.
var Translate func(m *Transformer, p *mat.Pool, srcs [][]int32) []Translation

type decoder struct {
	m *Transformer
	p *mat.Pool
}

func NewDecoder(m *Transformer, p *mat.Pool) decoder { return decoder{m, p} }

func DefaultSearch() struct{} { return struct{}{} }

func (d decoder) Translate(srcs [][]int32, _ struct{}) []Translation {
	return Translate(d.m, d.p, srcs)
}

// bitsEqual holds for NaN too.
func bitsEqual(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(x, y float32) bool { return math.Float32bits(x) == math.Float32bits(y) })
}

// sources has the ids of a batch's sources without their end marks.
func sources(b *Batch) [][]int32 {
	var srcs [][]int32
	for i := range b.Sentences() {
		srcs = append(srcs, b.Src[b.SrcStarts[i]:b.SrcStarts[i+1]-1])
	}
	return srcs
}
