package model

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"testing"

	"tfm/mat"
)

// Ten steps of training and the translations after them have the same bits on every machine whose
// kernels are in assembly, so their checksums can stand here. A change of these numbers is a change
// of the promise: it makes old runs impossible to repeat.
func TestSameBitsOnEveryMachine(t *testing.T) {
	if mat.Kernel() == "generic" {
		t.Skip("portable kernels: exact to a tolerance only")
	}
	c := toy()
	c.DModel, c.DFF, c.Dropout = 48, 80, 0.3 // not multiples of every register width
	m := newModel(t, c)
	p := mat.NewPool(2)
	defer p.Close()
	pass := NewPass(m, p)
	first, second := make([]float32, m.Params.Count()), make([]float32, m.Params.Count())
	bits := crc32.NewIEEE()
	for i := range 10 {
		clear(m.Params.G)
		b := randomBatch(c, 20, 0, uint64(i))
		loss := pass.Train(b, uint64(i), 1/float32(len(b.TgtOut)))
		binary.Write(bits, binary.LittleEndian, loss.Sum)
		step := mat.Adam{Beta1: 0.9, Beta2: 0.98, Eps: 1e-9, StepSize: 1e-2, VScale: 10, GradScale: 0.5}
		step.Step(m.Params.W, m.Params.G, first, second)
	}
	for _, w := range m.Params.W {
		binary.Write(bits, binary.LittleEndian, math.Float32bits(w))
	}
	if got, want := bits.Sum32(), uint32(0xcd74c487); got != want {
		t.Errorf("ten steps of training: checksum %#08x, want %#08x", got, want)
	}
	bits.Reset()
	for _, h := range Translate(m, p, sources(randomBatch(c, 30, 0, 3))) {
		binary.Write(bits, binary.LittleEndian, h.Tokens)
		binary.Write(bits, binary.LittleEndian, h.Score)
	}
	if got, want := bits.Sum32(), uint32(0x0f6138dd); got != want {
		t.Errorf("translations: checksum %#08x, want %#08x", got, want)
	}
}
