package sentencepiece

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Wire types of the protobuf encoding.
const (
	wireVarint  = 0
	wireFixed64 = 1
	wireBytes   = 2
	wireFixed32 = 5
)

// wireNames are the wire types as errors name them.
var wireNames = [8]string{"a varint", "64 bits", "a byte string", "a group", "the end of a group", "32 bits", "wire type 6", "wire type 7"}

// message is embedded in the struct of a message. The struct's other fields have tags: the field's
// number in the file, its name, and "required" if it is always written.
type message struct {
	offset   int // in the file, for errors
	explicit fieldSet
	unknown  []rawField
}

func (m *message) base() *message { return m }

// pointer is a pointer to the struct of a message.
type pointer interface{ base() *message }

// fieldSet is a set of field numbers less than 64, and of decoded.
type fieldSet uint64

// decoded marks a message from a file, which is written without the required fields that it lacks.
const decoded = 0

func (s fieldSet) has(number int) bool { return s>>number&1 == 1 }
func (s *fieldSet) add(number int)     { *s |= 1 << number }

// rawField is an encoded field, with its tag.
type rawField struct {
	number int
	data   []byte
}

// schemaField is a known field of a message.
type schemaField struct {
	number   int
	name     string
	required bool
	index    int // in the struct
}

// schemas are the fields of each type of message by ascending number.
var schemas = map[reflect.Type][]schemaField{
	reflect.TypeFor[Model]():          schemaOf(reflect.TypeFor[Model]()),
	reflect.TypeFor[Piece]():          schemaOf(reflect.TypeFor[Piece]()),
	reflect.TypeFor[TrainerSpec]():    schemaOf(reflect.TypeFor[TrainerSpec]()),
	reflect.TypeFor[NormalizerSpec](): schemaOf(reflect.TypeFor[NormalizerSpec]()),
}

// schemaOf reads the tags of a struct.
func schemaOf(t reflect.Type) []schemaField {
	var schema []schemaField
	for i := range t.NumField() {
		tag, ok := t.Field(i).Tag.Lookup("pb")
		if !ok {
			continue
		}
		number, name, _ := strings.Cut(tag, ",")
		f := schemaField{index: i}
		f.number, _ = strconv.Atoi(number)
		f.name, f.required = strings.CutSuffix(name, ",required")
		schema = append(schema, f)
	}
	slices.SortFunc(schema, func(a, b schemaField) int { return a.number - b.number })
	return schema
}

// IsModel reports whether a file whose first bytes are start can be a .model file. These begin with
// a piece, which begins with its text. Both are shorter than 128 bytes.
func IsModel(start []byte) bool {
	const tag = 1<<3 | wireBytes // of a piece, and of its text
	return len(start) > 4 && start[0] == tag && start[2] == tag && 0 < start[3] && start[3] < start[1] && start[1] < 1<<7 && start[4] != 0
}

// UnmarshalModel decodes a .model file. Untrusted data is safe. UnmarshalModel checks the encoding;
// New checks that the model is consistent. The model does not alias data.
func UnmarshalModel(data []byte) (*Model, error) {
	m := NewModel()
	d := &decoder{data: bytes.Clone(data), name: "model", index: -1}
	if err := d.message(m); err != nil {
		return nil, err
	}
	return m, nil
}

// decoder reads the fields of a message.
type decoder struct {
	data  []byte // the file up to the end of the message
	pos   int    // of the unread part of the message
	name  string // of the message, for errors
	index int    // of a repeated message, or -1
}

// errorf returns an error about a field of the message, or about the message if field is empty.
func (d *decoder) errorf(field string, offset int, format string, args ...any) error {
	in := d.name
	if d.index >= 0 {
		in = fmt.Sprintf("%s[%d]", d.name, d.index)
	}
	if field != "" {
		in += "." + field
	}
	return fmt.Errorf("%s at offset %d: %s", in, offset, fmt.Sprintf(format, args...))
}

// field is a decoded field.
type field struct {
	number int
	wire   int
	start  int    // offset of its tag
	value  uint64 // of a varint or of 32 bits
	body   []byte // of other wire types
}

// message reads the fields into m.
func (d *decoder) message(m pointer) error {
	state, v := m.base(), reflect.ValueOf(m).Elem()
	state.explicit.add(decoded)
	schema := schemas[v.Type()]
	for d.pos < len(d.data) {
		f, err := d.next()
		if err != nil {
			return err
		}
		i, ok := slices.BinarySearchFunc(schema, f.number, func(s schemaField, n int) int { return s.number - n })
		if !ok {
			state.unknown = append(state.unknown, rawField{f.number, d.data[f.start:d.pos:d.pos]})
			continue
		}
		state.explicit.add(f.number)
		if err := d.set(v.Field(schema[i].index).Addr().Interface(), schema[i].name, f); err != nil {
			return err
		}
	}
	return nil
}

// next reads a field.
func (d *decoder) next() (field, error) {
	f := field{start: d.pos}
	tag, err := d.varint("tag", 0)
	if err != nil {
		return f, err
	}
	const maxNumber = 1<<29 - 1
	if n := tag >> 3; n == 0 || n > maxNumber {
		return f, d.errorf("", f.start, "found field number %d, expected 1 to %d", n, maxNumber)
	}
	f.number, f.wire = int(tag>>3), int(tag&7)
	size := uint64(0)
	switch f.wire {
	case wireVarint:
		f.value, err = d.varint("field", f.number)
		return f, err
	case wireFixed64:
		size = 8
	case wireFixed32:
		size = 4
	case wireBytes:
		if size, err = d.varint("length of field", f.number); err != nil {
			return f, err
		}
	default:
		return f, d.errorf("", f.start, "found field %d with %s, expected a varint, 32 bits, 64 bits or a byte string",
			f.number, wireNames[f.wire])
	}
	rest := d.data[d.pos:]
	if size > uint64(len(rest)) {
		return f, d.errorf("", f.start, "found field %d of %d bytes, expected at most the remaining %d",
			f.number, size, len(rest))
	}
	f.body = rest[:size:size]
	if f.wire == wireFixed32 {
		f.value = uint64(binary.LittleEndian.Uint32(f.body))
	}
	d.pos += int(size)
	return f, nil
}

// varint reads a varint. Errors name it by what and the number of its field, if that is not 0.
func (d *decoder) varint(what string, number int) (uint64, error) {
	x, n := binary.Uvarint(d.data[d.pos:])
	if n > 0 {
		d.pos += n
		return x, nil
	}
	problem := "is truncated"
	if n < 0 {
		problem = "exceeds 64 bits"
	}
	if number > 0 {
		what = fmt.Sprintf("%s %d", what, number)
	}
	return 0, d.errorf("", d.pos, "%s %s", what, problem)
}

// set stores f, the field read last, at to, a pointer to the struct's field.
func (d *decoder) set(to any, name string, f field) error {
	wire := wireVarint
	switch v := to.(type) {
	case *[]Piece:
		*v = append(*v, Piece{Type: Normal, message: message{offset: f.start}})
		return d.nested(&(*v)[len(*v)-1], name, len(*v)-1, f)
	case pointer:
		return d.nested(v, name, -1, f)
	case *string, *[]string, *[]byte:
		wire = wireBytes
	case *float32:
		wire = wireFixed32
	}
	if f.wire != wire {
		return d.errorf(name, f.start, "found %s, expected %s", wireNames[f.wire], wireNames[wire])
	}
	expected := "" // of a value out of range
	switch v := to.(type) {
	case *string:
		*v = string(f.body)
	case *[]string:
		*v = append(*v, string(f.body))
	case *[]byte:
		*v = f.body
	case *float32:
		*v = math.Float32frombits(uint32(f.value))
	case *bool:
		if *v = f.value == 1; f.value > 1 {
			expected = "0 or 1"
		}
	case *int32:
		if *v = int32(f.value); int64(*v) != int64(f.value) {
			expected = "32 bits"
		}
	case *ModelType:
		if *v = ModelType(f.value); f.value < uint64(Unigram) || f.value > uint64(Char) {
			expected = "1 to 4"
		}
	case *PieceType:
		if *v = PieceType(f.value); f.value < uint64(Normal) || f.value > uint64(Byte) {
			expected = "1 to 6"
		}
	}
	if expected != "" {
		return d.errorf(name, f.start, "found %d, expected %s", int64(f.value), expected)
	}
	return nil
}

// nested reads the message that f, the field read last, holds into m.
func (d *decoder) nested(m pointer, name string, index int, f field) error {
	body := decoder{d.data[:d.pos], d.pos - len(f.body), name, index}
	if f.wire != wireBytes {
		return body.errorf("", f.start, "found %s, expected a message", wireNames[f.wire])
	}
	return body.message(m)
}

// MarshalBinary encodes the model as a .model file. The error is always nil.
func (m *Model) MarshalBinary() ([]byte, error) {
	size := len(m.Normalizer.PrecompiledCharsmap) + 1<<10
	for i := range m.Pieces {
		size += len(m.Pieces[i].Text) + 16
	}
	return appendMessage(make([]byte, 0, size), m, NewModel()), nil
}

// appendMessage appends the fields of m that are required, explicit, or not the defaults.
func appendMessage(buf []byte, m, defaults pointer) []byte {
	state, v, d := m.base(), reflect.ValueOf(m).Elem(), reflect.ValueOf(defaults).Elem()
	unknown := state.unknown // not yet written
	for _, s := range schemas[v.Type()] {
		for len(unknown) > 0 && unknown[0].number < s.number {
			buf, unknown = append(buf, unknown[0].data...), unknown[1:]
		}
		write := state.explicit.has(s.number) || s.required && !state.explicit.has(decoded)
		buf = s.append(buf, v.Field(s.index), d.Field(s.index), write)
	}
	for _, f := range unknown {
		buf = append(buf, f.data...)
	}
	return buf
}

// append appends the field with value v if write is set or v is not the default.
func (s schemaField) append(buf []byte, v, standard reflect.Value, write bool) []byte {
	appendBytes := func(body []byte) {
		buf = binary.AppendUvarint(buf, uint64(s.number)<<3|wireBytes)
		buf = binary.AppendUvarint(buf, uint64(len(body)))
		buf = append(buf, body...)
	}
	switch x := v.Addr().Interface().(type) {
	case *[]Piece:
		var body []byte
		normal := &Piece{Type: Normal}
		for i := range *x {
			body = appendMessage(body[:0], &(*x)[i], normal)
			appendBytes(body)
		}
		return buf
	case *[]string:
		for _, text := range *x {
			appendBytes([]byte(text))
		}
		return buf
	case pointer:
		if body := appendMessage(nil, x, standard.Addr().Interface().(pointer)); write || len(body) > 0 {
			appendBytes(body)
		}
		return buf
	}
	unset := v.Kind() == reflect.Slice && v.Len() == 0 || v.Comparable() && v.Equal(standard)
	if unset && !write {
		return buf
	}
	appendVarint := func(x uint64) {
		buf = binary.AppendUvarint(binary.AppendUvarint(buf, uint64(s.number)<<3|wireVarint), x)
	}
	switch v.Kind() {
	case reflect.String:
		appendBytes([]byte(v.String()))
	case reflect.Slice:
		appendBytes(v.Bytes())
	case reflect.Float32:
		buf = binary.AppendUvarint(buf, uint64(s.number)<<3|wireFixed32)
		buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(float32(v.Float())))
	case reflect.Int32:
		appendVarint(uint64(v.Int()))
	case reflect.Bool:
		x := uint64(0)
		if v.Bool() {
			x = 1
		}
		appendVarint(x)
	}
	return buf
}
