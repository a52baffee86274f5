package parts

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// Folder is the files of a source model, in a folder or in an archive.
type Folder struct {
	Path  string                            // for errors
	Files map[string]func() ([]byte, error) // content by name, with slashes
	Size  int64                             // bytes of the folder or of the archive

	Archived bool
}

// OpenFolder returns the regular files of the folder at path, and of its folders subs. A file
// NAME.gz is also the file NAME, decompressed, if the folder does not have that.
func OpenFolder(path string, subs ...string) (Folder, error) {
	f := Folder{Path: path, Files: map[string]func() ([]byte, error){}}
	for _, sub := range append([]string{"."}, subs...) {
		entries, err := os.ReadDir(filepath.Join(path, sub))
		if err != nil {
			return Folder{}, err
		}
		for _, e := range entries {
			name := filepath.ToSlash(filepath.Join(sub, e.Name()))
			if info, err := os.Stat(f.Name(name)); err == nil && info.Mode().IsRegular() { // follows links
				f.Files[name] = func() ([]byte, error) { return os.ReadFile(f.Name(name)) }
				f.Size += info.Size()
			}
		}
	}
	for name, read := range maps.Clone(f.Files) {
		if plain, ok := strings.CutSuffix(name, ".gz"); ok && !f.Has(plain) {
			f.Files[plain] = sync.OnceValues(func() ([]byte, error) { return gunzip(f.Name(name), read) })
		}
	}
	return f, nil
}

// gunzip returns the content of a compressed file. It refuses more than MaxGrowth times the bytes
// of the file, plus MinMemory.
func gunzip(name string, read func() ([]byte, error)) ([]byte, error) {
	compressed, err := read()
	if err != nil {
		return nil, err
	}
	z, err := gzip.NewReader(bytes.NewReader(compressed))
	if bytes.HasPrefix(compressed, []byte("version https://git-lfs")) {
		err = fmt.Errorf("found a pointer of Git LFS, expected the file: 'git lfs pull' downloads it")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	limit := MaxGrowth*int64(len(compressed)) + MinMemory
	data, err := io.ReadAll(io.LimitReader(z, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("found more than %d bytes in %d, expected less", limit, len(compressed))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return data, nil
}

// FirstWord returns the first eight bytes of a file as a number, 0 if it has fewer.
func (f Folder) FirstWord(name string) (uint64, error) {
	var word [8]byte
	r, size, closer, err := f.Open(name)
	if err != nil {
		return 0, err
	}
	defer closer.Close()
	io.ReadFull(io.NewSectionReader(r, 0, size), word[:])
	return binary.LittleEndian.Uint64(word[:]), nil
}

// Has reports whether the folder has a file of this name.
func (f Folder) Has(name string) bool { return f.Files[name] != nil }

// Read returns the content of a file.
func (f Folder) Read(name string) ([]byte, error) {
	if !f.Has(name) {
		return nil, fmt.Errorf("%s: %w", f.Name(name), os.ErrNotExist)
	}
	return f.Files[name]()
}

// ReadJSON decodes a file into v. It does nothing if an optional file does not exist.
func (f Folder) ReadJSON(name string, optional bool, v any) error {
	if optional && !f.Has(name) {
		return nil
	}
	data, err := f.Read(name)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return fmt.Errorf("%s: %w", f.Name(name), err)
	}
	return nil
}

// Open returns a file for reading at any offset, and its size. One of an archive, or compressed, is
// in memory.
func (f Folder) Open(name string) (r io.ReaderAt, size int64, closer io.Closer, err error) {
	if f.Archived || !IsFile(f.Path, name) {
		data, err := f.Read(name)
		return bytes.NewReader(data), int64(len(data)), io.NopCloser(nil), err
	}
	file, err := os.Open(f.Name(name))
	if err != nil {
		return nil, 0, nil, err
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return nil, 0, nil, err
	}
	return file, info.Size(), file, nil
}

// Name returns the path of a file, for errors.
func (f Folder) Name(name string) string { return filepath.Join(f.Path, name) }

// FileSet is the files of a model that is written. err is the first error of Add and AddJSON.
type FileSet struct {
	Data map[string][]byte
	Err  error
}

// Add adds a file with the content that encode returns.
func (s *FileSet) Add(name string, encode func() ([]byte, error)) {
	data, err := encode()
	s.Data[name], s.Err = data, cmp.Or(s.Err, err)
}

// AddJSON adds a file with v as JSON.
func (s *FileSet) AddJSON(name string, v any) {
	s.Add(name, func() ([]byte, error) { return json.Marshal(v) })
}

// Write writes the files to the folder dir, which it creates, unless there was an error.
func (s *FileSet) Write(dir string) error {
	if s.Err != nil {
		return s.Err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for name, data := range s.Data {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// IsFile reports whether the folder at path has a file of this name.
func IsFile(path, name string) bool {
	info, err := os.Stat(filepath.Join(path, name))
	return err == nil && info.Mode().IsRegular()
}
