package marian

import (
	"encoding/binary"
	"math"
	"strings"

	"tfm/model/decode"
	"tfm/model/safetensors"
)

// binAlign is the alignment of the items of a file .bin.
const binAlign = 256

// encodeBin returns a model in Marian's .bin with matrices in intgemm8, see readBin. Matrices are
// the tensors of two dimensions that are not vectors [1 × n].
func encodeBin(tensors []safetensors.Tensor, settings []byte) []byte {
	var headers, names, shapes, data []byte
	add := func(name string, kind int, shape []int, item []byte) {
		for _, n := range []int{len(name) + 1, kind, len(shape), len(item)} {
			headers = binary.LittleEndian.AppendUint64(headers, uint64(n))
		}
		names = append(append(names, name...), 0)
		for _, n := range shape {
			shapes = binary.LittleEndian.AppendUint32(shapes, uint32(n))
		}
		data = append(data, item...)
	}
	for _, t := range tensors {
		kind, item := binFloat32, t.Data
		if t.Shape[0] > 1 {
			kind, item = binIntgemm8, intgemm8(t)
		}
		add(t.Name, kind, t.Shape, padded(item))
	}
	add(configName, binInt8, []int{len(settings)}, settings)
	file := binary.LittleEndian.AppendUint64(nil, binModel)
	file = binary.LittleEndian.AppendUint64(file, uint64(len(tensors)+1))
	file = append(append(append(file, headers...), names...), shapes...)
	pad := binAlign - (len(file)+8)%binAlign
	file = binary.LittleEndian.AppendUint64(file, uint64(pad))
	return append(append(file, make([]byte, pad)...), data...)
}

// padded appends zeros to data up to binAlign.
func padded(data []byte) []byte {
	return append(data[:len(data):len(data)], make([]byte, (binAlign-len(data)%binAlign)%binAlign)...)
}

// intgemm8 rounds a matrix with one factor, 127 divided by the largest magnitude, which it appends.
// The bytes of matrices except embeddings are those of the transpose.
func intgemm8(t safetensors.Tensor) []byte {
	rows, cols := t.Shape[0], t.Shape[1]
	x := make([]float32, rows*cols)
	t.Float32s(x)
	top := float32(0)
	for _, v := range x {
		top = max(top, float32(math.Abs(float64(v))))
	}
	if top == 0 {
		top = 1
	}
	m := 127 / top
	q := make([]byte, len(x), len(x)+4)
	for i, v := range x {
		to := i
		if !strings.Contains(t.Name, "Wemb") {
			to = i%cols*rows + i/cols
		}
		q[to] = byte(int8(math.RoundToEven(float64(v * m))))
	}
	return binary.LittleEndian.AppendUint32(q, math.Float32bits(m))
}

// encodeBinaryShortlist returns s in Marian's binary form, see parseBinaryShortlist. The pieces of
// all lists are in that of EOS, which is part of every source.
func encodeBinaryShortlist(s *decode.Shortlist, src, tgt *writtenVocabulary) []byte {
	var offsets, ids []byte
	best := 0
	for row, id := range src.ids {
		var list []int32
		if row == 0 {
			list = s.Always
		} else if id >= 0 {
			list = s.Of(id)
		}
		offsets = binary.LittleEndian.AppendUint64(offsets, uint64(len(ids)/4))
		for _, id := range list {
			ids = binary.LittleEndian.AppendUint32(ids, tgt.rows[id])
		}
		best = max(best, len(list))
	}
	offsets = binary.LittleEndian.AppendUint64(offsets, uint64(len(ids)/4))
	var body []byte
	for _, n := range []int{0, best, len(src.ids) + 1, len(ids) / 4} { // no first ones
		body = binary.LittleEndian.AppendUint64(body, uint64(n))
	}
	body = append(append(body, offsets...), ids...)
	file := binary.LittleEndian.AppendUint64(nil, binShortlist)
	return append(binary.LittleEndian.AppendUint64(file, binSum(body)), body...)
}
