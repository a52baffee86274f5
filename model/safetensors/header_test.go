package safetensors

import (
	"encoding/binary"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// build returns a file of header length, header and n bytes of data.
func build(header string, n int) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	b = append(b, header...)
	for i := range n {
		b = append(b, byte(i))
	}
	return b
}

// write writes content to a new file and returns its path.
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
	return f, f.parseMapped()
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
		{"empty file", nil, "found an empty file"},
		{"text", []byte("the dog\nthe cat\n"), `not a safetensors file: it begins with "the dog\n"`},
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
		{"half a pair behind an escaped backslash", build(`{"__metadata__":{"k":"\\ufffd\ud800"}}`, 0), "half of a surrogate pair"},
		{"other half first", build(`{"\udc00\ud800":1}`, 0), "half of a surrogate pair"},
		{"half a pair at the end", build(`{"\ud800`, 0), "half of a surrogate pair"},
		{"first half twice", build(`{"\ud800\ud800":1}`, 0), "half of a surrogate pair"},
		{"escape of no character", build(`{"\x41":1}`, 0), "in a key of the object: invalid character 'x' in string escape code"},
		{"short escape", build(`{"\u12":1}`, 0), `in \u hexadecimal character escape`},
		{"string without an end", build(`{"abc`, 0), "header byte 1, in a key of the object: found the end: truncated"},
		{"not JSON", build(`{"w":}`, 0), "invalid character '}' looking for beginning of value"},
		{"control character", build("{\"\n\":{}}", 0), `invalid character '\n' in string literal`},
		{"truncated", build(`{"w":{"dtype":"F32"`, 0), "header byte 19, in its description: found the end: truncated"},
		{"truncated in the outer object", build(`{`, 0), "header byte 1, in the object: found the end: truncated"},
		{"trailing comma", build(`{"__metadata__":{},}`, 0), "header byte 19, in a key of the object: invalid character '}' looking for beginning of object key string"},
		{"wrong bracket", build(`{"__metadata__":{}]`, 0), "header byte 18, in the object: invalid character ']' after object key:value pair"},
		{"comment", build(`{}//`, 0), `found "//" after the header's JSON object`},
		{"second object", build(`{} {}`, 0), `found "{}" after the header's JSON object, expected only spaces`},
		{"padding with zero bytes", build("{}\x00\x00", 0), "expected only spaces"},
		{"padding with newlines", build("{}\n", 0), "expected only spaces"},

		{"duplicate tensor", build(`{"w":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"w":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}`, 2),
			`found key "w" twice`},
		{"duplicate tensor, escaped", build(`{"w":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"\u0077":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}`, 2),
			`found key "w" twice`},
		{"duplicate metadata", build(`{"__metadata__":{},"__metadata__":{}}`, 0), `found key "__metadata__" twice`},
		{"duplicate metadata key", build(`{"__metadata__":{"a":"1","a":"1"}}`, 0), `found key "a" twice in __metadata__`},
		{"duplicate field", build(`{"w":{"dtype":"U8","shape":[1],"shape":[1],"data_offsets":[0,1]}}`, 1), `tensor "w": found key "shape" twice`},

		{"metadata number", build(`{"__metadata__":{"step":7}}`, 0), `__metadata__ key "step": header byte 25, in its value: found a JSON number, expected a string`},
		{"metadata null", build(`{"__metadata__":{"step":null}}`, 0), `__metadata__ key "step": header byte 28, in its value: found null, expected a string`},
		{"metadata object", build(`{"__metadata__":{"config":{"d":8}}}`, 0), `__metadata__ key "config": header byte 33, in its value: found a JSON object, expected a string`},
		{"metadata is a string", build(`{"__metadata__":"x"}`, 0), `in __metadata__: found "x", expected an object`},

		{"tensor is no object", build(`{"w":[1]}`, 0), `tensor "w": header byte 6, in its description: found "[", expected an object`},
		{"tensor is null", build(`{"w":null}`, 0), `in its description: found "<nil>", expected an object`},
		{"unknown field", build(`{"w":{"dtype":"U8","shape":[1],"strides":[1],"data_offsets":[0,1]}}`, 1), `tensor "w": found key "strides", expected only dtype, shape and data_offsets`},
		{"field in other case", build(`{"w":{"DType":"U8","shape":[1],"data_offsets":[0,1]}}`, 1), `tensor "w": found key "DType"`},
		{"missing field", build(`{"w":{"dtype":"U8","shape":[1]}}`, 1), `tensor "w": found only some keys, expected all of dtype, shape and data_offsets`},
		{"unknown dtype", build(`{"w":{"dtype":"F33","shape":[1],"data_offsets":[0,4]}}`, 4), `tensor "w": found dtype "F33", expected F32`},
		{"dtype in lower case", build(`{"w":{"dtype":"f32","shape":[1],"data_offsets":[0,4]}}`, 4), `tensor "w": found dtype "f32"`},
		{"dtype is a number", build(`{"w":{"dtype":32,"shape":[1],"data_offsets":[0,4]}}`, 4), `tensor "w": header byte 16, in dtype: found a JSON number, expected a string`},

		{"negative dimension", build(`{"w":{"dtype":"F32","shape":[-4],"data_offsets":[0,16]}}`, 16), `tensor "w": header byte 32, in shape: found "-4", expected an integer from 0 to `},
		{"two negative dimensions", build(`{"w":{"dtype":"F32","shape":[-2,-2],"data_offsets":[0,16]}}`, 16), `in shape: found "-2"`},
		{"minus zero", build(`{"w":{"dtype":"F32","shape":[-0],"data_offsets":[0,0]}}`, 0), `in shape: found "-0"`},
		{"fraction", build(`{"w":{"dtype":"F32","shape":[4.0],"data_offsets":[0,16]}}`, 16), `in shape: found "4.0"`},
		{"exponent", build(`{"w":{"dtype":"F32","shape":[4e0],"data_offsets":[0,16]}}`, 16), `in shape: found "4e0"`},
		{"leading zero", build(`{"w":{"dtype":"F32","shape":[04],"data_offsets":[0,16]}}`, 16), "in shape: invalid character '4' after array element"},
		{"dimension as string", build(`{"w":{"dtype":"F32","shape":["4"],"data_offsets":[0,16]}}`, 16), `in shape: found "\"4\"", expected an integer`},
		{"dimension beyond 64 bits", build(`{"w":{"dtype":"F32","shape":[18446744073709551616],"data_offsets":[0,0]}}`, 0), `in shape: found "18446744073709551616"`},
		{"dimension beyond 63 bits", build(`{"w":{"dtype":"F32","shape":[9223372036854775808],"data_offsets":[0,0]}}`, 0), `in shape: found "9223372036854775808"`},
		{"nested shape", build(`{"w":{"dtype":"F32","shape":[[4]],"data_offsets":[0,16]}}`, 16), `in shape: found "[4]", expected an integer`},
		{"shape is a number", build(`{"w":{"dtype":"F32","shape":4,"data_offsets":[0,16]}}`, 16), `in shape: found "4", expected an array of integers`},
		// 2^62 · 4 bytes and 2^64 elements: both 0 modulo 2^64
		{"byte size overflows", build(`{"w":{"dtype":"F32","shape":[1073741824,1073741824,4],"data_offsets":[0,0]}}`, 0), `tensor "w": F32 of shape [1073741824 1073741824 4] overflows`},
		{"element count overflows", build(`{"w":{"dtype":"U8","shape":[65536,65536,65536,65536],"data_offsets":[0,0]}}`, 0), `overflows`},
		{"overflow behind a zero", build(`{"w":{"dtype":"U8","shape":[0,65536,65536,65536,65536],"data_offsets":[0,0]}}`, 0), `overflows`},
		{"half a byte", build(`{"w":{"dtype":"F4","shape":[3],"data_offsets":[0,1]}}`, 1), `tensor "w": F4 of shape [3] takes 12 bits, expected whole bytes`},

		{"one offset", build(`{"w":{"dtype":"F32","shape":[4],"data_offsets":[16]}}`, 16), `tensor "w": found data_offsets [16], expected [begin, end]`},
		{"three offsets", build(`{"w":{"dtype":"F32","shape":[4],"data_offsets":[0,16,16]}}`, 16), `found data_offsets [0 16 16]`},
		{"negative offset", build(`{"w":{"dtype":"F32","shape":[4],"data_offsets":[-16,0]}}`, 16), `in data_offsets: found "-16"`},
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
			for name, open := range readers {
				f, err := open(path)
				if err == nil {
					f.Close()
					t.Fatalf("%s returned no error, want %q", name, c.want)
				}
				if !strings.HasPrefix(err.Error(), path+": ") || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%s: error %q, want the path and %q", name, err, c.want)
				}
			}
		})
	}
}

func TestUnusualValidFile(t *testing.T) {
	f, err := Map(write(t, build(`{ "z" : {"data_offsets":[0,4], "shape":[], "dtype":"F32"},
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
			t.Errorf("tensor %d is %q with data %x, want %q with %x", i, tensor.Name, tensor.Data, want[i].name, want[i].data)
		}
	}
	if n := len(f.Metadata()); len(f.Tensors()) != len(want) || n != 0 {
		t.Errorf("%d tensors and %d metadata, want %d and 0", len(f.Tensors()), n, len(want))
	}
	if _, ok := f.Tensor("absent"); ok {
		t.Error("Tensor(\"absent\") found a tensor")
	}
	for _, empty := range []string{"{}", `{"__metadata__":{}}`} {
		if _, err := parse(build(empty, 0)); err != nil {
			t.Errorf("%s: %v", empty, err)
		}
	}
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "found a directory, expected a regular file") {
		t.Errorf("folder: error %v, want \"found a directory\"", err)
	}
	if _, err := Open(filepath.Join(dir, "absent")); !os.IsNotExist(err) {
		t.Errorf("absent file: error %v, want %v", err, os.ErrNotExist)
	}
}

// wantAsJSON compares the header of file with the result of encoding/json.
func wantAsJSON(t *testing.T, file *File, content []byte) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(content[lengthBytes:len(file.prefix)], &all); err != nil {
		t.Fatalf("encoding/json refuses the header: %v", err)
	}
	var metadata map[string]string
	if text, ok := all[metadataKey]; ok {
		if err := json.Unmarshal(text, &metadata); err != nil || !maps.Equal(metadata, file.metadata) {
			t.Fatalf("metadata %q, encoding/json has %q, %v", file.metadata, metadata, err)
		}
		delete(all, metadataKey)
	}
	if len(all) != len(file.Tensors()) {
		t.Fatalf("%d tensors, encoding/json has %d", len(file.Tensors()), len(all))
	}
	for _, tensor := range file.Tensors() {
		var want struct {
			DType string `json:"dtype"`
			Shape []int  `json:"shape"`
		}
		if err := json.Unmarshal(all[tensor.Name], &want); err != nil || tensor.DType != want.DType || !slices.Equal(tensor.Shape, want.Shape) {
			t.Fatalf("tensor %q is %s of %v, encoding/json has %+v, %v", tensor.Name, tensor.DType, tensor.Shape, want, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte{})
	f.Add(build(`{}`, 0))
	f.Add(build(`{"w":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}}`, 16))
	f.Add(build(`{"__metadata__":{"checksum":"crc32c:00000000"},"w":{"dtype":"BF16","shape":[2,0],"data_offsets":[0,0]}} `, 0))
	f.Add(build(`{"\ud83d\ude00":{"dtype":"F16","shape":[],"data_offsets":[0,2]}}`, 2))
	prefix, err := encodePrefix(map[string]string{"a": "b"}, []Tensor{{Name: "x", DType: "U8", Shape: []int{3}, Data: []byte("abc")}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(append(prefix, "abc"...))
	f.Fuzz(func(t *testing.T, content []byte) {
		file, err := parse(content)
		if err != nil {
			return
		}
		wantAsJSON(t, file, content)
		file.Verify()
		// Write accepts every file that Open accepts, and Open returns the same again.
		total := 0
		for _, tensor := range file.Tensors() {
			total += len(tensor.Data)
			if size, err := byteSize(tensor.DType, tensor.Shape); err != nil || size != len(tensor.Data) {
				t.Fatalf("%+v: size %d, %v", tensor, size, err)
			}
			// A length from the test, not from the file.
			n := len(tensor.Data) / 4
			tensor.Float32s(make([]float32, n))
		}
		if total != len(content)-len(file.prefix) {
			t.Fatalf("tensors hold %d bytes of %d", total, len(content)-len(file.prefix))
		}
		again, err := encodePrefix(file.Metadata(), file.Tensors())
		if err != nil {
			t.Fatal(err)
		}
		second, err := parse(append(again, content[len(file.prefix):]...))
		if err != nil {
			t.Fatal(err)
		}
		if err := second.Verify(); err != nil {
			t.Fatal(err)
		}
		equalTensors(t, second.Tensors(), file.Tensors())
	})
}
