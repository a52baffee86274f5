package subword

import (
	"strings"
	"sync"

	"tfm/text"
	"tfm/text/tokenizer/moses"
)

// unk is the id of segments that the vocabulary lacks.
const unk = text.EOS + 1

// firstPiece is the id of the first piece.
const firstPiece = unk + 1

// specialPieces are the special ids in the vocabularies of some systems.
var specialPieces = map[string]int32{"<pad>": text.Pad, "<s>": text.BOS, "</s>": text.EOS, "<unk>": unk}

// Tokenizer is codes with a vocabulary. Its ids are text.Pad, text.BOS and text.EOS, that of
// unknown segments, then the pieces in the order of the vocabulary without special ones. It is
// immutable and safe for concurrent use.
//
// Words have one space between them. Decode returns the words of the text that was encoded, with
// single spaces, except that the segments that the vocabulary lacks, such as rare characters,
// become <unk>. A piece without a joint contributes a space after it.
//
// With a moses.Chain, text is raw: Encode splits the words that the chain makes of it, and Decode
// returns their text. Bytes and Piece are those of the words.
type Tokenizer struct {
	codes      *Codes
	vocabulary *Vocabulary
	ids        []int32      // of each entry of the vocabulary
	texts      []string     // that each id contributes
	pieces     []string     // of each id
	chain      *moses.Chain // nil without
	encoders   sync.Pool
}

// New returns the tokenizer of codes and a vocabulary for words.
func New(c *Codes, v *Vocabulary) *Tokenizer { return NewRaw(c, v, nil) }

// NewRaw returns the tokenizer of codes and a vocabulary for raw text, or with a nil chain for
// words. With a chain, segments that the vocabulary lacks are not split again, as in Argos
// Translate and fairseq.
func NewRaw(c *Codes, v *Vocabulary, chain *moses.Chain) *Tokenizer {
	t := &Tokenizer{codes: c, vocabulary: v, chain: chain, texts: []string{"", "", "", "<unk> "}, pieces: []string{"<pad>", "<s>", "</s>", "<unk>"}}
	for _, x := range v.entries {
		if id, ok := specialPieces[x.Piece]; ok {
			t.ids = append(t.ids, id)
			continue
		}
		t.ids = append(t.ids, int32(len(t.pieces)))
		t.pieces = append(t.pieces, x.Piece)
		if s, ok := strings.CutSuffix(x.Piece, joint); ok {
			t.texts = append(t.texts, s)
		} else {
			t.texts = append(t.texts, x.Piece+" ")
		}
	}
	known := t.known()
	t.encoders.New = func() any { return newEncoder(c, known) }
	return t
}

// known returns the vocabulary whose segments are not split again, nil for all.
func (t *Tokenizer) known() *Vocabulary {
	if t.chain != nil {
		return nil
	}
	return t.vocabulary
}

// Codes returns the codes of the tokenizer.
func (t *Tokenizer) Codes() *Codes { return t.codes }

// Chain returns the chain of a tokenizer for raw text, nil of one for words.
func (t *Tokenizer) Chain() *moses.Chain { return t.chain }

// words returns the words of s.
func (t *Tokenizer) words(s string) string {
	if t.chain != nil {
		return t.chain.Words(s)
	}
	return s
}

// Size implements text.Tokenizer.
func (t *Tokenizer) Size() int { return len(t.pieces) }

// Encode implements text.Tokenizer.
func (t *Tokenizer) Encode(dst []int32, s string) []int32 {
	dst, _ = t.encode(dst, nil, t.words(s))
	return dst
}

// EncodeRanges implements text.Tokenizer. The range of the last segment of a word has the spaces
// after it.
func (t *Tokenizer) EncodeRanges(dst []int32, ranges []text.Range, s string) ([]int32, []text.Range) {
	first := len(ranges)
	words, at := s, []int32(nil)
	if t.chain != nil {
		words, at = t.chain.WordsAt(s)
	}
	dst, ends := t.encode(dst, []int{}, words)
	start := 0
	for _, end := range ends {
		if end < len(at) {
			end = int(at[end])
		}
		ranges = append(ranges, text.Range{Start: start, End: end})
		start = end
	}
	if len(ranges) > first {
		ranges[len(ranges)-1].End = len(s)
	}
	return dst, ranges
}

// encode appends the ids of the words in s, and unless ends is nil the end in s of each.
func (t *Tokenizer) encode(dst []int32, ends []int, s string) ([]int32, []int) {
	e := t.encoders.Get().(*encoder)
	defer t.release(e)
	for at := 0; at < len(s); {
		if s[at] == ' ' {
			at++
			continue
		}
		word, _, _ := strings.Cut(s[at:], " ")
		begin := 0
		for _, end := range e.segments(word) {
			isLast := end == len(word)
			dst = append(dst, t.id(word[begin:end], isLast))
			begin = end
			if ends != nil {
				n := at + end
				for isLast && n < len(s) && s[n] == ' ' {
					n++
				}
				ends = append(ends, n)
			}
		}
		at += len(word)
	}
	return dst, ends
}

func (t *Tokenizer) release(e *encoder) {
	if cap(e.word.Symbols) <= 1<<12 { // memory of longer words is freed
		t.encoders.Put(e)
	}
}

// id returns the id of a segment. No text has the other special ids.
func (t *Tokenizer) id(segment string, isLast bool) int32 {
	if i := t.vocabulary.find(segment, isLast); i >= 0 {
		return max(t.ids[i], unk)
	}
	return unk
}

// Segment returns line with one space between the segments of its words, as apply_bpe.py does.
func (t *Tokenizer) Segment(line string) string {
	words := t.words(line)
	var segments []string
	start := 0
	_, ends := t.encode(nil, []int{}, words)
	for _, end := range ends {
		segment := words[start:end]
		if start = end; end < len(words) && !strings.HasSuffix(segment, " ") {
			segment += joint
		}
		segments = append(segments, strings.Trim(segment, " "))
	}
	return strings.Join(segments, " ")
}

// Decode implements text.Tokenizer. It removes the space after the last piece.
func (t *Tokenizer) Decode(ids []int32) string {
	if t.chain != nil {
		return t.chain.Text(t.join(ids))
	}
	return t.join(ids)
}

// DecodeBegin implements text.PartialDecoder.
func (t *Tokenizer) DecodeBegin(ids []int32) string {
	if t.chain != nil {
		return t.chain.Begin(t.join(ids))
	}
	return t.join(ids)
}

// join returns the words of ids.
func (t *Tokenizer) join(ids []int32) string {
	var b strings.Builder
	for _, id := range ids {
		b.WriteString(t.Bytes(id))
	}
	return strings.TrimSuffix(b.String(), " ")
}

// DecodeRanges implements text.Tokenizer.
func (t *Tokenizer) DecodeRanges(ranges []text.Range, ids []int32) (string, []text.Range) {
	if t.chain != nil {
		return t.decodeRaw(ranges, ids)
	}
	s := t.Decode(ids)
	start := 0
	for _, id := range ids {
		end := min(start+len(t.Bytes(id)), len(s))
		ranges = append(ranges, text.Range{Start: start, End: end})
		start = end
	}
	return s, ranges
}

// decodeRaw is DecodeRanges with a chain.
func (t *Tokenizer) decodeRaw(ranges []text.Range, ids []int32) (string, []text.Range) {
	var pieces []string
	for _, id := range ids {
		pieces = append(pieces, t.Bytes(id))
	}
	s, ends := t.chain.TextOf(pieces)
	start := 0
	for _, end := range ends {
		ranges = append(ranges, text.Range{Start: start, End: end})
		start = end
	}
	return s, ranges
}

// Bytes implements text.Tokenizer. A piece without a joint ends with a space, also at the end of a
// text, where Decode removes it.
func (t *Tokenizer) Bytes(id int32) string {
	if id < 0 || int(id) >= len(t.texts) {
		return ""
	}
	return t.texts[id]
}

// Piece implements text.Tokenizer. It returns a piece with its joint, the special ids as <pad>,
// <s>, </s> and <unk>, and an id outside the vocabulary as <?>.
func (t *Tokenizer) Piece(id int32) string {
	if id < 0 || int(id) >= len(t.pieces) {
		return "<?>"
	}
	return t.pieces[id]
}

// Remap returns the ids of old for each id of t, so that weights learned with old can be carried
// over to t: the id of the same piece in old, or if old lacks it, those of the piece as a word,
// whose last segment has a joint if the piece has. It is safe for concurrent use.
func (t *Tokenizer) Remap(old *Tokenizer) (out [][]int32) {
	e := old.encoders.Get().(*encoder)
	defer old.release(e)
	for id, piece := range t.pieces {
		if id < int(firstPiece) {
			out = append(out, []int32{int32(id)})
			continue
		}
		if i, ok := old.vocabulary.index[piece]; ok {
			out = append(out, []int32{old.ids[i]})
			continue
		}
		s, joined := strings.CutSuffix(piece, joint)
		var ids []int32
		begin := 0
		if s != "" {
			for _, end := range e.segments(s) {
				ids = append(ids, old.id(s[begin:end], end == len(s) && !joined))
				begin = end
			}
		}
		if ids == nil {
			ids = []int32{unk}
		}
		out = append(out, ids)
	}
	return out
}

var _ text.PartialDecoder = (*Tokenizer)(nil)
