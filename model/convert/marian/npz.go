package marian

import (
	"archive/zip"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"path"
	"regexp"
	"strconv"
	"strings"

	"tfm/model/convert/internal/parts"
	"tfm/model/safetensors"
)

const modelFile = "model.npz"

// isNpz reports whether a file can be a model in NumPy's format.
func isNpz(name string) bool {
	return path.Ext(name) == ".npz" && !strings.HasSuffix(name, ".optimizer.npz")
}

// maxNpyHeader limits the header of an array: NumPy's own limit.
const maxNpyHeader = 10000

// openNpz opens a NumPy archive in f, a zip file of arrays, and reads the headers of its arrays,
// float16, float32, float64 or bytes, and the configuration. It does not read other elements, which
// are bounded by the size of the file, or of the archive that the file is in.
func openNpz(f parts.Folder, name string) (t *parts.Tensors, config []byte, closer io.Closer, err error) {
	r, size, closer, err := f.Open(name)
	if err != nil {
		return nil, nil, nil, err
	}
	t = parts.NewTensors(f.Name(name), min(size, f.Size))
	z, err := zip.NewReader(r, size)
	if err != nil {
		t.FailFile("%v", err)
	} else {
		config = addArrays(t, z)
	}
	if t.Err != nil {
		closer.Close()
	}
	return t, config, closer, t.Err
}

// addArrays adds the arrays of an archive, and returns the content of the configuration.
func addArrays(t *parts.Tensors, z *zip.Reader) (config []byte) {
	for _, entry := range z.File {
		name, ok := strings.CutSuffix(entry.Name, ".npy")
		if !ok {
			t.FailFile("found file %.80q in the archive, expected arrays, NAME.npy", entry.Name)
			return nil
		}
		a, err := readNpyHeader(entry)
		if err != nil {
			t.Fail(name, "%v", err)
			return nil
		}
		if t.Add(name, a.descr, a.shape, a.read); name == configName && t.Err == nil {
			t.Skip(name)
			if a.size != 1 {
				t.Fail(name, "found type %s, expected bytes", a.descr)
			} else if config, err = a.bytes(); err != nil {
				t.Fail(name, "%v", err)
			}
		}
		if t.Err != nil {
			return nil
		}
	}
	if config == nil {
		t.Fail(configName, "missing, expected bytes")
	}
	return config
}

// npyArray is an array of an archive.
type npyArray struct {
	entry  *zip.File
	descr  string // NumPy's name of the type: "<f4"
	shape  []int
	offset int // of the first element, in the entry
	size   int // bytes of an element
}

// npyTypes are the types of arrays: the name of the type in safetensors, and the bytes of an
// element.
var npyTypes = map[string]struct {
	dtype string
	size  int
}{"<f2": {"F16", 2}, "<f4": {"F32", 4}, "<f8": {"F64", 8}, "|i1": {"I8", 1}, "<i1": {"I8", 1}, "|u1": {"U8", 1}}

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
	version, length := start[6], make([]byte, 4)
	if version < 1 || version > 3 {
		return nil, fmt.Errorf("found version %d of NumPy's format, expected 1 to 3", version)
	}
	lengthBytes := 4
	if version == 1 {
		lengthBytes = 2
	}
	if _, err := io.ReadFull(r, length[:lengthBytes]); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint32(length)
	if n > maxNpyHeader {
		return nil, fmt.Errorf("found a header of %d bytes, expected at most %d", n, maxNpyHeader)
	}
	header := make([]byte, n)
	if _, err := io.ReadFull(r, header); err != nil {
		return nil, err
	}
	a := &npyArray{entry: entry, offset: 8 + lengthBytes + int(n)}
	if err := a.parse(string(header)); err != nil {
		return nil, err
	}
	elements, ok := parts.Count(a.shape)
	if want := uint64(elements)*uint64(a.size) + uint64(a.offset); !ok || elements > math.MaxInt/8 || entry.UncompressedSize64 != want {
		return nil, fmt.Errorf("found %d bytes, expected %d for shape %s of type %s", entry.UncompressedSize64, want, parts.ShapeText(a.shape), a.descr)
	}
	return a, nil
}

// npyField is a key and value of a header with the comma after it.
var npyField = regexp.MustCompile(`^\s*'([a-z_]+)'\s*:\s*('[^']*'|True|False|\([0-9, ]*\))\s*(,\s*|$)`)

// npyFields returns the values of a header by key: those of a dict literal of Python in any order,
// {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }. It returns false for another text.
func npyFields(header string) (fields map[string]string, ok bool) {
	rest, begins := strings.CutPrefix(strings.TrimSpace(header), "{")
	rest, ends := strings.CutSuffix(rest, "}")
	fields = map[string]string{}
	for rest != "" {
		m := npyField.FindStringSubmatch(rest)
		if m == nil || fields[m[1]] != "" {
			return nil, false
		}
		fields[m[1]], rest = m[2], rest[len(m[0]):]
	}
	return fields, begins && ends
}

// parse decodes a header.
func (a *npyArray) parse(header string) error {
	fail := fmt.Errorf("found header %.100q, expected descr, fortran_order and shape", header)
	fields, ok := npyFields(header)
	order := fields["fortran_order"]
	descr, isType := strings.CutPrefix(fields["descr"], "'")
	shape, isShape := strings.CutPrefix(fields["shape"], "(")
	switch {
	case !ok || len(fields) != 3 || !isType || !isShape || order == "":
		return fail
	case order != "False":
		return fmt.Errorf("found header %.100q, expected fortran_order False", header)
	}
	a.descr = strings.TrimSuffix(descr, "'")
	if a.size = npyTypes[a.descr].size; a.size == 0 {
		return fmt.Errorf("found type %.20q, expected <f4, <f2, <f8 or bytes", a.descr)
	}
	for _, dim := range strings.FieldsFunc(shape, func(c rune) bool { return c == ',' || c == ' ' || c == ')' }) {
		n, err := strconv.ParseUint(dim, 10, 40)
		if err != nil || len(a.shape) == 32 {
			return fail
		}
		a.shape = append(a.shape, int(n))
	}
	return nil
}

// bytes returns the elements as stored. Their number must have been compared with the file's size.
func (a *npyArray) bytes() ([]byte, error) {
	data, err := parts.ReadEntry(a.entry)
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
	return safetensors.Tensor{DType: npyTypes[a.descr].dtype, Shape: a.shape, Data: data}.Float32s(dst)
}
