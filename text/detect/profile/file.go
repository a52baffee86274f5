package profile

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
)

// The file is compressed by DEFLATE, with Huffman codes alone, because the few repetitions of
// random bytes would be longer than their codes. It has the languages by script, each a tag, then
// their weights, the slopes, the number of n-grams of each bucket, the last bits of their hashes,
// and the vectors, element by element.

// Encode returns the file of a model.
func (m *Model) Encode() []byte {
	var file bytes.Buffer
	w, _ := flate.NewWriter(&file, flate.HuffmanOnly)
	write := func(x any) {
		if err := binary.Write(w, binary.LittleEndian, x); err != nil {
			panic(err) // a buffer has no errors
		}
	}
	var tags [Shared][]string
	for _, l := range m.Languages {
		tags[l.Script] = append(tags[l.Script], l.Tag)
	}
	for _, list := range tags {
		fmt.Fprintln(w, strings.Join(list, " "))
	}
	for _, l := range m.Languages {
		write(l.Weights)
		write(l.Bias)
	}
	write(m.Slopes)
	m.Prepare()
	for b := range m.firsts[1:] {
		write(uint8(m.firsts[b+1] - m.firsts[b]))
	}
	write(m.lasts)
	for j := range Dim {
		for i := range m.Vectors {
			write(m.Vectors[i][j])
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return file.Bytes()
}

// Decode reads a file.
func Decode(file []byte) (*Model, error) {
	r := flate.NewReader(bytes.NewReader(file))
	const maxSize = 16 << 20
	data, err := io.ReadAll(io.LimitReader(r, maxSize))
	if err != nil {
		return nil, fmt.Errorf("profiles: %w", err)
	}
	m := &Model{}
	for s := range Shared {
		line, rest, _ := bytes.Cut(data, []byte("\n"))
		data = rest
		for tag := range strings.FieldsSeq(string(line)) {
			m.Languages = append(m.Languages, Language{Tag: tag, Script: s})
		}
	}
	b := bytes.NewReader(data)
	read := func(x any) {
		if err == nil {
			err = binary.Read(b, binary.LittleEndian, x)
		}
	}
	for i := range m.Languages {
		read(&m.Languages[i].Weights)
		read(&m.Languages[i].Bias)
	}
	read(&m.Slopes)
	counts := make([]uint8, 1<<bucketBits)
	read(counts)
	for bucket, n := range counts {
		for range n {
			m.Grams = append(m.Grams, uint32(bucket)<<lastBits)
		}
	}
	if len(m.Grams) > 1<<16-1 {
		return nil, fmt.Errorf("profiles: found %d n-grams, expected at most %d", len(m.Grams), 1<<16-1)
	}
	lasts := make([]uint8, len(m.Grams))
	read(lasts)
	for i, x := range lasts {
		m.Grams[i] |= uint32(x)
	}
	m.Vectors = make([][Dim]int8, len(m.Grams))
	column := make([]int8, len(m.Grams))
	for j := range Dim {
		read(column)
		for i, x := range column {
			m.Vectors[i][j] = x
		}
	}
	if err != nil {
		return nil, fmt.Errorf("profiles: %w", err)
	}
	m.Prepare()
	return m, nil
}
