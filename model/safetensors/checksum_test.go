package safetensors

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

// encoded returns the bytes of the file that Write would write.
func encoded(t *testing.T, meta map[string]string, tensors []Tensor) []byte {
	t.Helper()
	prefix, err := encodePrefix(meta, tensors)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := writeTo(&b, prefix, tensors); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// openAndVerify returns the first error of Open or Verify.
func openAndVerify(content []byte) error {
	f, err := parse(content)
	if err != nil {
		return err
	}
	return f.Verify()
}

// fileAndVerify is openAndVerify of a file.
func fileAndVerify(path string) error {
	f, err := Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Verify()
}

func TestEveryAlteredByteIsDetected(t *testing.T) {
	original := encoded(t, map[string]string{"v": "1"}, []Tensor{
		Float32Tensor("w", []int{2, 1}, []float32{1, 2}),
		{Name: "t", DType: "U8", Shape: []int{3}, Data: []byte("abc")},
	})
	if err := openAndVerify(original); err != nil {
		t.Fatal(err)
	}
	key := bytes.Index(original, []byte(checksumKey))
	for i, old := range original {
		altered := bytes.Clone(original)
		for b := range 256 {
			if byte(b) == old {
				continue
			}
			altered[i] = byte(b)
			err := openAndVerify(altered)
			if err == nil {
				t.Fatalf("byte %d changed from %q to %q: no error", i, old, byte(b))
			}
			if inKey := i >= key && i < key+len(checksumKey); errors.Is(err, ErrNoChecksum) && !inKey {
				t.Fatalf("byte %d changed from %q to %q: %v", i, old, byte(b), err)
			}
		}
		if err := fileAndVerify(write(t, altered)); err == nil {
			t.Errorf("byte %d changed from %q to %q: no error of Open", i, old, altered[i])
		}
	}
	for n := range original {
		if err := openAndVerify(original[:n]); err == nil {
			t.Fatalf("truncated to %d of %d bytes: no error", n, len(original))
		}
		path := write(t, original[:n])
		if err := fileAndVerify(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("truncated to %d of %d bytes: error %v of Open", n, len(original), err)
		}
	}
	if err := openAndVerify(append(bytes.Clone(original), 0)); err == nil {
		t.Fatal("one byte appended: no error")
	}
}

func TestVerify(t *testing.T) {
	const w = `"w":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}`
	for _, c := range []struct{ name, header, want string }{
		{"absent", `{` + w, "no checksum in __metadata__"},
		{"absent from metadata", `{"__metadata__":{"a":"b"},` + w, "no checksum in __metadata__"},
		{"other scheme", `{"__metadata__":{"checksum":"md5:00000000"},` + w, `found checksum "md5:00000000", expected "crc32c:" and 8 hexadecimal digits`},
		{"too short", `{"__metadata__":{"checksum":"crc32c:0000"},` + w, `found checksum "crc32c:0000"`},
		{"empty", `{"__metadata__":{"checksum":""},` + w, `found checksum ""`},
		{"escaped", `{"__metadata__":{"checksum":"crc32c:0000000\u0030"},` + w, "unescaped"},
		{"escaped quote", `{"__metadata__":{"checksum":"crc32c:00000\\00"},` + w, "unescaped"},
		{"wrong", `{"__metadata__":{"checksum":"crc32c:00000000"},` + w, ", expected crc32c:00000000 as in the header: the file was damaged or altered"},
	} {
		f, err := Open(write(t, build(c.header, 1)))
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		err = f.Verify()
		if err == nil || !strings.HasPrefix(err.Error(), f.path+": ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
		if errors.Is(err, ErrNoChecksum) != strings.HasPrefix(c.name, "absent") {
			t.Errorf("%s: errors.Is(%v, ErrNoChecksum) = %v", c.name, err, errors.Is(err, ErrNoChecksum))
		}
		f.Close()
	}
}
