package torchfile

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
)

// maxDirectory limits the bytes of an archive's directory, which the memory for it is in
// proportion to: more than 100,000 storages.
const maxDirectory = 16 << 20

// legacyMagic is the first pickle of the legacy layout, a number.
var legacyMagic = []byte("\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.")

const legacyVersion = 1001

// storage is the elements of tensors.
type storage struct {
	file   io.ReaderAt
	elem   elementType
	n      int64 // elements, at most maxElements
	offset int64 // of the first one in the file
}

// maxElements is the limit of a storage's elements, of up to 8 bytes.
const maxElements = math.MaxInt64 / 8

func (s *storage) bytes() int64 { return s.n * s.elem.size }

// check returns an error if s is not within a file of size bytes.
func (s *storage) check(key string, size int64) error {
	if s.bytes() > size || s.offset > size-s.bytes() {
		return fmt.Errorf("storage %.40q: found %d bytes at offset %d, expected them in a file of %d bytes", key, s.bytes(), s.offset, size)
	}
	return nil
}

// load returns the object that was saved in r, whose tensors are views.
func load(r io.ReaderAt, size int64) (any, error) {
	if begin := legacyBegin(r); begin > 0 {
		return loadLegacy(r, size, begin)
	}
	a, err := openArchive(r, size)
	if err != nil {
		return nil, err
	}
	return a.load()
}

// archive is the zip layout.
type archive struct {
	r       io.ReaderAt
	size    int64
	folder  string // of all entries, with a slash
	entries map[string]*zip.File
}

// limitedReaderAt fails after left bytes.
type limitedReaderAt struct {
	io.ReaderAt
	left int
}

func (r *limitedReaderAt) ReadAt(p []byte, offset int64) (int, error) {
	if r.left -= len(p); r.left < 0 {
		return 0, fmt.Errorf("found a directory of more than %d bytes, expected a smaller one", maxDirectory)
	}
	return r.ReaderAt.ReadAt(p, offset)
}

// openArchive reads the directory of an archive.
func openArchive(r io.ReaderAt, size int64) (*archive, error) {
	z, err := zip.NewReader(&limitedReaderAt{r, maxDirectory}, size)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	a := &archive{r: r, size: size, entries: map[string]*zip.File{}}
	for _, entry := range z.File {
		if folder, ok := strings.CutSuffix(entry.Name, "/data.pkl"); ok && a.folder == "" && !strings.Contains(folder, "/") {
			a.folder = folder + "/"
		}
	}
	if a.folder == "" {
		return nil, fmt.Errorf("%w: an archive without NAME/data.pkl", ErrFormat)
	}
	for _, entry := range z.File {
		name, ok := strings.CutPrefix(entry.Name, a.folder)
		if a.entries[name] != nil || !ok {
			return nil, fmt.Errorf("found %.80q in the archive, expected each file once in %.80q", entry.Name, a.folder)
		}
		a.entries[name] = entry
	}
	return a, nil
}

// section returns the part of the file with the content of an entry.
func (a *archive) section(name string) (*io.SectionReader, error) {
	entry := a.entries[name]
	if entry == nil {
		return nil, fmt.Errorf("found no %.40q in the archive", name)
	}
	const encrypted = 1
	n := entry.UncompressedSize64
	if entry.Method != zip.Store || entry.CompressedSize64 != n || entry.Flags&encrypted != 0 {
		return nil, fmt.Errorf("found %.40q compressed or encrypted, expected it stored as torch.save does", name)
	}
	offset, err := entry.DataOffset()
	if err != nil {
		return nil, fmt.Errorf("%.40q: %w", name, err)
	}
	if n > uint64(a.size) || offset > a.size-int64(n) {
		return nil, fmt.Errorf("found %d bytes of %.40q at offset %d, expected them in a file of %d bytes", n, name, offset, a.size)
	}
	return io.NewSectionReader(a.r, offset, int64(n)), nil
}

// load reads the pickle.
func (a *archive) load() (any, error) {
	if a.entries["byteorder"] != nil {
		s, err := a.section("byteorder")
		if err != nil {
			return nil, err
		}
		order := make([]byte, len("little"))
		if n, _ := s.ReadAt(order, 0); string(order[:n]) != "little" {
			return nil, fmt.Errorf("found the byte order %q, expected little", order[:n])
		}
	}
	s, err := a.section("data.pkl")
	if err != nil {
		return nil, err
	}
	m := newMachine(a.r, s)
	root, err := m.run()
	if err != nil {
		return nil, fmt.Errorf("data.pkl: %w", err)
	}
	return root, a.locate(m.storages)
}

// locate finds the storages in the file, which must not overlap.
func (a *archive) locate(storages map[string]*storage) error {
	keys := slices.Sorted(maps.Keys(storages))
	for _, key := range keys {
		content, err := a.section("data/" + key)
		if err != nil {
			return err
		}
		s := storages[key]
		if content.Size() != s.bytes() {
			return fmt.Errorf("storage %.40q: found %d bytes, expected %d", key, content.Size(), s.bytes())
		}
		_, s.offset, _ = content.Outer()
	}
	keys = slices.DeleteFunc(keys, func(key string) bool { return storages[key].n == 0 })
	slices.SortFunc(keys, func(a, b string) int { return cmp.Compare(storages[a].offset, storages[b].offset) })
	for i := 1; i < len(keys); i++ {
		last := storages[keys[i-1]]
		if storages[keys[i]].offset < last.offset+last.bytes() {
			return fmt.Errorf("storage %.40q: found an overlap with storage %.40q, expected each in its own part of the file", keys[i], keys[i-1])
		}
	}
	return nil
}

// legacyBegin returns the offset of the second pickle in a file of the legacy layout, 0 for another
// file.
func legacyBegin(r io.ReaderAt) int64 {
	start := make([]byte, len(legacyMagic))
	if r.ReadAt(start, 0); !bytes.Equal(start, legacyMagic) {
		return 0
	}
	return int64(len(legacyMagic))
}

// loadLegacy reads a file of the legacy layout, whose second pickle is at begin.
func loadLegacy(r io.ReaderAt, size, begin int64) (any, error) {
	m := newMachine(r, io.NewSectionReader(r, begin, size-begin))
	var pickles [4]any
	for i, what := range []string{"version", "description of the system", "object", "list of storages"} {
		var err error
		if pickles[i], err = m.run(); err != nil {
			return nil, fmt.Errorf("pickle with the %s: %w", what, err)
		}
	}
	if version, ok := pickles[0].(int64); !ok || version != legacyVersion {
		return nil, fmt.Errorf("found version %v of the legacy layout, expected %d", pickles[0], legacyVersion)
	}
	if system, ok := pickles[1].(*dict); !ok || system.get("little_endian") != true {
		return nil, fmt.Errorf("found a system that is not little-endian, expected one that is")
	}
	keys, ok := pickles[3].(*list)
	if !ok || len(keys.items) != len(m.storages) {
		return nil, fmt.Errorf("found another list of storages than that of the %d in the object", len(m.storages))
	}
	offset := size - m.left
	for _, item := range keys.items {
		key, _ := item.(string)
		s := m.storages[key]
		if s == nil || s.offset != 0 {
			return nil, fmt.Errorf("found storage %.40q unknown or twice, expected each of the object once", key)
		}
		var count [8]byte
		if _, err := io.ReadFull(io.NewSectionReader(r, offset, 8), count[:]); err != nil {
			return nil, fmt.Errorf("storage %.40q: %w", key, err)
		}
		if n := int64(binary.LittleEndian.Uint64(count[:])); n != s.n {
			return nil, fmt.Errorf("storage %.40q: found %d elements, expected %d", key, n, s.n)
		}
		s.offset = offset + 8
		if err := s.check(key, size); err != nil {
			return nil, err
		}
		offset = s.offset + s.bytes()
	}
	return pickles[2], nil
}
