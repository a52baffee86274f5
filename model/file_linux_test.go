package model

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"tfm/model/safetensors"
)

// Reading a mapped file that was truncated after Verify returns an error that names the file. A
// fault outside the code that safetensors guards would end the program.
func TestTruncatedWhileRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.safetensors")
	for name, read := range map[string]func(s *safetensors.File) error{
		"weights": func(s *safetensors.File) error {
			h, err := DecodeHeader(s.Metadata())
			if err == nil {
				_, err = readFile(s, h, false)
			}
			return err
		},
		"tokenizers": func(s *safetensors.File) error {
			_, err := Tokenizers(s)
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
			s, err := safetensors.Map(path)
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
			defer func() {
				if r := recover(); r != nil {
					if _, ok := r.(interface{ Addr() uintptr }); ok {
						panic(r)
					}
					t.Skip("emulation: fault reported without its address: ", r)
				}
			}()
			if err := read(s); err == nil || !strings.Contains(err.Error(), "reading the mapped file failed") {
				t.Errorf("error %v, want \"reading the mapped file failed\"", err)
			}
		})
	}
}

// LoadHeader and LoadWithoutWeights touch no page of the weights, in a sparse file of 16 GB.
func TestHeaderAndTokenizersAreReadWithoutWeights(t *testing.T) {
	config, err := json.Marshal(toy())
	if err != nil {
		t.Fatal(err)
	}
	meta, err := json.Marshal(map[string]string{"format": "tfm 1", "config": string(config), "src_lang": "en"})
	if err != nil {
		t.Fatal(err)
	}
	const weights int64 = 16 << 30
	header := fmt.Sprintf(`{"__metadata__":%s,"embedding":{"dtype":"F32","shape":[%d],"data_offsets":[0,%d]},`+
		`"tokenizer.joint":{"dtype":"U8","shape":[3],"data_offsets":[%[3]d,%d]}}`, meta, weights/4, weights, weights+3)
	path := filepath.Join(t.TempDir(), "m.safetensors")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	start := append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header...)
	if _, err := file.Write(start); err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteAt([]byte("abc"), int64(len(start))+weights); err != nil {
		t.Skip("needs a file system with large sparse files: ", err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	h, err := LoadHeader(path)
	if err != nil || h.Config != toy() || h.SrcLang != "en" {
		t.Errorf("LoadHeader = %+v, %v, want %+v in en", h, err, toy())
	}
	f, _, err := LoadWithoutWeights(path)
	if err != nil || string(f.Tokenizers["joint"]) != "abc" {
		t.Errorf("tokenizers %q, %v, want abc", f.Tokenizers, err)
	}
	// The page cache holds the pages touched and the operating system's read-ahead.
	const limit = 16 << 20
	if n := cachedBytes(t, path); n > limit {
		t.Errorf("%d bytes of the file in the page cache, want at most %d", n, limit)
	}
}

// cachedBytes returns the number of bytes of a file in the page cache.
func cachedBytes(t *testing.T, path string) int {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	content, err := syscall.Mmap(int(file.Fd()), 0, int(info.Size()), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Munmap(content)
	pageSize := os.Getpagesize()
	resident := make([]byte, (len(content)+pageSize-1)/pageSize)
	_, _, errno := syscall.Syscall(syscall.SYS_MINCORE, uintptr(unsafe.Pointer(&content[0])), uintptr(len(content)), uintptr(unsafe.Pointer(&resident[0])))
	if errno != 0 {
		t.Skip("needs mincore: ", errno)
	}
	pages := 0
	for _, r := range resident {
		pages += int(r & 1)
	}
	return pages * pageSize
}
