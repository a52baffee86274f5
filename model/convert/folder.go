package convert

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

// folder is the files of a source model, in a folder or in an archive.
type folder struct {
	path  string                            // for errors
	files map[string]func() ([]byte, error) // content by name, with slashes
	size  int64                             // bytes of the folder or of the archive

	archived bool
}

// openFolder returns the regular files of the folder at path, without those of folders in it. A
// file NAME.gz is also the file NAME, decompressed, if the folder does not have that.
func openFolder(path string) (folder, error) {
	entries, err := os.ReadDir(path)
	if err != nil {
		return folder{}, err
	}
	f := folder{path: path, files: map[string]func() ([]byte, error){}}
	for _, e := range entries {
		file := filepath.Join(path, e.Name())
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() { // follows links
			f.files[e.Name()] = func() ([]byte, error) { return os.ReadFile(file) }
			f.size += info.Size()
		}
	}
	for name, read := range maps.Clone(f.files) {
		if plain, ok := strings.CutSuffix(name, ".gz"); ok && !f.has(plain) {
			f.files[plain] = sync.OnceValues(func() ([]byte, error) { return gunzip(f.name(name), read) })
		}
	}
	return f, nil
}

// gunzip returns the content of a compressed file. It refuses more than maxGrowth times the bytes
// of the file, plus minMemory.
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
	limit := maxGrowth*int64(len(compressed)) + minMemory
	data, err := io.ReadAll(io.LimitReader(z, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("found more than %d bytes in %d, expected less", limit, len(compressed))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return data, nil
}

// firstWord returns the first eight bytes of a file as a number, 0 if it has fewer.
func (f folder) firstWord(name string) (uint64, error) {
	var word [8]byte
	r, size, closer, err := f.open(name)
	if err != nil {
		return 0, err
	}
	defer closer.Close()
	io.ReadFull(io.NewSectionReader(r, 0, size), word[:])
	return binary.LittleEndian.Uint64(word[:]), nil
}

// has reports whether the folder has a file of this name.
func (f folder) has(name string) bool { return f.files[name] != nil }

// read returns the content of a file.
func (f folder) read(name string) ([]byte, error) {
	if !f.has(name) {
		return nil, fmt.Errorf("%s: %w", f.name(name), os.ErrNotExist)
	}
	return f.files[name]()
}

// readJSON decodes a file into v. It does nothing if an optional file does not exist.
func (f folder) readJSON(name string, optional bool, v any) error {
	if optional && !f.has(name) {
		return nil
	}
	data, err := f.read(name)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return fmt.Errorf("%s: %w", f.name(name), err)
	}
	return nil
}

// open returns a file for reading at any offset, and its size. One of an archive, or compressed, is
// in memory.
func (f folder) open(name string) (r io.ReaderAt, size int64, closer io.Closer, err error) {
	if f.archived || !isFile(f.path, name) {
		data, err := f.read(name)
		return bytes.NewReader(data), int64(len(data)), io.NopCloser(nil), err
	}
	file, err := os.Open(f.name(name))
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

// name returns the path of a file, for errors.
func (f folder) name(name string) string { return filepath.Join(f.path, name) }

// fileSet is the files of a model that is written. err is the first error of add and addJSON.
type fileSet struct {
	data map[string][]byte
	err  error
}

// add adds a file with the content that encode returns.
func (s *fileSet) add(name string, encode func() ([]byte, error)) {
	data, err := encode()
	s.data[name], s.err = data, cmp.Or(s.err, err)
}

// addJSON adds a file with v as JSON.
func (s *fileSet) addJSON(name string, v any) {
	s.add(name, func() ([]byte, error) { return marshalReadable(v) })
}

// write writes the files to the folder dir, which it creates, unless there was an error.
func (s *fileSet) write(dir string) error {
	if s.err != nil {
		return s.err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for name, data := range s.data {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
			return err
		}
	}
	return nil
}
