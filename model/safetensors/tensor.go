package safetensors

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"unsafe"
)

// dtypeBits is the size of one element, from the Dtype enumeration of the
// safetensors library 0.8.
var dtypeBits = map[string]uint64{
	"F4": 4, "F6_E2M3": 6, "F6_E3M2": 6,
	"BOOL": 8, "U8": 8, "I8": 8,
	"F8_E5M2": 8, "F8_E4M3": 8, "F8_E8M0": 8, "F8_E4M3FNUZ": 8, "F8_E5M2FNUZ": 8,
	"I16": 16, "U16": 16, "F16": 16, "BF16": 16,
	"I32": 32, "U32": 32, "F32": 32,
	"C64": 64, "F64": 64, "I64": 64, "U64": 64,
}

// Tensor is a named array in the file's own representation.
type Tensor struct {
	Name  string
	DType string // as in the file: "F32", "BF16", "U8", …
	Shape []int  // row-major; [] is a scalar
	// Data holds the elements, little-endian. In a Tensor from Open it is nil, and
	// from Map a read-only view of the mapped file. A write to it ends the program,
	// as does a read after File.Close, of a file that was truncated, or from a
	// failing disk. Float32s, Int32s and Bytes return errors for the last two.
	Data []byte

	file  *File // of Open or Map, or nil
	begin int   // in its data
}

// Part returns elements [lo, lo+n) of t, in row-major order, as a tensor of one dimension. It
// panics if t does not have them, or if its dtype has no whole bytes.
func (t Tensor) Part(lo, n int) Tensor {
	size, err := byteSize(t.DType, t.Shape)
	elementBytes := int(dtypeBits[t.DType] / 8)
	if err != nil || lo < 0 || n < 0 || elementBytes == 0 || lo > size/elementBytes-n {
		panic(fmt.Sprintf("safetensors: elements [%d, %d) of tensor %.80q, %s of shape %s", lo, lo+n, t.Name, t.DType, shapeText(t.Shape)))
	}
	t.begin += lo * elementBytes
	if t.Data != nil {
		t.Data = t.Data[lo*elementBytes:][:n*elementBytes]
	}
	t.Shape = []int{n}
	return t
}

// bytes returns the size of t, and an error if Data has another one.
func (t *Tensor) bytes() (int, error) {
	size, err := byteSize(t.DType, t.Shape)
	if inFile := t.Data == nil && t.file != nil; err == nil && !inFile && len(t.Data) != size {
		err = fmt.Errorf("found %d bytes, expected %d for %s of shape %s", len(t.Data), size, t.DType, shapeText(t.Shape))
	}
	return size, err
}

// read fills dst with the bytes of t from lo on.
func (t *Tensor) read(dst []byte, lo int) error {
	if t.Data == nil && t.file != nil {
		return t.file.readData(dst, t.begin+lo)
	}
	return guard(func() error { copy(dst, t.Data[lo:]); return nil })
}

// byteSize returns Π shape · size of dtype in bytes. It checks the product of the
// nonzero dimensions for overflow, so any partial product of a valid shape fits
// an int.
func byteSize(dtype string, shape []int) (int, error) {
	elementBits, ok := dtypeBits[dtype]
	if !ok {
		return 0, fmt.Errorf("found dtype %.80q, expected F32, F16, BF16, U8 or another that safetensors defines", dtype)
	}
	total, empty := elementBits, false
	for _, dim := range shape {
		if dim < 0 {
			return 0, fmt.Errorf("found dimension %d in shape %s, expected no negative ones", dim, shapeText(shape))
		}
		if dim == 0 {
			empty = true
			continue
		}
		hi, lo := bits.Mul64(total, uint64(dim))
		if hi != 0 {
			return 0, fmt.Errorf("%s of shape %s overflows", dtype, shapeText(shape))
		}
		total = lo
	}
	if total/8 > math.MaxInt {
		return 0, fmt.Errorf("%s of shape %s overflows", dtype, shapeText(shape))
	}
	if empty {
		return 0, nil
	}
	if total%8 != 0 {
		return 0, fmt.Errorf("%s of shape %s takes %d bits, expected whole bytes", dtype, shapeText(shape), total)
	}
	return int(total / 8), nil
}

// shapeText formats a shape for an error message, truncated to 16 dimensions.
func shapeText(shape []int) string {
	if len(shape) > 16 {
		return fmt.Sprintf("%v… (%d dimensions)", shape[:16], len(shape))
	}
	return fmt.Sprint(shape)
}

// Float32s copies the elements to dst. The conversions from F16 and BF16 are
// exact, that from F64 rounds to nearest. It returns an error that names the
// tensor for other dtypes, if dst or Data does not have the length of the shape,
// and if the file cannot be read. It works on hosts of either byte order.
func (t Tensor) Float32s(dst []float32) error {
	if err := t.float32s(dst); err != nil {
		return fmt.Errorf("tensor %.80q: %w", t.Name, err)
	}
	return nil
}

func (t *Tensor) float32s(dst []float32) error {
	decode, err := decoderOf(t.DType)
	if err != nil {
		return err
	}
	bytes, err := t.bytes()
	if err != nil {
		return err
	}
	elementBytes := int(dtypeBits[t.DType] / 8)
	if n := bytes / elementBytes; len(dst) != n {
		return fmt.Errorf("found %d elements in shape %s, expected %d", n, shapeText(t.Shape), len(dst))
	}
	switch {
	case t.DType == "F32" && littleEndian:
		return t.read(bytesOf(dst), 0)
	case t.Data != nil:
		return guard(func() error { decode(dst, t.Data); return nil })
	}
	buf := make([]byte, min(bytes, readChunk))
	for lo := 0; lo < bytes; lo += len(buf) {
		part := buf[:min(len(buf), bytes-lo)]
		if err := t.read(part, lo); err != nil {
			return err
		}
		decode(dst[lo/elementBytes:][:len(part)/elementBytes], part)
	}
	return nil
}

// decoderOf returns the conversion of elements of a dtype to float32.
func decoderOf(dtype string) (func([]float32, []byte), error) {
	switch dtype {
	case "F32":
		return decodeF32, nil
	case "F16":
		return decodeF16, nil
	case "BF16":
		return decodeBF16, nil
	case "F64":
		return decodeF64, nil
	}
	return nil, fmt.Errorf("found dtype %.80q, expected F32, F16, BF16 or F64", dtype)
}

// View8 returns the elements of an I8 tensor as a view of Data, nil for another
// dtype.
func (t Tensor) View8() []int8 {
	if t.DType != "I8" {
		return nil
	}
	return unsafe.Slice((*int8)(unsafe.Pointer(unsafe.SliceData(t.Data))), len(t.Data))
}

// Int8Tensor returns an I8 tensor for Write whose Data aliases data.
func Int8Tensor(name string, shape []int, data []int8) Tensor {
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(data))), len(data))
	return Tensor{Name: name, DType: "I8", Shape: slices.Clone(shape), Data: bytes}
}

// Int32Tensor returns an I32 tensor of one dimension for Write. Its Data is a copy.
func Int32Tensor(name string, data []int32) Tensor {
	return Tensor{Name: name, DType: "I32", Shape: []int{len(data)}, Data: encode(data)}
}

// Int32s returns a copy of the elements of an I32 tensor. It returns an error that
// names the tensor for another dtype, and if the file cannot be read.
func (t Tensor) Int32s() ([]int32, error) {
	if t.DType != "I32" {
		return nil, fmt.Errorf("tensor %.80q: found dtype %.80q, expected I32", t.Name, t.DType)
	}
	data, err := t.Bytes()
	if err != nil {
		return nil, err
	}
	x := make([]int32, len(data)/4)
	_, err = binary.Decode(data, binary.LittleEndian, x)
	return x, err
}

// Bytes returns a copy of the elements in the file's representation, or an error
// that names the tensor if the file cannot be read.
func (t Tensor) Bytes() ([]byte, error) {
	n, err := t.bytes()
	if err != nil {
		return nil, fmt.Errorf("tensor %.80q: %w", t.Name, err)
	}
	data := make([]byte, n)
	if err := t.read(data, 0); err != nil {
		return nil, fmt.Errorf("tensor %.80q: %w", t.Name, err)
	}
	return data, nil
}

// Float32Tensor returns an F32 tensor for Write. On little-endian hosts its Data
// aliases data, elsewhere it is a copy. Write checks that shape and data agree.
func Float32Tensor(name string, shape []int, data []float32) Tensor {
	t := Tensor{Name: name, DType: "F32", Shape: slices.Clone(shape)}
	if littleEndian {
		t.Data = bytesOf(data)
	} else {
		t.Data = encode(data)
	}
	return t
}

var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// bytesOf returns the memory of x as bytes.
func bytesOf(x []float32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), 4*len(x))
}

// encode returns the elements of x as bytes, little-endian.
func encode[T int32 | float32](x []T) []byte {
	b, err := binary.Append(nil, binary.LittleEndian, x)
	if err != nil {
		panic(err) // cannot happen: a slice of numbers
	}
	return b
}

func decodeF32(dst []float32, src []byte) {
	if _, err := binary.Decode(src, binary.LittleEndian, dst); err != nil {
		panic(err) // src is too short
	}
}

// decodeBF16 widens BF16, the upper half of an F32.
func decodeBF16(dst []float32, src []byte) {
	for i := range dst {
		dst[i] = math.Float32frombits(uint32(binary.LittleEndian.Uint16(src[2*i:])) << 16)
	}
}

func decodeF64(dst []float32, src []byte) {
	for i := range dst {
		dst[i] = float32(math.Float64frombits(binary.LittleEndian.Uint64(src[8*i:])))
	}
}

func decodeF16(dst []float32, src []byte) {
	for i := range dst {
		dst[i] = widenF16(binary.LittleEndian.Uint16(src[2*i:]))
	}
}

// widenF16 converts IEEE 754 binary16: 1 sign bit, 5 exponent bits with bias
// 15, 10 fraction bits. NaNs keep their payload.
func widenF16(h uint16) float32 {
	sign, exp, frac := uint32(h>>15)<<31, uint32(h>>10)&31, uint32(h)&1023
	switch exp {
	case 0: // zero or subnormal: frac · 2^-24, exact in float32
		return math.Float32frombits(sign | math.Float32bits(float32(frac)*0x1p-24))
	case 31:
		return math.Float32frombits(sign | 0xff<<23 | frac<<13)
	}
	return math.Float32frombits(sign | (exp-15+127)<<23 | frac<<13)
}
