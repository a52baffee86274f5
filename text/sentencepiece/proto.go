package sentencepiece

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"slices"
)

// Wire types of the protobuf encoding.
const (
	wireVarint  = 0
	wireFixed64 = 1
	wireBytes   = 2
	wireFixed32 = 5
)

// The fields of a model.
const (
	piecesField       = 1
	trainerField      = 2
	normalizerField   = 3
	denormalizerField = 5
)

// wireNames are the wire types as errors name them.
var wireNames = [8]string{"a varint", "64 bits", "a byte string", "a group", "the end of a group", "32 bits", "wire type 6", "wire type 7"}

// fieldSet is a set of field numbers less than 64.
type fieldSet uint64

func (s fieldSet) has(number int) bool { return s>>number&1 == 1 }
func (s *fieldSet) add(number int)     { *s |= 1 << number }

// rawField is an encoded field, with its tag.
type rawField struct {
	number int
	data   []byte
}

// IsModel reports whether a file whose first 16 bytes are start can be a .model file. These begin
// with a piece, which begins with its text.
func IsModel(start []byte) bool {
	const tag = 1<<3 | wireBytes // of a piece, and of its text
	if len(start) == 0 || start[0] != tag {
		return false
	}
	pieceLen, n := binary.Uvarint(start[1:])
	if n <= 0 {
		return false
	}
	piece := start[1+n:]
	if len(piece) == 0 || piece[0] != tag {
		return false
	}
	textLen, n := binary.Uvarint(piece[1:])
	if n <= 0 || textLen == 0 || textLen >= pieceLen || len(piece) == 1+n {
		return false
	}
	return piece[1+n] != 0
}

// UnmarshalModel decodes a .model file. Untrusted data is safe. UnmarshalModel checks the encoding;
// New checks that the model is consistent. The model does not alias data.
func UnmarshalModel(data []byte) (*Model, error) {
	m := NewModel()
	m.decoded = true
	d := &decoder{data: bytes.Clone(data), name: messageName{"model", -1}}
	d.end = len(d.data)
	trainer, normalizer, denormalizer := m.Trainer.settings(), m.Normalizer.settings(), m.Denormalizer.settings()
	err := d.message(func(f field) (bool, error) {
		switch f.number {
		case piecesField:
			return true, m.addPiece(f)
		case trainerField:
			m.explicit.add(f.number)
			return true, f.decode(trainer, &m.Trainer.explicit, &m.Trainer.unknown)
		case normalizerField:
			m.explicit.add(f.number)
			return true, f.decode(normalizer, &m.Normalizer.explicit, &m.Normalizer.unknown)
		case denormalizerField:
			m.explicit.add(f.number)
			return true, f.decode(denormalizer, &m.Denormalizer.explicit, &m.Denormalizer.unknown)
		}
		return false, nil
	}, &m.unknown)
	if err != nil {
		return nil, err
	}
	return m, nil
}

// MarshalBinary encodes the model as a .model file. The error is always nil.
func (m *Model) MarshalBinary() ([]byte, error) {
	size := 0
	for i := range m.Pieces {
		size += len(m.Pieces[i].Text) + 16
	}
	e := &encoder{buf: make([]byte, 0, size+len(m.Normalizer.PrecompiledCharsmap)+1<<10), unknown: m.unknown}
	var body encoder
	for i := range m.Pieces {
		p := &m.Pieces[i]
		body = encoder{buf: body.buf[:0], unknown: p.unknown}
		body.settings(p.settings(), p.defaults(), p.explicit)
		e.bytes(piecesField, body.buf)
	}
	spec := func(number int, s, defaults []setting, explicit fieldSet, unknown []rawField) {
		body = encoder{buf: body.buf[:0], unknown: unknown}
		body.settings(s, defaults, explicit)
		required := !m.decoded && number != denormalizerField
		if required || m.explicit.has(number) || len(body.buf) > 0 {
			e.bytes(number, body.buf)
		}
	}
	trainer, normalizer := NewTrainerSpec(), NewNormalizerSpec()
	spec(trainerField, m.Trainer.settings(), trainer.settings(), m.Trainer.explicit, m.Trainer.unknown)
	spec(normalizerField, m.Normalizer.settings(), normalizer.settings(), m.Normalizer.explicit, m.Normalizer.unknown)
	spec(denormalizerField, m.Denormalizer.settings(), normalizer.settings(), m.Denormalizer.explicit, m.Denormalizer.unknown)
	e.flushUnknown(math.MaxInt)
	return e.buf, nil
}

// addPiece decodes a piece.
func (m *Model) addPiece(f field) error {
	m.Pieces = append(m.Pieces, Piece{Type: Normal, offset: f.start})
	p := &m.Pieces[len(m.Pieces)-1]
	f.in = messageName{"pieces", len(m.Pieces) - 1}
	return f.decode(p.settings(), &p.explicit, &p.unknown)
}

// setting is a known field of a message: its number, its name in the file's schema, and a pointer
// to its value.
type setting struct {
	number int
	name   string
	value  any
}

func (p *Piece) settings() []setting {
	return []setting{{1, "piece", &p.Text}, {2, "score", &p.Score}, {3, "type", &p.Type}}
}

// defaults returns the values of p that are not written. A piece that is not from a file always has
// its score written, as by sentencepiece.
func (p *Piece) defaults() []setting {
	none := Piece{Type: Normal}
	if p.explicit == 0 {
		none.Score = float32(math.NaN())
	}
	return none.settings()
}

// settings returns the fields of t in the order of their numbers.
func (t *TrainerSpec) settings() []setting {
	return []setting{
		{1, "input", &t.Input},
		{2, "model_prefix", &t.ModelPrefix},
		{3, "model_type", &t.ModelType},
		{4, "vocab_size", &t.VocabSize},
		{5, "accept_language", &t.AcceptLanguage},
		{6, "self_test_sample_size", &t.SelfTestSampleSize},
		{7, "input_format", &t.InputFormat},
		{10, "character_coverage", &t.CharacterCoverage},
		{11, "input_sentence_size", &t.InputSentenceSize},
		{14, "seed_sentencepiece_size", &t.SeedSize},
		{15, "shrinking_factor", &t.ShrinkingFactor},
		{16, "num_threads", &t.NumThreads},
		{17, "num_sub_iterations", &t.NumSubIterations},
		{18, "max_sentence_length", &t.MaxSentenceLength},
		{19, "shuffle_input_sentence", &t.ShuffleInputSentence},
		{20, "max_sentencepiece_length", &t.MaxPieceLength},
		{21, "split_by_unicode_script", &t.SplitByUnicodeScript},
		{22, "split_by_whitespace", &t.SplitByWhitespace},
		{23, "split_by_number", &t.SplitByNumber},
		{24, "treat_whitespace_as_suffix", &t.WhitespaceAsSuffix},
		{25, "split_digits", &t.SplitDigits},
		{26, "allow_whitespace_only_pieces", &t.WhitespaceOnlyPieces},
		{30, "control_symbols", &t.ControlSymbols},
		{31, "user_defined_symbols", &t.UserDefinedSymbols},
		{32, "vocabulary_output_piece_score", &t.VocabularyOutputScore},
		{33, "hard_vocab_limit", &t.HardVocabLimit},
		{34, "use_all_vocab", &t.UseAllVocab},
		{35, "byte_fallback", &t.ByteFallback},
		{36, "required_chars", &t.RequiredChars},
		{40, "unk_id", &t.UnknownID},
		{41, "bos_id", &t.BOSID},
		{42, "eos_id", &t.EOSID},
		{43, "pad_id", &t.PadID},
		{44, "unk_surface", &t.UnknownSurface},
		{45, "unk_piece", &t.UnknownPiece},
		{46, "bos_piece", &t.BOSPiece},
		{47, "eos_piece", &t.EOSPiece},
		{48, "pad_piece", &t.PadPiece},
		{49, "train_extremely_large_corpus", &t.ExtremelyLargeCorpus},
		{53, "pretokenization_delimiter", &t.PretokenizerDelimiter},
		{54, "seed_sentencepieces_file", &t.SeedFile},
	}
}

// settings returns the fields of n in the order of their numbers.
func (n *NormalizerSpec) settings() []setting {
	return []setting{
		{1, "name", &n.Name},
		{2, "precompiled_charsmap", &n.PrecompiledCharsmap},
		{3, "add_dummy_prefix", &n.AddDummyPrefix},
		{4, "remove_extra_whitespaces", &n.RemoveExtraWhitespace},
		{5, "escape_whitespaces", &n.EscapeWhitespace},
		{6, "normalization_rule_tsv", &n.RuleTSV},
	}
}

// messageName is the name of a message in errors.
type messageName struct {
	name  string
	index int // of a repeated message, or -1
}

func (m messageName) String() string {
	if m.index < 0 {
		return m.name
	}
	return fmt.Sprintf("%s[%d]", m.name, m.index)
}

// specNames are the names of the specs by the number of their field.
var specNames = map[int]string{
	trainerField:      "trainer_spec",
	normalizerField:   "normalizer_spec",
	denormalizerField: "denormalizer_spec",
}

// decoder reads the fields of a message.
type decoder struct {
	data     []byte // the file
	pos, end int    // of the unread part of the message
	name     messageName
}

// field is a decoded field.
type field struct {
	number int
	wire   int
	start  int    // offset of its tag
	value  uint64 // of a varint or of fixed bits
	body   decoder
	in     messageName // the message it is in, or the one it holds
}

// message calls known for each field until the end. Fields that known reports as unknown are
// appended to unknown.
func (d *decoder) message(known func(field) (bool, error), unknown *[]rawField) error {
	for d.pos < d.end {
		f, err := d.next()
		if err != nil {
			return err
		}
		ok, err := known(f)
		if err != nil {
			return err
		}
		if !ok {
			*unknown = append(*unknown, rawField{f.number, d.data[f.start:d.pos:d.pos]})
		}
	}
	return nil
}

// next reads a field.
func (d *decoder) next() (field, error) {
	f := field{start: d.pos, in: d.name}
	tag, err := d.varint("tag", 0)
	if err != nil {
		return f, err
	}
	const maxNumber = 1<<29 - 1
	f.wire = int(tag & 7)
	if n := tag >> 3; n == 0 || n > maxNumber {
		return f, fmt.Errorf("%s at offset %d: found field number %d, expected 1 to %d", d.name, f.start, n, maxNumber)
	}
	f.number = int(tag >> 3)
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
		return f, fmt.Errorf("%s at offset %d: found field %d with %s, expected a varint, 32 bits, 64 bits or a byte string",
			d.name, f.start, f.number, wireNames[f.wire])
	}
	if rest := d.end - d.pos; size > uint64(rest) {
		return f, fmt.Errorf("%s at offset %d: found field %d of %d bytes, expected at most the remaining %d",
			d.name, f.start, f.number, size, rest)
	}
	f.body = decoder{data: d.data, pos: d.pos, end: d.pos + int(size)}
	switch f.wire {
	case wireFixed32:
		f.value = uint64(binary.LittleEndian.Uint32(d.data[d.pos:]))
	case wireFixed64:
		f.value = binary.LittleEndian.Uint64(d.data[d.pos:])
	}
	d.pos += int(size)
	return f, nil
}

// varint reads a varint. Errors name it by what and the number of its field, if that is not 0.
func (d *decoder) varint(what string, number int) (uint64, error) {
	x, n := binary.Uvarint(d.data[d.pos:d.end])
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
	return 0, fmt.Errorf("%s at offset %d: %s %s", d.name, d.pos, what, problem)
}

// bytes returns the contents of a byte string.
func (f *field) bytes() []byte { return f.body.data[f.body.pos:f.body.end:f.body.end] }

// expect returns an error if the field does not have a wire type.
func (f *field) expect(name string, wire int) error {
	if f.wire == wire {
		return nil
	}
	return fmt.Errorf("%s.%s at offset %d: found %s, expected %s", f.in, name, f.start, wireNames[f.wire], wireNames[wire])
}

// decode decodes the message that f holds into settings, which are sorted by number.
func (f *field) decode(settings []setting, explicit *fieldSet, unknown *[]rawField) error {
	if name, ok := specNames[f.number]; ok {
		f.in = messageName{name, -1}
	}
	if f.wire != wireBytes {
		return fmt.Errorf("%s at offset %d: found %s, expected a message", f.in, f.start, wireNames[f.wire])
	}
	d := f.body
	d.name = f.in
	return d.message(func(f field) (bool, error) {
		i, ok := slices.BinarySearchFunc(settings, f.number, func(s setting, number int) int { return s.number - number })
		if !ok {
			return false, nil
		}
		explicit.add(f.number)
		return true, f.set(settings[i])
	}, unknown)
}

// set stores the value of f.
func (f *field) set(s setting) error {
	wire := wireVarint
	switch s.value.(type) {
	case *string, *[]string, *[]byte:
		wire = wireBytes
	case *float32:
		wire = wireFixed32
	}
	if err := f.expect(s.name, wire); err != nil {
		return err
	}
	invalid := func(expected string) error {
		return fmt.Errorf("%s.%s at offset %d: found %d, expected %s", f.in, s.name, f.start, int64(f.value), expected)
	}
	switch v := s.value.(type) {
	case *string:
		*v = string(f.bytes())
	case *[]string:
		*v = append(*v, string(f.bytes()))
	case *[]byte:
		*v = f.bytes()
	case *float32:
		*v = math.Float32frombits(uint32(f.value))
	case *uint64:
		*v = f.value
	case *bool:
		if f.value > 1 {
			return invalid("0 or 1")
		}
		*v = f.value == 1
	case *int32:
		if *v = int32(f.value); int64(*v) != int64(f.value) {
			return invalid("32 bits")
		}
	case *ModelType:
		if f.value < uint64(Unigram) || f.value > uint64(Char) {
			return invalid("1 to 4")
		}
		*v = ModelType(f.value)
	case *PieceType:
		if f.value < uint64(Normal) || f.value > uint64(Byte) {
			return invalid("1 to 6")
		}
		*v = PieceType(f.value)
	default:
		panic(fmt.Sprintf("sentencepiece: setting %s has type %T", s.name, s.value))
	}
	return nil
}

// encoder appends the fields of a message in the order of their numbers.
type encoder struct {
	buf     []byte
	unknown []rawField // not yet written
}

// flushUnknown appends the unknown fields whose number is less than a field's.
func (e *encoder) flushUnknown(number int) {
	for len(e.unknown) > 0 && e.unknown[0].number < number {
		e.buf = append(e.buf, e.unknown[0].data...)
		e.unknown = e.unknown[1:]
	}
}

func (e *encoder) varint(number int, x uint64) {
	e.flushUnknown(number)
	e.buf = binary.AppendUvarint(e.buf, uint64(number)<<3|wireVarint)
	e.buf = binary.AppendUvarint(e.buf, x)
}

func (e *encoder) bytes(number int, b []byte) {
	e.flushUnknown(number)
	e.buf = binary.AppendUvarint(e.buf, uint64(number)<<3|wireBytes)
	e.buf = binary.AppendUvarint(e.buf, uint64(len(b)))
	e.buf = append(e.buf, b...)
}

func (e *encoder) float(number int, x float32) {
	e.flushUnknown(number)
	e.buf = binary.AppendUvarint(e.buf, uint64(number)<<3|wireFixed32)
	e.buf = binary.LittleEndian.AppendUint32(e.buf, math.Float32bits(x))
}

// settings appends the settings that differ from the defaults or are explicit, then the remaining
// unknown fields.
func (e *encoder) settings(settings, defaults []setting, explicit fieldSet) {
	for i, s := range settings {
		if list, ok := s.value.(*[]string); ok {
			for _, x := range *list {
				e.bytes(s.number, []byte(x))
			}
			continue
		}
		v := reflect.ValueOf(s.value).Elem()
		unset := v.Kind() == reflect.Slice && v.Len() == 0
		if v.Comparable() {
			unset = v.Equal(reflect.ValueOf(defaults[i].value).Elem())
		}
		if unset && !explicit.has(s.number) {
			continue
		}
		switch v.Kind() {
		case reflect.String:
			e.bytes(s.number, []byte(v.String()))
		case reflect.Slice:
			e.bytes(s.number, v.Bytes())
		case reflect.Float32:
			e.float(s.number, float32(v.Float()))
		case reflect.Uint64:
			e.varint(s.number, v.Uint())
		case reflect.Int32:
			e.varint(s.number, uint64(v.Int()))
		case reflect.Bool:
			x := uint64(0)
			if v.Bool() {
				x = 1
			}
			e.varint(s.number, x)
		default:
			panic(fmt.Sprintf("sentencepiece: setting %s has type %T", s.name, s.value))
		}
	}
	e.flushUnknown(math.MaxInt)
}
