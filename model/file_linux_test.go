package model

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tfm/model/safetensors"
)

// Everything that is read from a mapped file whose end somebody cut off is an error that names the file, whatever was
// verified before. A fault outside of what safetensors guards would end the program.
func TestTruncatedWhileRead(t *testing.T) {
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(interface{ Addr() uintptr }); ok {
				panic(r)
			}
			t.Skip("this machine reports a fault without its address: ", r) // qemu-user for arm64
		}
	}()
	path := filepath.Join(t.TempDir(), "m.safetensors")
	for name, read := range map[string]func(s *safetensors.File) error{
		"weights": func(s *safetensors.File) error {
			_, err := decode(s, false)
			return err
		},
		"tokenizers": func(s *safetensors.File) error {
			_, err := decodeTokenizers(s)
			return err
		},
		"a copy": func(s *safetensors.File) error {
			return safetensors.Write(filepath.Join(t.TempDir(), "copy"), s.Metadata(), s.Tensors())
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := File{Model: newModel(t, toy()), Tokenizers: map[string][]byte{"joint": make([]byte, 1<<16)}}
			if err := f.Save(path); err != nil {
				t.Fatal(err)
			}
			s, err := safetensors.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if err := s.Verify(); err != nil {
				t.Fatal(err)
			}
			if err := os.Truncate(path, 4096); err != nil {
				t.Fatal(err)
			}
			if err := read(s); err == nil || !strings.Contains(err.Error(), "reading the mapped file failed") {
				t.Errorf("error %v, expected one of reading the mapped file", err)
			}
		})
	}
}
