package safetensors

import (
	"fmt"
	"io"
	"math"
	"os"
	"runtime/debug"
)

// File is an open safetensors file. Its methods except Close are safe for
// concurrent use.
type File struct {
	header
	path      string
	content   []byte // the whole file
	dataStart int    // lengthBytes + N
	release   func() error
}

// Open maps the file into memory, or reads it if the system cannot map files,
// and checks everything except the checksum, because [File.Verify] must read all
// data for it. Errors name the file, the tensor, what was found and what was
// expected.
//
// The file must not be truncated or overwritten in place while it is open.
// Replacing it by a rename, as [WriteAtomic] does, is safe.
func Open(path string) (*File, error) {
	osFile, size, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer osFile.Close()
	content, release, err := load(osFile, size)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	f := &File{path: path, content: content, release: release}
	if err := guard(f.parse); err != nil {
		release()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// openRegular opens a regular file and returns its size.
func openRegular(path string) (*os.File, int, error) {
	// Stat before opening: opening a pipe would wait for its writer.
	if info, err := os.Stat(path); err != nil {
		return nil, 0, err
	} else if !info.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("%s: found a %s, expected a regular file", path, kind(info))
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	info, err := file.Stat()
	if err == nil && info.Size() > math.MaxInt {
		err = fmt.Errorf("%s: found %d bytes, expected at most %d on this machine", path, info.Size(), math.MaxInt)
	}
	if err != nil {
		file.Close()
		return nil, 0, err
	}
	return file, int(info.Size()), nil
}

func (f *File) parse() error {
	n, err := headerLength(f.content, len(f.content))
	if err != nil {
		return err
	}
	f.dataStart = lengthBytes + n
	data := f.content[f.dataStart:]
	h, err := parseHeader(f.content[lengthBytes:f.dataStart], len(data))
	if err != nil {
		return err
	}
	f.header = *h
	for i := range f.entries {
		e := &f.entries[i]
		e.tensor.Data = data[e.begin:e.end:e.end]
	}
	return nil
}

// Close unmaps the file, after which the Data of its tensors must not be
// accessed. A second Close does nothing.
func (f *File) Close() error {
	release := f.release
	f.release = func() error { return nil }
	f.content, f.entries, f.index = nil, nil, nil
	if err := release(); err != nil {
		return fmt.Errorf("%s: %w", f.path, err)
	}
	return nil
}

// readWhole is load without mapping.
func readWhole(f *os.File, size int) ([]byte, func() error, error) {
	content := make([]byte, size)
	if _, err := io.ReadFull(f, content); err != nil {
		return nil, nil, err
	}
	return content, func() error { return nil }, nil
}

// guard runs read and returns a memory fault in a mapped file as an error. The
// causes are a failing disk and a file that was truncated while open.
func guard(read func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		r := recover()
		if r == nil {
			return
		}
		fault, ok := r.(interface {
			error
			Addr() uintptr
		})
		if !ok {
			panic(r)
		}
		err = fmt.Errorf("reading the mapped file failed (disk error, or truncated while open): %w", fault)
	}()
	return read()
}

func kind(info os.FileInfo) string {
	if info.IsDir() {
		return "directory"
	}
	return "special file (" + info.Mode().Type().String() + ")"
}
