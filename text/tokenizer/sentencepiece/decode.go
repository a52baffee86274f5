package sentencepiece

import (
	"strings"
	"unicode/utf8"

	"tfm/text"
)

// decodedPiece is the text that Decode returns for a piece.
type decodedPiece struct {
	kind PieceType
	text string // with spaces for ▁; of a byte piece, the byte
	word bool   // whether the piece begins with ▁
}

// indexDecoded sets t.decoded. Text that is both a reserved and another piece decodes as the
// reserved one, as in sentencepiece.
func (t *Tokenizer) indexDecoded() {
	t.decoded = make([]decodedPiece, len(t.model.Pieces))
	for i := range t.model.Pieces {
		p := &t.model.Pieces[i]
		d := decodedPiece{kind: p.Type, text: strings.ReplaceAll(p.Text, space, " "), word: strings.HasPrefix(p.Text, space)}
		if id, ok := t.reserved[p.Text]; ok {
			d.kind = t.model.Pieces[id].Type
		}
		switch d.kind {
		case Control:
			d.text, d.word = "", false
		case Unknown:
			d.text, d.word = t.model.Trainer.UnknownSurface, false
		case Byte:
			c, _ := parseByteText(p.Text)
			d.text = string([]byte{c})
		}
		t.decoded[i] = d
	}
}

// Decode implements text.Tokenizer. Bytes that do not make a character become U+FFFD.
func (t *Tokenizer) Decode(ids []int32) string {
	s, _ := t.decode(ids, nil)
	return s
}

// DecodeRanges implements text.Tokenizer.
func (t *Tokenizer) DecodeRanges(ranges []text.Range, ids []int32) (string, []text.Range) {
	if ranges == nil {
		ranges = make([]text.Range, 0, len(ids))
	}
	return t.decode(ids, ranges)
}

// decode appends the ranges of ids to ranges unless that is nil.
func (t *Tokenizer) decode(ids []int32, ranges []text.Range) (string, []text.Range) {
	var out []byte
	add := func(s string) {
		if ranges != nil {
			ranges = append(ranges, text.Range{Start: len(out), End: len(out) + len(s)})
		}
		out = append(out, s...)
	}
	spec := &t.model.Normalizer
	strip := spec.AddDummyPrefix || spec.RemoveExtraWhitespace // the space at the beginning
	stripped := false                                          // a dummy prefix
	for i := 0; i < len(ids); i++ {
		var d decodedPiece
		if id := t.FileID(ids[i]); id >= 0 {
			d = t.decoded[id]
		}
		if d.kind == Byte {
			char, size := t.decodeBytes(ids[i:])
			for range size - 1 {
				add("")
			}
			add(char)
			i += size - 1
			continue
		}
		if stripped || len(out) > 0 {
			strip = false
		}
		s := d.text
		stripped = false
		if strip && d.word {
			s = s[1:]
			stripped = !spec.RemoveExtraWhitespace
		}
		add(s)
	}
	return string(out), ranges
}

// decodeBytes returns the character that byte pieces at the start of ids make, and their number. A
// byte that begins no character becomes U+FFFD.
func (t *Tokenizer) decodeBytes(ids []int32) (char string, size int) {
	var bytes [utf8.UTFMax]byte
	n := 0
	for n < min(len(bytes), len(ids)) {
		id := t.FileID(ids[n])
		if id < 0 || t.decoded[id].kind != Byte {
			break
		}
		bytes[n] = t.decoded[id].text[0]
		n++
	}
	r, size := utf8.DecodeRune(bytes[:n])
	return string(r), size
}

// Bytes implements text.Tokenizer. Decode differs from the concatenation where bytes do not make a
// character.
func (t *Tokenizer) Bytes(id int32) string {
	if id = t.FileID(id); id < 0 {
		return ""
	}
	return t.decoded[id].text
}
