package sentencepiece

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"tfm/text"
	"tfm/text/tokenizer/internal/merges"
)

// Tokenizer applies a model. It is immutable and safe for concurrent use.
//
// A file numbers its pieces freely; its ids, those of spm_encode, are file ids here. As a
// text.Tokenizer it numbers them anew: text.Pad, text.BOS and text.EOS, whether the file has such
// pieces or not, then the other pieces in the order of the file.
type Tokenizer struct {
	model *Model
	data  []byte // the file

	normalizer *Normalizer

	unknown  int32            // file id of the unknown piece
	ids      map[string]int32 // file ids of the pieces that are matched in text or unused
	reserved map[string]int32 // file ids of the others
	bytes    [256]int32       // file ids of the byte pieces, if the model has byte fallback
	decoded  []decodedPiece   // by file id

	special  [3]int32 // file ids of Pad, BOS and EOS, or -1
	toText   []int32  // ids by file id
	fromText []int32  // file ids by id, or -1

	segmenter segmenter
	unigram   *unigram      // segmenter, or nil
	bpe       *bpe          // segmenter, or nil
	cache     *merges.Cache // of words, nil if a text is encoded as a whole
	scratch   sync.Pool     // of *scratch
}

// segmenter splits normalized text into pieces.
type segmenter interface {
	// segment appends the pieces of s to dst.
	segment(dst []segment, s []byte, sc *scratch) []segment
}

// segment is a piece of normalized text.
type segment struct {
	id     int32 // file id
	length int32 // bytes
}

// scratch is the reusable memory of encoding.
type scratch struct {
	normal   []byte
	offsets  []int
	segments []segment
	best     []bestPiece // of a unigram model

	word    *merges.Word              // of BPE
	origins map[int32][2]originSymbol // of unused pieces
}

const (
	// maxPiece limits the length of a piece in bytes. spm_train limits it to 512 characters.
	maxPiece = 2048
	// maxScratch is the normalized length above which memory is freed after use.
	maxScratch = 1 << 16
)

// Unmarshal returns the tokenizer of a .model file. Untrusted data is safe. A file without
// trainer_spec or normalizer_spec is an error, because it is truncated after a piece.
func Unmarshal(data []byte) (*Tokenizer, error) {
	m, err := UnmarshalModel(data)
	if err != nil {
		return nil, err
	}
	for _, f := range schemas[reflect.TypeOf(*m)] {
		if f.required && !m.explicit.has(f.number) {
			return nil, fmt.Errorf("found no %s in %d bytes, expected one", f.name, len(data))
		}
	}
	t, err := newTokenizer(m)
	if err != nil {
		return nil, err
	}
	t.data = bytes.Clone(data)
	return t, nil
}

// New returns the tokenizer of a model, with the ids of sentencepiece 0.2.3. It fails if the model
// is inconsistent. m must not be changed afterwards.
func New(m *Model) (*Tokenizer, error) {
	t, err := newTokenizer(m)
	if err != nil {
		return nil, err
	}
	t.data, err = m.MarshalBinary()
	return t, err
}

func newTokenizer(m *Model) (*Tokenizer, error) {
	t := &Tokenizer{model: m}
	t.scratch.New = t.newScratch
	if err := t.indexPieces(); err != nil {
		return nil, err
	}
	var userDefined []string
	for _, p := range m.Pieces {
		if p.Type == UserDefined {
			userDefined = append(userDefined, p.Text)
		}
	}
	var err error
	if t.normalizer, err = newNormalizer(&m.Normalizer, m.Trainer.WhitespaceAsSuffix, userDefined); err != nil {
		return nil, fmt.Errorf("normalizer_spec: %w", err)
	}
	if n := len(m.Denormalizer.PrecompiledCharsmap); n > 0 {
		return nil, fmt.Errorf("denormalizer_spec: found a map of %d bytes, expected none, because decoded text stays as it is", n)
	}
	switch m.Trainer.ModelType {
	case BPE:
		t.bpe, err = newBPE(t)
		t.segmenter = t.bpe
	case Word:
		t.segmenter = wordSegmenter{t}
	case Char:
		t.segmenter = charSegmenter{t}
	default:
		t.unigram, err = newUnigram(t)
		t.segmenter = t.unigram
	}
	if err != nil {
		return nil, err
	}
	if t.splitsWords() {
		t.cache = merges.NewCache()
	}
	t.indexDecoded()
	t.numberPieces()
	return t, nil
}

// pieceError returns an error about piece i.
func (m *Model) pieceError(i int, format string, args ...any) error {
	at := ""
	if m.Pieces[i].explicit != 0 {
		at = fmt.Sprintf(" at offset %d", m.Pieces[i].offset)
	}
	return fmt.Errorf("pieces[%d]%s: %s", i, at, fmt.Sprintf(format, args...))
}

// indexPieces checks the pieces and maps their texts to ids.
func (t *Tokenizer) indexPieces() error {
	m := t.model
	t.unknown = -1
	t.ids, t.reserved = make(map[string]int32, len(m.Pieces)), map[string]int32{}
	for c := range t.bytes {
		t.bytes[c] = -1
	}
	if len(m.Pieces) > math.MaxInt32-3 {
		return fmt.Errorf("found %d pieces, expected at most %d", len(m.Pieces), math.MaxInt32-3)
	}
	for i := range m.Pieces {
		p, id := &m.Pieces[i], int32(i)
		if n := len(p.Text); n == 0 || n > maxPiece {
			return m.pieceError(i, "found a piece of %d bytes, expected 1 to %d", n, maxPiece)
		}
		if strings.IndexByte(p.Text, 0) >= 0 {
			return m.pieceError(i, "found %q, expected a piece without NUL", p.Text)
		}
		if s := float64(p.Score); math.IsNaN(s) || math.IsInf(s, 0) {
			return m.pieceError(i, "score of %q: found %v, expected a finite number", p.Text, s)
		}
		index := t.reserved
		switch p.Type {
		case Normal, UserDefined, Unused:
			index = t.ids
		case Unknown:
			if t.unknown >= 0 {
				return m.pieceError(i, "found unknown piece %q, expected one, which is pieces[%d]", p.Text, t.unknown)
			}
			t.unknown = id
		case Byte:
			if !m.Trainer.ByteFallback {
				return m.pieceError(i, "found byte piece %q, expected none without byte_fallback", p.Text)
			}
			c, ok := parseByteText(p.Text)
			if !ok {
				return m.pieceError(i, "found byte piece %q, expected <0x00> to <0xFF>", p.Text)
			}
			t.bytes[c] = id
		}
		if first, ok := index[p.Text]; ok {
			return m.pieceError(i, "found %q, which is also pieces[%d]", p.Text, first)
		}
		index[p.Text] = id
	}
	if t.unknown < 0 {
		return errors.New("pieces: found no unknown piece, expected one")
	}
	if m.Trainer.ByteFallback {
		for c, id := range t.bytes {
			if id < 0 {
				return fmt.Errorf("pieces: found no byte piece %q, expected all 256 with byte_fallback", byteText(byte(c)))
			}
		}
	}
	return nil
}

// parseByteText returns the byte of a piece as byteText writes it.
func parseByteText(s string) (c byte, ok bool) {
	if len(s) != len("<0x00>") {
		return 0, false
	}
	x, _ := strconv.ParseUint(s[3:5], 16, 8)
	return byte(x), byteText(byte(x)) == s
}

// numberPieces assigns the ids.
func (t *Tokenizer) numberPieces() {
	spec := &t.model.Trainer
	for i, piece := range [...]string{text.Pad: spec.PadPiece, text.BOS: spec.BOSPiece, text.EOS: spec.EOSPiece} {
		id, ok := t.reserved[piece]
		if !ok || t.model.Pieces[id].Type != Control || slices.Contains(t.special[:i], id) {
			id = -1
		}
		t.special[i] = id
	}
	t.toText = make([]int32, len(t.model.Pieces))
	t.fromText = append(make([]int32, 0, len(t.model.Pieces)+3), t.special[:]...)
	for i := range t.toText {
		if special := slices.Index(t.special[:], int32(i)); special >= 0 {
			t.toText[i] = int32(special)
			continue
		}
		t.toText[i] = int32(len(t.fromText))
		t.fromText = append(t.fromText, int32(i))
	}
}

// Size implements text.Tokenizer.
func (t *Tokenizer) Size() int { return len(t.fromText) }

// FileSize returns the number of pieces in the file. The file ids are 0 to FileSize()-1.
func (t *Tokenizer) FileSize() int { return len(t.toText) }

// FileID returns the file id of an id, or -1 for a special id without a piece and for an id outside
// the vocabulary.
func (t *Tokenizer) FileID(id int32) int32 {
	if id < 0 || int(id) >= len(t.fromText) {
		return -1
	}
	return t.fromText[id]
}

// FromFileID returns the id of a file id, or -1 if the file has no such piece.
func (t *Tokenizer) FromFileID(id int32) int32 {
	if id < 0 || int(id) >= len(t.toText) {
		return -1
	}
	return t.toText[id]
}

// Model returns the model, which must not be changed.
func (t *Tokenizer) Model() *Model { return t.model }

// MarshalBinary returns the .model file, which is what Unmarshal decoded. The error is always nil.
func (t *Tokenizer) MarshalBinary() ([]byte, error) { return bytes.Clone(t.data), nil }

// pieceID returns the file id of a piece that is matched in text, or that of the unknown piece.
func (t *Tokenizer) pieceID(s []byte) int32 {
	if id, ok := t.ids[string(s)]; ok && t.model.Pieces[id].Type != Unused {
		return id
	}
	return t.unknown
}

// Encode implements text.Tokenizer. Adjacent unknown pieces become one, unless the model has byte
// fallback or CountUnknown.
func (t *Tokenizer) Encode(dst []int32, s string) []int32 {
	start := len(dst)
	dst = t.encodeFile(dst, s)
	t.renumber(dst[start:])
	return dst
}

// renumber replaces file ids by ids.
func (t *Tokenizer) renumber(ids []int32) {
	for i, id := range ids {
		ids[i] = t.toText[id]
	}
}

// encodeFile is like Encode but appends file ids, which equal those of spm_encode.
func (t *Tokenizer) encodeFile(dst []int32, s string) []int32 {
	sc := t.scratch.Get().(*scratch)
	sc.normal = t.normalizer.normalize(sc.normal[:0], nil, s)
	dst = t.encodeNormal(dst, sc.normal, sc)
	t.release(sc)
	return dst
}

// encodeNormal appends the file ids of normalized text.
func (t *Tokenizer) encodeNormal(dst []int32, normal []byte, sc *scratch) []int32 {
	if t.cache != nil {
		return t.encodeWords(dst, normal, sc)
	}
	sc.segments = t.nameUnknown(t.segmenter.segment(sc.segments[:0], normal, sc), normal)
	return t.appendIDs(dst, len(dst), sc.segments, normal)
}

// nameUnknown joins adjacent unknown segments of normal and looks up their text, with NameUnknown.
func (t *Tokenizer) nameUnknown(segments []segment, normal []byte) []segment {
	if !t.model.Trainer.NameUnknown || t.model.Trainer.ByteFallback {
		return segments
	}
	joined, at := segments[:0], 0
	for i, s := range segments {
		if n := len(joined); i > 0 && s.id == t.unknown && joined[n-1].id == t.unknown {
			joined[n-1].length += s.length
			continue
		}
		joined = append(joined, s)
	}
	for i := range joined {
		s := &joined[i]
		text := normal[at : at+int(s.length)]
		if at += len(text); s.id == t.unknown {
			if id, ok := t.ids[string(text)]; ok {
				s.id = id
			}
		}
	}
	return joined
}

// release returns sc to the pool.
func (t *Tokenizer) release(sc *scratch) {
	if cap(sc.normal) <= maxScratch {
		t.scratch.Put(sc)
	}
}

// appendIDs appends the file ids of the segments of normal. Those of the text before begin at
// dst[start].
func (t *Tokenizer) appendIDs(dst []int32, start int, segments []segment, normal []byte) []int32 {
	at := 0
	for _, s := range segments {
		switch {
		case s.id != t.unknown:
			dst = append(dst, s.id)
		case t.model.Trainer.ByteFallback:
			for _, c := range normal[at : at+int(s.length)] {
				dst = append(dst, t.bytes[c])
			}
		case len(dst) == start || dst[len(dst)-1] != t.unknown || t.model.Trainer.CountUnknown:
			dst = append(dst, t.unknown)
		}
		at += int(s.length)
	}
	return dst
}

// EncodeRanges implements text.Tokenizer. White space that normalization removes at the beginning
// or at the end of s is in the first or the last range.
func (t *Tokenizer) EncodeRanges(dst []int32, ranges []text.Range, s string) ([]int32, []text.Range) {
	sc := t.scratch.Get().(*scratch)
	defer t.release(sc)
	sc.offsets = sc.offsets[:0]
	sc.normal = t.normalizer.normalize(sc.normal[:0], &sc.offsets, s)
	sc.segments = t.nameUnknown(t.segmenter.segment(sc.segments[:0], sc.normal, sc), sc.normal)
	firstID := len(dst)
	at, begin := 0, 0 // offsets in sc.normal and in s
	add := func(id int32, end int) {
		dst, ranges = append(dst, t.toText[id]), append(ranges, text.Range{Start: begin, End: end})
		begin = end
	}
	afterUnknown := false
	for i, seg := range sc.segments {
		next := at + int(seg.length)
		end := max(begin, characterStart(s, sc.offsets[next]))
		if i == len(sc.segments)-1 {
			end = len(s)
		}
		unknown := seg.id == t.unknown
		switch {
		case unknown && t.model.Trainer.ByteFallback:
			for ; at < next-1; at++ {
				add(t.bytes[sc.normal[at]], begin)
			}
			add(t.bytes[sc.normal[at]], end)
		case unknown && afterUnknown && len(dst) > firstID && !t.model.Trainer.CountUnknown:
			ranges[len(ranges)-1].End = end
			begin = end
		default:
			add(seg.id, end)
		}
		afterUnknown = unknown
		at = next
	}
	return dst, ranges
}

// characterStart returns the start of the character that includes offset i of s, or i at its end.
func characterStart(s string, i int) int {
	if i == len(s) || utf8.RuneStart(s[i]) {
		return i
	}
	for start := i - 1; start >= max(0, i-utf8.UTFMax+1); start-- {
		if utf8.RuneStart(s[start]) {
			if _, size := utf8.DecodeRuneInString(s[start:]); start+size > i {
				return start
			}
			break
		}
	}
	return i
}

// Piece implements text.Tokenizer. It prints bytes without a printable character as <0xE4>, special
// ids without a piece as <pad>, <s> and </s>, and an id outside the vocabulary as <?>.
func (t *Tokenizer) Piece(id int32) string {
	if id < 0 || int(id) >= len(t.fromText) {
		return "<?>"
	}
	if t.fromText[id] < 0 {
		return text.SpecialPiece(id)
	}
	return text.PrintablePiece(t.model.Pieces[t.fromText[id]].Text)
}
