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

// Everything that is read from a mapped file whose end somebody cut off is an error that names the
// file, whatever was verified before. A fault outside of what safetensors guards would end the
// program.
func TestTruncatedWhileRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.safetensors")
	for name, read := range map[string]func(s *safetensors.File) error{
		"weights": func(s *safetensors.File) error {
			_, err := readFile(s, false)
			return err
		},
		"tokenizers": func(s *safetensors.File) error {
			_, err := readTokenizers(s)
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
			defer func() {
				if r := recover(); r != nil {
					if _, ok := r.(interface{ Addr() uintptr }); ok {
						panic(r)
					}
					t.Skip("this machine reports a fault without its address: ", r) // qemu-user for arm64
				}
			}()
			if err := read(s); err == nil || !strings.Contains(err.Error(), "reading the mapped file failed") {
				t.Errorf("error %v, expected one of reading the mapped file", err)
			}
		})
	}
}

// LoadHeader and LoadTokenizers read the header and the tokenizers of a file of 16 GB, most of
// which is a hole, and touch no page of the weights.
func TestHeaderAndTokenizersAreReadAlone(t *testing.T) {
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
		t.Skip("no such large files: ", err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	h, err := LoadHeader(path)
	if err != nil || h.Config != toy() || h.SrcLang != "en" {
		t.Errorf("header %+v, %v", h, err)
	}
	tokenizers, err := LoadTokenizers(path)
	if err != nil || string(tokenizers["joint"]) != "abc" {
		t.Errorf("tokenizers %q, %v, expected abc", tokenizers, err)
	}
	// What was touched is in the page cache, and what the kernel read ahead of it.
	const most = 16 << 20
	if n := cachedBytes(t, path); n > most {
		t.Errorf("%d bytes of the file were read, expected at most %d", n, most)
	}
}

// cachedBytes returns how much of a file is in the page cache, in bytes.
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
		t.Skip("no mincore here: ", errno)
	}
	pages := 0
	for _, r := range resident {
		pages += int(r & 1)
	}
	return pages * pageSize
}
