package safetensors

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func equalTensors(t *testing.T, got, want []Tensor) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d tensors, want %d", len(got), len(want))
	}
	for i := range got {
		g, w := got[i], want[i]
		if g.Name != w.Name || g.DType != w.DType || !slices.Equal(g.Shape, w.Shape) || !bytes.Equal(g.Data, w.Data) {
			t.Errorf("tensor %d is %+v, want %+v", i, g, w)
		}
	}
}

var sampleMeta = map[string]string{"format": "tfm 1", "config": `{"d_model":512,"note":"<&>` + "\u2028\x00\n" + `"}`, "中": "", "": "empty key"}

func sample() []Tensor {
	return []Tensor{
		Float32Tensor("encoder.0.weight", []int{2, 3}, []float32{1, -2, 3.5, 0, 1e-38, -1e38}),
		Float32Tensor("scalar", nil, []float32{42}),
		Float32Tensor("empty", []int{4, 0, 2}, nil),
		{Name: "half", DType: "BF16", Shape: []int{1}, Data: []byte{0x80, 0x3f}},
		{Name: "tokenizer \"中\" \t\\", DType: "U8", Shape: []int{3}, Data: []byte("abc")},
		{DType: "I64", Shape: []int{1}, Data: make([]byte, 8)},
	}
}

func TestRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.safetensors")
	for range 2 { // a new file, then over an old one
		if err := Write(path, sampleMeta, sample()); err != nil {
			t.Fatal(err)
		}
	}
	f, err := Map(path)
	if err != nil {
		t.Fatal(err)
	}
	equalTensors(t, f.Tensors(), sample())
	for _, want := range sample() {
		got, ok := f.Tensor(want.Name)
		if !ok {
			t.Fatalf("no tensor %q", want.Name)
		}
		equalTensors(t, []Tensor{got}, []Tensor{want})
	}
	meta := f.Metadata()
	if !strings.HasPrefix(meta["checksum"], "crc32c:") {
		t.Errorf("checksum %q, want prefix crc32c:", meta["checksum"])
	}
	delete(meta, "checksum") // changes only the copy
	if !maps.Equal(meta, sampleMeta) {
		t.Errorf("metadata %q, want %q", meta, sampleMeta)
	}
	if err := f.Verify(); err != nil {
		t.Error(err)
	}
	if len(f.prefix)%64 != 0 {
		t.Errorf("data starts at %d, want a multiple of 64", len(f.prefix))
	}

	// The content of a file can be written again, including the old checksum.
	second := filepath.Join(t.TempDir(), "again.safetensors")
	if err := Write(second, f.Metadata(), f.Tensors()); err != nil {
		t.Fatal(err)
	}
	a, _ := os.ReadFile(path)
	b, _ := os.ReadFile(second)
	if !bytes.Equal(a, b) {
		t.Errorf("files differ:\n%q\n%q", a, b)
	}

	for range 2 {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := f.Verify(); err == nil || errors.Is(err, ErrNoChecksum) {
		t.Errorf("Verify after Close: error %v, want \"file is closed\"", err)
	}
}

// The bytes of a file must not change between versions: old files must verify, and
// equal models give equal files. The test computes the checksum from its definition.
func TestBytesOfAFile(t *testing.T) {
	header := `{"__metadata__":{"a":"1","checksum":"crc32c:00000000","z":"<\n>"},` +
		`"w":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]},"t":{"dtype":"U8","shape":[],"data_offsets":[8,9]}}`
	header = strings.ReplaceAll(header, "<", `\u003c`)
	header = strings.ReplaceAll(header, ">", `\u003e`)
	header += strings.Repeat(" ", 63-(8+len(header)+63)%64)
	data := "\x00\x00\x80\x3f\x00\x00\x00\xc0" + "x"
	prefix := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	prefix = append(prefix, header...)

	crc := ^uint32(0)
	for _, b := range []byte(data + string(prefix)) {
		crc ^= uint32(b)
		for range 8 {
			crc = crc>>1 ^ 0x82f63b78*(crc&1) // reflected Castagnoli polynomial
		}
	}
	want := strings.Replace(string(prefix), "crc32c:00000000", fmt.Sprintf("crc32c:%08X", ^crc), 1) + data

	tensors := []Tensor{Float32Tensor("w", []int{1, 2}, []float32{1, -2}), {Name: "t", DType: "U8", Data: []byte("x")}}
	path := filepath.Join(t.TempDir(), "m.safetensors")
	for range 10 { // the iteration order of maps varies
		if err := Write(path, map[string]string{"z": "<\n>", "checksum": "stale", "a": "1"}, tensors); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Fatalf("wrote\n%q, want\n%q", got, want)
		}
	}
}

func TestWriteErrors(t *testing.T) {
	w := Float32Tensor("w", []int{1}, []float32{1})
	path := filepath.Join(t.TempDir(), "m.safetensors")
	for _, c := range []struct {
		name    string
		meta    map[string]string
		tensors []Tensor
		want    string
	}{
		{"duplicate", nil, []Tensor{w, w}, `found key "w" twice`},
		{"reserved name", nil, []Tensor{{Name: "__metadata__", DType: "U8", Shape: []int{0}, Data: nil}}, `found key "__metadata__" twice`},
		{"shape against data", nil, []Tensor{Float32Tensor("w", []int{2, 3}, make([]float32, 5))}, `tensor "w": data_offsets [0 20] span 20 bytes, expected 24 for F32 of shape [2 3]`},
		{"negative shape", nil, []Tensor{{Name: "w", DType: "U8", Shape: []int{-1}, Data: nil}}, `in shape: found "-1"`},
		{"dtype", nil, []Tensor{{Name: "w", DType: "float", Shape: []int{1}, Data: make([]byte, 4)}}, `tensor "w": found dtype "float"`},
		{"name not UTF-8", nil, []Tensor{{Name: "\xff", DType: "U8", Shape: []int{0}}}, `found "\xff" in the header, expected valid UTF-8`},
		{"metadata not UTF-8", map[string]string{"k": "\xff"}, nil, `expected valid UTF-8`},
		{"header too long", map[string]string{"k": strings.Repeat("x", maxHeader)}, nil, `expected at most 100000000`},
	} {
		err := Write(path, c.meta, c.tensors)
		if err == nil || !strings.HasPrefix(err.Error(), "writing "+path) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
		if names := list(t, filepath.Dir(path)); len(names) != 0 {
			t.Errorf("%s: folder holds %q, want no file", c.name, names)
		}
	}
}
