package safetensors

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"runtime/debug"
	"sync"
)

// File is an open safetensors file. Its methods except Close, and those of its tensors, are safe
// for concurrent use.
type File struct {
	header
	path    string
	prefix  []byte   // header length and header
	file    *os.File // nil if the file is mapped
	content []byte   // the whole file, if it is mapped
	release func() error

	// Data [0, summed) has the checksum crc: what was read in order need not be read again.
	sum    sync.Mutex
	crc    uint32
	summed int
}

// readChunk is the number of bytes that are read and then summed while they are in cache.
const readChunk = 1 << 16

// Open opens a file and checks everything except the checksum, because [File.Verify] must read all
// data for it. Errors name the file, the tensor, what was found and what was expected. The tensors
// have no Data: their methods read the file, so that one that is truncated meanwhile gives an
// ordinary error, and none of it stays in memory. A file that is replaced by a rename, as
// [WriteAtomic] does, keeps its content until Close.
func Open(path string) (*File, error) {
	file, size, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	f := &File{path: path, file: file, release: file.Close}
	if err := f.readHeader(size); err != nil {
		file.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// readHeader reads and parses the header of a file of size bytes.
func (f *File) readHeader(size int) error {
	f.prefix = make([]byte, min(size, lengthBytes))
	if err := f.readAt(f.prefix, 0); err != nil {
		return err
	}
	n, err := headerLength(f.prefix, size)
	if err != nil {
		return err
	}
	f.prefix = append(make([]byte, 0, lengthBytes+n), f.prefix...)[:lengthBytes+n]
	if err := f.readAt(f.prefix[lengthBytes:], lengthBytes); err != nil {
		return err
	}
	return f.parse(size - len(f.prefix))
}

// parse parses the header of a file with dataLen bytes of data.
func (f *File) parse(dataLen int) error {
	h, err := parseHeader(f.prefix[lengthBytes:], dataLen)
	if err != nil {
		return err
	}
	f.header = *h
	for i := range f.entries {
		e := &f.entries[i]
		e.tensor.file, e.tensor.begin = f, e.begin
	}
	return nil
}

// Map is Open, but the file is mapped into memory, or read if the system cannot map files, and the
// tensors have Data. It must not be truncated or overwritten in place while it is open. Replacing
// it by a rename is safe.
func Map(path string) (*File, error) {
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
	if err := guard(f.parseMapped); err != nil {
		release()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

func (f *File) parseMapped() error {
	n, err := headerLength(f.content, len(f.content))
	if err != nil {
		return err
	}
	f.prefix = f.content[:lengthBytes+n]
	data := f.content[lengthBytes+n:]
	if err := f.parse(len(data)); err != nil {
		return err
	}
	for i := range f.entries {
		e := &f.entries[i]
		e.tensor.Data = data[e.begin:e.end:e.end]
	}
	return nil
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

// readData fills dst with data from offset at on. What follows the data that has been read so far
// is added to the checksum.
func (f *File) readData(dst []byte, at int) error {
	for len(dst) > 0 {
		chunk := dst[:min(len(dst), readChunk)]
		if err := f.readAt(chunk, len(f.prefix)+at); err != nil {
			return err
		}
		f.sum.Lock()
		if at == f.summed {
			f.crc = crc32.Update(f.crc, castagnoli, chunk)
			f.summed += len(chunk)
		}
		f.sum.Unlock()
		dst, at = dst[len(chunk):], at+len(chunk)
	}
	return nil
}

// summedData returns the number of bytes of data that the checksum has.
func (f *File) summedData() int {
	f.sum.Lock()
	defer f.sum.Unlock()
	return f.summed
}

// readAt fills dst from offset at on of the file.
func (f *File) readAt(dst []byte, at int) error {
	if f.content != nil {
		return guard(func() error { copy(dst, f.content[at:]); return nil })
	}
	if f.file == nil {
		return errors.New("file is closed")
	}
	if _, err := f.file.ReadAt(dst, int64(at)); errors.Is(err, io.EOF) {
		return errors.New("the file ends before its size: truncated while open")
	} else if err != nil {
		return err
	}
	return nil
}

// dataLen returns the number of bytes of all tensors.
func (h *header) dataLen() int {
	if n := len(h.entries); n > 0 {
		return h.entries[n-1].end
	}
	return 0
}

// Close closes or unmaps the file, after which the Data of its tensors must not be accessed. A
// second Close does nothing.
func (f *File) Close() error {
	release := f.release
	f.release = func() error { return nil }
	f.content, f.file, f.entries, f.index = nil, nil, nil, nil
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
