package convert

import (
	"archive/zip"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"

	"tfm/model/safetensors"
)

// maxNpyHeader limits the header of an array: NumPy's own limit.
const maxNpyHeader = 10000

// npzFile is an open NumPy archive: a zip file of arrays.
type npzFile struct {
	*tensors
	file   *os.File
	arrays map[string]*npyArray
}

// openNpz opens a NumPy archive and reads the headers of its arrays, float16, float32, float64 or
// bytes. It does not read their elements, which are bounded by the size of the file.
func openNpz(path string) (*npzFile, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	n, err := newNpz(f, path)
	if err != nil {
		f.Close()
		return nil, err
	}
	return n, nil
}

func newNpz(f *os.File, path string) (*npzFile, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: not a regular file", path)
	}
	z, err := zip.NewReader(f, info.Size())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	n := &npzFile{newTensors(path, info.Size()), f, map[string]*npyArray{}}
	for _, entry := range z.File {
		name, ok := strings.CutSuffix(entry.Name, ".npy")
		if !ok {
			return nil, fmt.Errorf("%s: found file %.80q in the archive, expected arrays, NAME.npy", path, entry.Name)
		}
		a, err := readNpyHeader(entry)
		if err != nil {
			return nil, n.fail(name, "%v", err)
		}
		if err := n.add(name, a.descr, a.shape, a.read); err != nil {
			return nil, err
		}
		n.arrays[name] = a
	}
	return n, nil
}

func (n *npzFile) Close() error { return n.file.Close() }

// npyArray is an array of an archive.
type npyArray struct {
	entry  *zip.File
	descr  string // NumPy's name of the type: "<f4"
	shape  []int
	offset int64 // of the first element, in the entry
	size   int   // bytes of an element
}

// npyTypes are the types of arrays with the names of the same types in safetensors.
var npyTypes = map[string]string{"<f2": "F16", "<f4": "F32", "<f8": "F64", "|i1": "I8", "<i1": "I8", "|u1": "U8"}

// readNpyHeader reads the header of an array, and checks that the entry has all elements.
func readNpyHeader(entry *zip.File) (*npyArray, error) {
	r, err := entry.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	start := make([]byte, 8)
	if _, err := io.ReadFull(r, start); err != nil || string(start[:6]) != "\x93NUMPY" {
		return nil, fmt.Errorf("found no array of NumPy")
	}
	lengthBytes := 2
	if version := start[6]; version > 3 || version == 0 {
		return nil, fmt.Errorf("found version %d of NumPy's format, expected 1 to 3", version)
	} else if version > 1 {
		lengthBytes = 4
	}
	var length [4]byte
	if _, err := io.ReadFull(r, length[:lengthBytes]); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint32(length[:])
	if n > maxNpyHeader {
		return nil, fmt.Errorf("found a header of %d bytes, expected at most %d", n, maxNpyHeader)
	}
	header := make([]byte, n)
	if _, err := io.ReadFull(r, header); err != nil {
		return nil, err
	}
	a := &npyArray{entry: entry, offset: int64(8+lengthBytes) + int64(n)}
	if err := a.parse(string(header)); err != nil {
		return nil, err
	}
	elements, ok := count(a.shape)
	if want := uint64(elements)*uint64(a.size) + uint64(a.offset); !ok || elements > math.MaxInt/8 || entry.UncompressedSize64 != want {
		return nil, fmt.Errorf("found %d bytes, expected %d for shape %s of type %s", entry.UncompressedSize64, want, shapeText(a.shape), a.descr)
	}
	return a, nil
}

// npyEntry is an entry of a header, with what stands after it.
var npyEntry = regexp.MustCompile(`^ *'(descr|fortran_order|shape)': *('[^']*'|True|False|\([0-9, ]*\)) *,? *`)

// parse decodes a header, a literal of Python: {'descr': '<f4', 'fortran_order': False, 'shape':
// (2, 3), }.
func (a *npyArray) parse(header string) error {
	fail := fmt.Errorf("found header %.100q, expected descr, fortran_order and shape", header)
	rest, isOpen := strings.CutPrefix(strings.TrimSpace(header), "{")
	rest, isClosed := strings.CutSuffix(rest, "}")
	values := map[string]string{}
	for rest != "" {
		m := npyEntry.FindStringSubmatch(rest)
		if m == nil || values[m[1]] != "" {
			return fail
		}
		values[m[1]], rest = m[2], rest[len(m[0]):]
	}
	if !isOpen || !isClosed || len(values) != 3 || values["descr"][0] != '\'' || values["shape"][0] != '(' {
		return fail
	}
	if values["fortran_order"] != "False" {
		return fmt.Errorf("found header %.100q, expected fortran_order False", header)
	}
	a.descr = strings.Trim(values["descr"], "'")
	for dim := range strings.SplitSeq(strings.Trim(values["shape"], "()"), ",") {
		if dim = strings.TrimSpace(dim); dim == "" {
			continue
		}
		n, err := strconv.ParseUint(dim, 10, 40)
		if err != nil || len(a.shape) == 32 {
			return fail
		}
		a.shape = append(a.shape, int(n))
	}
	switch npyTypes[a.descr] {
	case "":
		return fmt.Errorf("found type %.20q, expected <f4, <f2, <f8 or bytes", a.descr)
	case "F64":
		a.size = 8
	case "F32":
		a.size = 4
	case "F16":
		a.size = 2
	default:
		a.size = 1
	}
	return nil
}

// bytes returns the elements as stored. Their number must have been compared with the file's size.
func (a *npyArray) bytes() ([]byte, error) {
	data, err := readEntry(a.entry, a.entry.UncompressedSize64)
	if err != nil {
		return nil, err
	}
	return data[a.offset:], nil
}

// read sets dst to the elements.
func (a *npyArray) read(dst []float32) error {
	if a.size == 1 {
		return fmt.Errorf("found type %s, expected <f4, <f2 or <f8", a.descr)
	}
	data, err := a.bytes()
	if err != nil {
		return err
	}
	if a.size == 8 {
		for i := range dst {
			dst[i] = float32(math.Float64frombits(binary.LittleEndian.Uint64(data[8*i:])))
		}
		return nil
	}
	return safetensors.Tensor{DType: npyTypes[a.descr], Shape: a.shape, Data: data}.Float32s(dst)
}

// text takes the named array of bytes.
func (n *npzFile) text(name string) ([]byte, error) {
	a := n.arrays[name]
	switch {
	case a == nil:
		return nil, n.fail(name, "missing")
	case a.size != 1:
		return nil, n.fail(name, "found type %s, expected bytes", a.descr)
	}
	n.skip(name)
	data, err := a.bytes()
	if err != nil {
		return nil, n.fail(name, "%v", err)
	}
	return data, nil
}
