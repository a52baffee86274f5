package ctranslate2

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"

	"tfm/model/convert/internal/parts"
	"tfm/model/safetensors"
)

// A model.bin of CTranslate2 is, with little-endian numbers,
//
//	u32 binary version, 1 to 6
//	string name of the specification, u32 its revision            from version 2
//	u32 number of variables; each is
//	    string name, u8 rank, rank × u32 sizes
//	    u8 dtype, u32 bytes                                       from version 4
//	    u8 bytes of an element, u32 elements                      before
//	    the elements
//	u32 number of aliases; each is the strings alias and variable  from version 3
//
// A string is a u16 length that counts a zero byte at its end. A matrix of integers has its scales
// in the variable of its name plus _scale: a scalar for int16, one for each row for int8. The
// elements are integer·(1/scale) in float32. int16 matrices before version 3 may lack the scale,
// which is then 1000.
//
// Source: python/ctranslate2/specs/model_spec.py and src/models/model.cc of CTranslate2 4.8.

const newestVersion = 6 // newest one

// dtypes are the names of the dtypes by their number, and the bytes of an element.
var dtypes = []struct {
	name string
	size int
}{{"float32", 4}, {"int8", 1}, {"int16", 2}, {"int32", 4}, {"float16", 2}, {"bfloat16", 2}}

// modelFile is the content of a model.bin.
type modelFile struct {
	version  int
	spec     string // "" before version 2
	revision int
	vars     map[string]variable
	order    []string
	aliases  [][2]string // alias, variable
}

// variable is a variable of a model.bin.
type variable struct {
	dtype string
	shape []int
	data  []byte // a view of the file
}

// scanner reads the fields of a model.bin. After an error it returns zeros.
type scanner struct {
	data   []byte
	offset int
	err    error
}

// next returns the next n bytes, or nil at the end of the file.
func (s *scanner) next(n int, what string) []byte {
	if s.err == nil && (n < 0 || n > len(s.data)-s.offset) {
		s.err = fmt.Errorf("found %d bytes at offset %d, expected %d of %s", len(s.data)-s.offset, s.offset, n, what)
	}
	if s.err != nil {
		return nil
	}
	s.offset += n
	return s.data[s.offset-n : s.offset : s.offset]
}

// number returns the next number of size bytes.
func (s *scanner) number(size int, what string) int {
	n := 0
	for i, b := range s.next(size, what) {
		n |= int(b) << (8 * i)
	}
	return n
}

func (s *scanner) str(what string) string {
	n := s.number(2, what)
	at := s.offset
	b := s.next(n, what)
	if s.err == nil && (n == 0 || bytes.IndexByte(b, 0) != n-1) {
		s.err = fmt.Errorf("%s at offset %d: found %.40q, expected a string that ends with a zero byte", what, at, b)
	}
	if s.err != nil {
		return ""
	}
	return string(b[:n-1])
}

// parseModelFile reads a model.bin. Its memory is in proportion to the data, which it aliases.
func parseModelFile(data []byte) (*modelFile, error) {
	s := &scanner{data: data}
	b := &modelFile{version: s.number(4, "the binary version"), revision: 1, vars: map[string]variable{}}
	if s.err == nil && (b.version < 1 || b.version > newestVersion) {
		return nil, fmt.Errorf("found binary version %d, expected 1 to %d", b.version, newestVersion)
	}
	if b.version >= 2 {
		b.spec, b.revision = s.str("the name of the specification"), s.number(4, "its revision")
	}
	for n := s.number(4, "the number of variables"); n > 0 && s.err == nil; n-- {
		name := s.str("the name of a variable")
		v, err := s.variable(b.version)
		if s.err != nil {
			break
		}
		if _, ok := b.vars[name]; ok {
			err = fmt.Errorf("found twice")
		}
		if err != nil {
			return nil, fmt.Errorf("tensor %.80q: %w", name, err)
		}
		b.vars[name], b.order = v, append(b.order, name)
	}
	if b.version >= 3 && s.err == nil {
		for n := s.number(4, "the number of aliases"); n > 0 && s.err == nil; n-- {
			b.aliases = append(b.aliases, [2]string{s.str("an alias"), s.str("the variable of an alias")})
		}
	}
	if s.err != nil {
		return nil, s.err
	}
	if left := len(data) - s.offset; left > 0 {
		return nil, fmt.Errorf("found %d bytes after the last field, at offset %d", left, s.offset)
	}
	return b, nil
}

// variable reads a variable after its name.
func (s *scanner) variable(version int) (v variable, err error) {
	rank := s.number(1, "a rank")
	for range rank {
		v.shape = append(v.shape, s.number(4, "a size"))
	}
	dtype, size, bytes := s.number(1, "a dtype"), 0, 0
	switch {
	case version >= 4 && dtype >= len(dtypes):
		err = fmt.Errorf("found dtype %d, expected 0 to %d", dtype, len(dtypes)-1)
	case version >= 4:
		v.dtype, size = dtypes[dtype].name, dtypes[dtype].size
		bytes = s.number(4, "a number of bytes")
	default:
		names := map[int]string{1: "int8", 2: "int16", 4: "float32"}
		if size, v.dtype = dtype, names[dtype]; v.dtype == "" {
			err = fmt.Errorf("found elements of %d bytes, expected 1, 2 or 4", dtype)
		}
		bytes = size * s.number(4, "a number of elements")
	}
	n, ok := parts.Count(v.shape)
	if err == nil && s.err == nil && (!ok || n > math.MaxInt/4 || n*size != bytes) {
		err = fmt.Errorf("found %d bytes of %s, expected those of shape %s", bytes, v.dtype, parts.ShapeText(v.shape))
	}
	if err != nil {
		return v, err
	}
	v.data = s.next(bytes, "elements")
	return v, nil
}

// tensors returns the variables and the aliases. A matrix of integers and its scales are one
// tensor. Revision 1 has the names of OpenNMT-tf, which are changed to the later ones.
func (b *modelFile) tensors(path string, size int64) (*parts.Tensors, error) {
	t := parts.NewTensors(path, size)
	rename := func(name string) string { return name }
	if b.revision == 1 {
		rename = revisionOneName
	}
	for _, name := range b.order {
		v := b.vars[name]
		if weight, ok := strings.CutSuffix(name, "_scale"); ok && isInteger(b.vars[weight].dtype) {
			continue // part of weight
		}
		read, err := b.reader(name, v)
		if err != nil {
			return nil, t.Fail(name, "%v", err)
		}
		t.Add(rename(name), v.dtype, v.shape, read)
	}
	for _, a := range b.aliases {
		v, ok := t.ByName[a[1]]
		if !ok {
			return nil, t.Fail(a[0], "alias of %.80q, which is missing", a[1])
		}
		t.Add(a[0], v.Dtype, v.Shape, v.Read)
	}
	return t, t.Err
}

func isInteger(dtype string) bool { return dtype == "int8" || dtype == "int16" || dtype == "int32" }

// reader returns the function that reads the elements of a variable as float32.
func (b *modelFile) reader(name string, v variable) (func(dst []float32) error, error) {
	switch v.dtype {
	case "float32", "float16", "bfloat16":
		dtype := map[string]string{"float32": "F32", "float16": "F16", "bfloat16": "BF16"}[v.dtype]
		return safetensors.Tensor{Name: name, DType: dtype, Shape: v.shape, Data: v.data}.Float32s, nil
	}
	inverse, err := b.inverseScales(name, v)
	if err != nil {
		return nil, err
	}
	return func(dst []float32) error {
		rows := max(len(inverse), 1)
		for i := range dst {
			var x float32
			switch v.dtype {
			case "int8":
				x = float32(int8(v.data[i]))
			case "int16":
				x = float32(int16(binary.LittleEndian.Uint16(v.data[2*i:])))
			default:
				x = float32(int32(binary.LittleEndian.Uint32(v.data[4*i:])))
			}
			if inverse != nil {
				x *= inverse[i/(len(dst)/rows)]
			}
			dst[i] = x
		}
		return nil
	}, nil
}

// inverseScales returns the reciprocals of the scales of a matrix of integers: one, or one for each
// row. It returns nil for attributes: scalars and strings.
func (b *modelFile) inverseScales(name string, v variable) ([]float32, error) {
	scale, ok := b.vars[name+"_scale"]
	switch {
	case !ok && len(v.shape) < 2:
		return nil, nil
	case !ok && v.dtype == "int16" && b.version < 3:
		const global = 1000
		return []float32{1 / float32(global)}, nil
	case !ok:
		return nil, fmt.Errorf("found %s without a tensor of its scales, expected %.80q", v.dtype, name+"_scale")
	case v.dtype == "int32" || scale.dtype != "float32":
		return nil, fmt.Errorf("found %s with scales of %s, expected int8 or int16 with float32", v.dtype, scale.dtype)
	case len(scale.shape) > 1 || len(scale.shape) == 1 && (len(v.shape) != 2 || scale.shape[0] != v.shape[0]):
		return nil, fmt.Errorf("found shape %s with scales of shape %s, expected one scale or one for each row", parts.ShapeText(v.shape), parts.ShapeText(scale.shape))
	}
	inverse := make([]float32, len(scale.data)/4)
	if err := (safetensors.Tensor{Name: name, DType: "F32", Shape: []int{len(inverse)}, Data: scale.data}).Float32s(inverse); err != nil {
		return nil, err
	}
	for i, x := range inverse {
		if !(x > 0) || math.IsInf(float64(x), 0) {
			return nil, fmt.Errorf("found scale %v at index %d, expected a positive number", x, i)
		}
		inverse[i] = 1 / x
	}
	return inverse, nil
}

// revisionOneName returns the name of revision 2 for one of revision 1.
func revisionOneName(name string) string {
	first := func(from, to string) { name = strings.Replace(name, from, to, 1) }
	first("transformer/", "")
	first(":0", "")
	first("w_embs", "embeddings/weight")
	first("kernel", "weight")
	first("LayerNorm", "layer_norm")
	first("dense", "projection")
	first("conv1d_", "linear_")
	first("conv1d", "linear_0")
	if strings.Contains(name, "encoder") {
		first("multi_head", "self_attention")
	} else if strings.Contains(name, "masked_multi_head") {
		first("masked_multi_head", "self_attention")
	} else {
		first("multi_head", "attention")
	}
	return name
}

// write writes the file in the newest version. Variables must have fewer than 2^32 bytes.
func (b *modelFile) write(w io.Writer) error {
	var out []byte
	str := func(s string) {
		out = binary.LittleEndian.AppendUint16(out, uint16(len(s)+1))
		out = append(append(out, s...), 0)
	}
	u32 := func(n int) { out = binary.LittleEndian.AppendUint32(out, uint32(n)) }
	flush := func(data []byte) error {
		if _, err := w.Write(out); err != nil {
			return err
		}
		out = out[:0]
		_, err := w.Write(data)
		return err
	}
	u32(newestVersion)
	str(b.spec)
	u32(b.revision)
	u32(len(b.order))
	for _, name := range b.order {
		v := b.vars[name]
		str(name)
		out = append(out, byte(len(v.shape)))
		for _, n := range v.shape {
			u32(n)
		}
		for id, d := range dtypes {
			if d.name == v.dtype {
				out = append(out, byte(id))
			}
		}
		if int64(len(v.data)) > math.MaxUint32 {
			return fmt.Errorf("tensor %q: found %d bytes, expected fewer than %d, the limit of the format", name, len(v.data), int64(math.MaxUint32))
		}
		u32(len(v.data))
		if err := flush(v.data); err != nil {
			return err
		}
	}
	u32(len(b.aliases))
	for _, a := range b.aliases {
		str(a[0])
		str(a[1])
	}
	return flush(nil)
}
