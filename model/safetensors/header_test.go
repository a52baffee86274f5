package safetensors

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// build makes a file by hand: header length, header, n bytes of data.
func build(header string, n int) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	b = append(b, header...)
	for i := range n {
		b = append(b, byte(i))
	}
	return b
}

// write puts content into a file of its own and returns its path.
func write(t *testing.T, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "m.safetensors")
	if err := os.WriteFile(path, content, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// parse is Open without the file system.
func parse(content []byte) (*File, error) {
	f := &File{path: "memory", content: content, release: func() error { return nil }}
	return f, f.parse()
}

func TestMalformedFiles(t *testing.T) {
	const f4 = `{"w":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}}`
	huge := binary.LittleEndian.AppendUint64(nil, 1<<63)
	huge = append(huge, "{}"...)
	over := binary.LittleEndian.AppendUint64(nil, maxHeader+1)
	for _, c := range []struct {
		name    string
		content []byte
		want    string
	}{
		{"empty file", nil, "found a file of 0 bytes, expected at least the 8"},
		{"shorter than the length", []byte("1234567"), "found a file of 7 bytes"},
		{"length over the limit", huge, "found header length 9223372036854775808, expected at most 100000000"},
		{"length just over the limit", over, "found header length 100000001, expected at most 100000000"},
		{"length past the end", append([]byte{50, 0, 0, 0, 0, 0, 0, 0}, "{}"...), "found header length 50 with only 2 bytes after it"},
		{"no header", build("", 0), `header starts with "", expected "{"`},
		{"leading space", build(" {}", 0), `header starts with " ", expected "{"`},
		{"byte order mark", build("\uFEFF{}", 0), `expected "{"`},
		{"array", build("[]", 0), `header starts with "[", expected "{"`},
		{"not UTF-8", build("{\"\xff\":1}", 0), "header is not valid UTF-8"},
		{"surrogates in UTF-8", build("{\"\xed\xa0\x80\":1}", 0), "header is not valid UTF-8"},
		{"half a surrogate pair", build(`{"a\ud800b":{"dtype":"U8","shape":[],"data_offsets":[0,1]}}`, 1), "half of a surrogate pair"},
		{"half a pair in metadata", build(`{"__metadata__":{"k":"\uDC00 \uFFFD �"}}`, 0), "half of a surrogate pair"},
		{"not JSON", build(`{"w":}`, 0), "header is not JSON near byte"},
		{"control character", build("{\"\n\":{}}", 0), "header is not JSON"},
		{"cut short", build(`{"w":{"dtype":"F32"`, 0), "header is not JSON near byte 19: unexpected EOF"},
		{"cut in the outer object", build(`{`, 0), "unexpected EOF"},
		{"trailing comma", build(`{"__metadata__":{},}`, 0), "header is not JSON"},
		{"wrong bracket", build(`{"__metadata__":{}]`, 0), "header is not JSON"},
		{"comment", build(`{}//`, 0), `found "//" after the header's JSON object`},
		{"second object", build(`{} {}`, 0), `found "{}" after the header's JSON object, expected nothing but spaces`},
		{"padding with zero bytes", build("{}\x00\x00", 0), "expected nothing but spaces"},
		{"padding with newlines", build("{}\n", 0), "expected nothing but spaces"},

		{"duplicate tensor", build(`{"w":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"w":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}`, 2),
			`found key "w" twice in header`},
		{"duplicate tensor, escaped", build(`{"w":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"\u0077":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}`, 2),
			`found key "w" twice in header`},
		{"duplicate metadata", build(`{"__metadata__":{},"__metadata__":{}}`, 0), `found key "__metadata__" twice in header`},
		{"duplicate metadata key", build(`{"__metadata__":{"a":"1","a":"1"}}`, 0), `found key "a" twice in __metadata__`},
		{"duplicate field", build(`{"w":{"dtype":"U8","shape":[1],"shape":[1],"data_offsets":[0,1]}}`, 1), `tensor "w": found key "shape" twice in its description`},

		{"metadata number", build(`{"__metadata__":{"step":7}}`, 0), `found 7 for __metadata__ key "step", expected a string`},
		{"metadata null", build(`{"__metadata__":{"step":null}}`, 0), `found null for __metadata__ key "step", expected a string`},
		{"metadata object", build(`{"__metadata__":{"config":{"d":8}}}`, 0), `found { for __metadata__ key "config", expected a string`},
		{"metadata is a string", build(`{"__metadata__":"x"}`, 0), `found "x" for __metadata__, expected "{"`},

		{"tensor is no object", build(`{"w":[1]}`, 0), `tensor "w": found [ for its description, expected "{"`},
		{"tensor is null", build(`{"w":null}`, 0), `tensor "w": found null for its description`},
		{"unknown field", build(`{"w":{"dtype":"U8","shape":[1],"strides":[1],"data_offsets":[0,1]}}`, 1), `tensor "w": found key "strides", expected only dtype, shape and data_offsets`},
		{"field in other case", build(`{"w":{"DType":"U8","shape":[1],"data_offsets":[0,1]}}`, 1), `tensor "w": found key "DType"`},
		{"missing field", build(`{"w":{"dtype":"U8","shape":[1]}}`, 1), `tensor "w": found 2 of the keys dtype, shape and data_offsets, expected all`},
		{"unknown dtype", build(`{"w":{"dtype":"F33","shape":[1],"data_offsets":[0,4]}}`, 4), `tensor "w": found dtype "F33", expected F32`},
		{"dtype in lower case", build(`{"w":{"dtype":"f32","shape":[1],"data_offsets":[0,4]}}`, 4), `tensor "w": found dtype "f32"`},
		{"dtype is a number", build(`{"w":{"dtype":32,"shape":[1],"data_offsets":[0,4]}}`, 4), `tensor "w": found 32 for dtype, expected a string`},

		{"negative dimension", build(`{"w":{"dtype":"F32","shape":[-4],"data_offsets":[0,16]}}`, 16), `tensor "w": found -4 in shape, expected an integer from 0`},
		{"two negative dimensions", build(`{"w":{"dtype":"F32","shape":[-2,-2],"data_offsets":[0,16]}}`, 16), `found -2 in shape`},
		{"minus zero", build(`{"w":{"dtype":"F32","shape":[-0],"data_offsets":[0,0]}}`, 0), `found -0 in shape`},
		{"fraction", build(`{"w":{"dtype":"F32","shape":[4.0],"data_offsets":[0,16]}}`, 16), `found 4.0 in shape`},
		{"exponent", build(`{"w":{"dtype":"F32","shape":[4e0],"data_offsets":[0,16]}}`, 16), `found 4e0 in shape`},
		{"leading zero", build(`{"w":{"dtype":"F32","shape":[04],"data_offsets":[0,16]}}`, 16), `header is not JSON`},
		{"dimension as string", build(`{"w":{"dtype":"F32","shape":["4"],"data_offsets":[0,16]}}`, 16), `found "4" in shape`},
		{"dimension beyond 64 bits", build(`{"w":{"dtype":"F32","shape":[18446744073709551616],"data_offsets":[0,0]}}`, 0), `found 18446744073709551616 in shape`},
		{"dimension beyond 63 bits", build(`{"w":{"dtype":"F32","shape":[9223372036854775808],"data_offsets":[0,0]}}`, 0), `found 9223372036854775808 in shape`},
		{"nested shape", build(`{"w":{"dtype":"F32","shape":[[4]],"data_offsets":[0,16]}}`, 16), `found [ in shape`},
		{"shape is a number", build(`{"w":{"dtype":"F32","shape":4,"data_offsets":[0,16]}}`, 16), `found 4 for shape, expected "["`},
		// 2^62 · 4 bytes = 2^64 and 2^32 · 2^32 elements: both are 0 modulo 2^64
		{"byte size overflows", build(`{"w":{"dtype":"F32","shape":[1073741824,1073741824,4],"data_offsets":[0,0]}}`, 0), `tensor "w": F32 of shape [1073741824 1073741824 4] overflows`},
		{"element count overflows", build(`{"w":{"dtype":"U8","shape":[65536,65536,65536,65536],"data_offsets":[0,0]}}`, 0), `overflows`},
		{"overflow behind a zero", build(`{"w":{"dtype":"U8","shape":[0,65536,65536,65536,65536],"data_offsets":[0,0]}}`, 0), `overflows`},
		{"half a byte", build(`{"w":{"dtype":"F4","shape":[3],"data_offsets":[0,1]}}`, 1), `tensor "w": F4 of shape [3] takes 12 bits, expected whole bytes`},

		{"one offset", build(`{"w":{"dtype":"F32","shape":[4],"data_offsets":[16]}}`, 16), `tensor "w": found data_offsets [16], expected [begin, end]`},
		{"three offsets", build(`{"w":{"dtype":"F32","shape":[4],"data_offsets":[0,16,16]}}`, 16), `found data_offsets [0 16 16]`},
		{"negative offset", build(`{"w":{"dtype":"F32","shape":[4],"data_offsets":[-16,0]}}`, 16), `found -16 in data_offsets`},
		{"begin after end", build(`{"w":{"dtype":"F32","shape":[4],"data_offsets":[16,0]}}`, 16), `found data_offsets [16 0]`},
		{"span too small", build(`{"w":{"dtype":"F32","shape":[4],"data_offsets":[0,12]}}`, 12), `tensor "w": data_offsets [0 12] span 12 bytes, expected 16 for F32 of shape [4]`},
		{"span too large", build(`{"w":{"dtype":"F32","shape":[2,2],"data_offsets":[0,20]}}`, 20), `span 20 bytes, expected 16 for F32 of shape [2 2]`},
		{"truncated data", build(f4, 15), `tensor "w": data_offsets end at 16, but the file has 15 bytes of data: truncated`},
		{"bytes at the end", build(f4, 17), `found 17 bytes of data, expected 16: bytes that belong to no tensor`},
		{"bytes and no tensor", build(`{}`, 1), `found 1 bytes of data, expected 0`},
		{"hole at the start", build(`{"w":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}`, 2), `tensor "w": data_offsets begin at 1, expected 0: a hole`},
		{"hole in the middle", build(`{"v":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"w":{"dtype":"U8","shape":[1],"data_offsets":[2,3]}}`, 3),
			`tensor "w": data_offsets begin at 2, expected 1: a hole`},
		{"overlap", build(`{"v":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"w":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}}`, 3),
			`tensor "w": data_offsets begin at 1, expected 2: overlaps tensor "v"`},
		{"same bytes twice", build(`{"v":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"w":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}`, 2),
			`overlaps tensor "v"`},
		{"empty tensor inside another", build(`{"v":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"w":{"dtype":"U8","shape":[0],"data_offsets":[1,1]}}`, 2),
			`overlaps tensor "v"`},
		{"empty tensor past the end", build(`{"w":{"dtype":"U8","shape":[0],"data_offsets":[1,1]}}`, 0), `tensor "w": data_offsets end at 1, but the file has 0 bytes`},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := write(t, c.content)
			f, err := Open(path)
			if err == nil {
				f.Close()
				t.Fatalf("Open accepted it, want an error with %q", c.want)
			}
			if !strings.HasPrefix(err.Error(), path+": ") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %q, want it to name the file and say %q", err, c.want)
			}
		})
	}
}

func TestLegalOddities(t *testing.T) {
	f, err := Open(write(t, build(`{ "z" : {"data_offsets":[0,4], "shape":[], "dtype":"F32"},
		"empty":{"dtype":"I64","shape":[3,0],"data_offsets":[4,4]}, "":{"dtype":"BOOL","shape":[1],"data_offsets":[6,7]},
		"\u4e2d\ud83d\ude00\ufffd�":{"dtype":"F4","shape":[2,2],"data_offsets":[4,6]}}   `, 7)))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	want := []struct {
		name string
		data string
	}{{"z", "\x00\x01\x02\x03"}, {"empty", ""}, {"中😀\uFFFD\uFFFD", "\x04\x05"}, {"", "\x06"}}
	for i, tensor := range f.Tensors() {
		if tensor.Name != want[i].name || string(tensor.Data) != want[i].data {
			t.Errorf("tensor %d is %q with %x, want %q with %x", i, tensor.Name, tensor.Data, want[i].name, want[i].data)
		}
	}
	if n := len(f.Metadata()); len(f.Tensors()) != len(want) || n != 0 {
		t.Errorf("%d tensors and %d metadata, want %d and 0", len(f.Tensors()), n, len(want))
	}
	if _, ok := f.Tensor("absent"); ok {
		t.Error("found a tensor that is not there")
	}
	for _, empty := range []string{"{}", `{"__metadata__":{}}`} {
		if _, err := parse(build(empty, 0)); err != nil {
			t.Errorf("%s: %v", empty, err)
		}
	}
}

func TestOpenRefusesWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "found a directory, expected a regular file") {
		t.Errorf("folder: %v", err)
	}
	if _, err := Open(filepath.Join(dir, "absent")); !os.IsNotExist(err) {
		t.Errorf("absent file: %v", err)
	}
}

// A length that the file does not have must not be allocated.
func TestLengthsAreNotBelieved(t *testing.T) {
	claimed := build(`{"w":{"dtype":"F32","shape":[1000000,1000000],"data_offsets":[0,4000000000000]}}`, 8)
	noHeader := binary.LittleEndian.AppendUint64(nil, maxHeader)
	for _, content := range [][]byte{claimed, noHeader} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range 10 {
			if _, err := parse(content); err == nil {
				t.Fatal("accepted")
			}
		}
		runtime.ReadMemStats(&after)
		if used := (after.TotalAlloc - before.TotalAlloc) / 10; used > 1<<16 {
			t.Errorf("allocated %d bytes for a file of %d", used, len(content))
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte{})
	f.Add(build(`{}`, 0))
	f.Add(build(`{"w":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}}`, 16))
	f.Add(build(`{"__metadata__":{"checksum":"crc32c:00000000"},"w":{"dtype":"BF16","shape":[2,0],"data_offsets":[0,0]}} `, 0))
	f.Add(build(`{"\ud83d\ude00":{"dtype":"F16","shape":[],"data_offsets":[0,2]}}`, 2))
	prefix, err := encodePrefix(map[string]string{"a": "b"}, []Tensor{{"x", "U8", []int{3}, []byte("abc")}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(append(prefix, "abc"...))
	f.Fuzz(func(t *testing.T, content []byte) {
		file, err := parse(content)
		if err != nil {
			return
		}
		file.Verify()
		// What Open accepts, Write writes, and it reads back the same.
		total := 0
		for _, tensor := range file.Tensors() {
			total += len(tensor.Data)
			if size, err := byteSize(tensor.DType, tensor.Shape); err != nil || size != len(tensor.Data) {
				t.Fatalf("%+v: size %d, %v", tensor, size, err)
			}
			// No more elements than bytes, so a length of ours, not the file's.
			n := len(tensor.Data) / 4
			tensor.Float32s(make([]float32, n))
			tensor.AsFloat32()
		}
		if total != len(content)-file.dataStart {
			t.Fatalf("tensors hold %d bytes of %d", total, len(content)-file.dataStart)
		}
		again, err := encodePrefix(file.Metadata(), file.Tensors())
		if err != nil {
			t.Fatal(err)
		}
		second, err := parse(append(again, content[file.dataStart:]...))
		if err != nil {
			t.Fatal(err)
		}
		if err := second.Verify(); err != nil {
			t.Fatal(err)
		}
		equalTensors(t, second.Tensors(), file.Tensors())
	})
}
