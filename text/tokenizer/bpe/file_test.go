package bpe

import (
	"bytes"
	"encoding/binary"
	"runtime"
	"slices"
	"strings"
	"testing"

	"tfm/internal/texttest"
)

func TestMarshalRoundTrip(t *testing.T) {
	for _, size := range []int{firstMerge, 1000} {
		b := train(t, size, texttest.Lines(500)...)
		data, err := b.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		c, err := Unmarshal(data)
		if err != nil {
			t.Fatal(err)
		}
		if c.Size() != size || !slices.Equal(b.merges, c.merges) || !slices.Equal(b.pieces, c.pieces) {
			t.Errorf("size %d: the decoded tokenizer differs", size)
		}
		for n := range data {
			if _, err := Unmarshal(data[:n]); err == nil {
				t.Fatalf("no error for the first %d of %d bytes", n, len(data))
			}
		}
	}
}

func TestUnmarshalErrors(t *testing.T) {
	encode := func(numbers ...uint64) []byte {
		data := append([]byte(Magic), version)
		for _, x := range numbers {
			data = binary.AppendUvarint(data, x)
		}
		return data
	}
	double := []uint64{10} // each merge doubles the previous piece: 2, 4, … 1024 bytes
	for k := range uint64(10) {
		half := firstMerge + k - 1
		if k == 0 {
			half = firstByte + 'a'
		}
		double = append(double, half, half)
	}
	for want, data := range map[string][]byte{
		`begins with ""`:                                 nil,
		`begins with "PK\x03\x04"`:                       []byte("PK\x03\x04"),
		"version 2, expected 1":                          []byte("tfm-bpe\x02\x00"),
		"truncated":                                      encode(),
		"merge 1 of 2: truncated":                        append(encode(2, 100, 101, 102), 0x80),
		"header declares 1000000 merges, 2 bytes follow": encode(1000000, 100, 101),
		"found 1 bytes after 1 merges, expected the end": encode(1, 100, 101, 102),
		"merge 0 joins ids 100 and 259":                  encode(1, 100, 259),
		"merge 0 joins ids 4294967396 and 100":           encode(1, 1<<32+100, 100),
		"merge 0 joins id 2":                             encode(1, 100, 2),
		"merge 1 repeats merge 0":                        encode(2, 100, 101, 100, 101),
		"merge 8 makes a piece of 512 bytes":             encode(double...),
		"not in its shortest form":                       append(encode(1, 100), 0xE5, 0x80, 0x00),
		"overflow":                                       append(encode(), bytes.Repeat([]byte{0xFF}, 20)...),
	} {
		if _, err := Unmarshal(data); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", data, err, want)
		}
	}
}

// Unmarshal allocates at most 2 MB, for the cache, plus 100 bytes for each byte of data, garbage
// included.
func TestUnmarshalMemory(t *testing.T) {
	// long has the largest pieces for its length: a piece of 128 times each byte, then pairs of
	// these.
	var long []uint64
	id := func(k int) uint64 { return uint64(firstMerge + k) }
	for c := range 256 {
		left := uint64(firstByte + c)
		for range 7 { // 2, 4, … 128 bytes
			long = append(long, left, left)
			left = id(len(long)/2 - 1)
		}
	}
	for a := range 256 {
		for b := range 256 {
			long = append(long, id(7*a+6), id(7*b+6))
		}
	}
	var short []uint64
	for a := range 256 {
		for b := range 256 {
			short = append(short, uint64(firstByte+a), uint64(firstByte+b))
		}
	}
	for name, ids := range map[string][]uint64{"long pieces": long, "short pieces": short, "none": nil} {
		data := binary.AppendUvarint(append([]byte(Magic), version), uint64(len(ids)/2))
		for _, id := range ids {
			data = binary.AppendUvarint(data, id)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		tokenizer, err := Unmarshal(data)
		runtime.ReadMemStats(&after)
		if err != nil || tokenizer.Size() != firstMerge+len(ids)/2 {
			t.Errorf("%s: error %v, want %d merges", name, err, len(ids)/2)
		}
		if used := int(after.TotalAlloc - before.TotalAlloc); used > 2<<20+100*len(data) {
			t.Errorf("%s: allocated %d bytes for %d of data, want at most %d", name, used, len(data), 8<<20+100*len(data))
		}
	}
}

func FuzzUnmarshal(f *testing.F) {
	data, _ := train(f, 300, texttest.Lines(50)...).MarshalBinary()
	f.Add(data)
	f.Add(data[:len(data)/2])
	f.Add([]byte(Magic + "\x01\x01\x64\x65"))
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := Unmarshal(data)
		if err != nil {
			return
		}
		if again, _ := b.MarshalBinary(); !bytes.Equal(again, data) {
			t.Fatalf("%x is encoded as %x", data, again)
		}
		const s = "Ein Test, 12 中\xff"
		if got := b.Decode(b.Encode(nil, s)); got != s {
			t.Fatalf("%q decodes to %q", s, got)
		}
	})
}
