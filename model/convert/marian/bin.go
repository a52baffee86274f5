package marian

import (
	"encoding/binary"
	"fmt"
	"math"
	"path"
	"strings"

	"tfm/model/convert/internal/parts"
	"tfm/model/safetensors"
)

// configName is the array with the model's configuration in YAML.
const configName = "special:model.yml"

// The first eight bytes of files .bin of Marian: the version of a model, or the magic number of a
// binary shortlist.
const (
	binModel     = 1
	binShortlist = 0xF11A48D5013417F5
)

// The types of items in a model that are read, Marian's numbers.
const (
	binInt8     = 0x101
	binFloat32  = 0x404
	binIntgemm8 = 0x4101
)

// binOtherTypes names types that are not read. The order of the elements of packed ones is that of
// a processor.
var binOtherTypes = map[uint64]string{0x402: "float16", 0x408: "float64", 0x4102: "intgemm16", 0x802: "packed16", 0x1801: "packed8avx2", 0x2801: "packed8avx512"}

// binFile is a model in a file .bin of Marian, which is in memory.
type binFile struct {
	*parts.Tensors
	config []byte // configName
	rest   []byte // not read yet
}

// binItem is an item of a model.
type binItem struct {
	kind, nameLen, rank, size uint64

	name  string
	shape []int
}

// readBin reads the model named name in f: its version, the number of items, of each its type, the
// length of its name, its rank and bytes, then all names, all shapes, padding, and the items. It
// compares every length with the bytes that are left.
func readBin(f parts.Folder, name string) (t *parts.Tensors, config []byte, err error) {
	data, err := f.Read(name)
	if err != nil {
		return nil, nil, err
	}
	b := &binFile{Tensors: parts.NewTensors(f.Name(name), min(int64(len(data)), f.Size)), rest: data}
	if version := b.uint64("version"); version != binModel {
		b.FailFile("found version %d of Marian's format, expected %d", version, binModel)
	}
	items := b.readItems()
	b.take(b.uint64("padding"), "padding")
	for _, item := range items {
		data := b.take(item.size, fmt.Sprintf("item %.80q", item.name))
		if b.Err != nil {
			break
		}
		b.addItem(item, data)
	}
	if b.Err == nil && len(b.rest) > 0 {
		b.FailFile("found %d bytes after the last item, expected none", len(b.rest))
	}
	if b.Err == nil && b.config == nil {
		b.Fail(configName, "missing, expected bytes")
	}
	return b.Tensors, b.config, b.Err
}

// take returns the next n bytes, nil after an error.
func (b *binFile) take(n uint64, what string) []byte {
	if n > uint64(len(b.rest)) {
		b.FailFile("%s: found %d bytes, expected %d", what, len(b.rest), n)
	}
	if b.Err != nil {
		return nil
	}
	data := b.rest[:n:n]
	b.rest = b.rest[n:]
	return data
}

// uint64 returns the next number, 0 after an error.
func (b *binFile) uint64(what string) uint64 {
	if data := b.take(8, what); data != nil {
		return binary.LittleEndian.Uint64(data)
	}
	return 0
}

// readItems reads the descriptions of the items.
func (b *binFile) readItems() []binItem {
	const size = 32 // of the numbers of an item
	n := b.uint64("number of items")
	if n > uint64(len(b.rest)/size) {
		b.FailFile("found %d bytes for %d items, expected %d bytes each", len(b.rest), n, size)
	}
	if b.Err != nil {
		return nil
	}
	items := make([]binItem, n)
	for i := range items {
		item := &items[i]
		item.nameLen, item.kind, item.rank, item.size = b.uint64(""), b.uint64(""), b.uint64(""), b.uint64("")
	}
	for i := range items {
		name := string(b.take(items[i].nameLen, fmt.Sprint("name of item ", i)))
		if b.Err == nil && (name == "" || strings.IndexByte(name, 0) != len(name)-1) {
			b.FailFile("found name %.80q of item %d, expected a NUL at its end only", name, i)
		}
		if b.Err != nil {
			return nil
		}
		items[i].name = name[:len(name)-1]
	}
	for i := range items {
		item := &items[i]
		const maxRank = 8
		if item.rank > maxRank {
			b.Fail(item.name, "found %d dimensions, expected at most %d", item.rank, maxRank)
		}
		dims := b.take(4*item.rank, "shapes")
		for ; len(dims) > 0; dims = dims[4:] {
			item.shape = append(item.shape, int(int32(binary.LittleEndian.Uint32(dims))))
		}
	}
	return items
}

// addItem adds an item whose data is given, with the padding that Marian's allocator adds.
func (b *binFile) addItem(item binItem, data []byte) {
	n, ok := parts.Count(item.shape)
	need := map[uint64]uint64{binInt8: uint64(n), binFloat32: 4 * uint64(n), binIntgemm8: uint64(n) + 4}[item.kind]
	switch name := binOtherTypes[item.kind]; {
	case name != "":
		b.Fail(item.name, "found type %s, which is not read: 'marian-conv -f model.npz -t model.bin --gemm-type intgemm8' or the .npz gives a model that is", name)
	case need == 0 && n > 0:
		b.Fail(item.name, "found type %#x, expected float32 or intgemm8", item.kind)
	case !ok || n > math.MaxInt/8 || uint64(len(data)) < need:
		b.Fail(item.name, "found %d bytes, expected %d for shape %s", len(data), need, parts.ShapeText(item.shape))
	case item.kind == binInt8 && item.name == configName:
		b.config = data[:n]
	case item.kind == binInt8:
		b.Add(item.name, "int8", item.shape, func([]float32) error { return fmt.Errorf("found type int8, expected float32 or intgemm8") })
	case item.kind == binFloat32:
		b.Add(item.name, "float32", item.shape, safetensors.Tensor{DType: "F32", Shape: item.shape, Data: data[:4*n]}.Float32s)
	default:
		b.addIntgemm8(item, data[:n], math.Float32frombits(binary.LittleEndian.Uint32(data[n:])))
	}
}

// addIntgemm8 adds an item whose elements are q/m. Embeddings, and what else has "Wemb" in its
// name, are in the order of their shape [pieces × d], other matrices [in × out] are stored as
// [out × in].
func (b *binFile) addIntgemm8(item binItem, q []byte, m float32) {
	step := 1 / m
	if !(step >= 0x1p-60 && step <= 0x1p60) {
		b.Fail(item.name, "found factor %v of its integers, expected a positive number", m)
		return
	}
	if len(item.shape) != 2 {
		b.Fail(item.name, "found shape %s, expected 2 dimensions", parts.ShapeText(item.shape))
		return
	}
	in, out := item.shape[0], item.shape[1]
	isTable := strings.Contains(item.name, "Wemb")
	err := b.Add(item.name, "intgemm8", item.shape, func(dst []float32) error {
		for i := range dst {
			from := i
			if !isTable {
				from = i%out*in + i/out
			}
			dst[i] = float32(int8(q[from])) * step
		}
		return nil
	})
	if err == nil {
		b.ByName[item.name].Step = step
	}
}

// isModelFile reports whether a file can be a model. One that cannot be read can, so that reading
// it says why.
func isModelFile(f parts.Folder, name string) bool {
	if path.Ext(name) != ".bin" || strings.HasPrefix(name, "lex") {
		return isNpz(name)
	}
	word, err := f.FirstWord(name)
	return err != nil || word == binModel
}
