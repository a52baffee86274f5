package train

import (
	"slices"
	"sync"
	"unicode"
)

// charClass is what decides whether a character can be in a piece: its script, or one of the
// constants.
type charClass uint8

const (
	inherited   charClass = iota // a mark, which has the script of the character before it
	spaceChar                    // ▁
	reserved                     // in no piece
	commonClass                  // script Common; the other scripts follow
)

const (
	unknownChar  = '▅'  // U+2585, with which spm_train replaces characters outside the vocabulary
	boundaryChar = '\t' // with which spm_train replaces special pieces
	spaceRune    = '▁'
)

// class returns the class of a character.
func (t *scriptTable) class(c rune) charClass {
	switch c {
	case spaceRune:
		return spaceChar
	case unknownChar, boundaryChar, ' ', 0:
		return reserved
	}
	return t[c]
}

// splits reports whether no piece has a character of class a before one of class b.
func splits(a, b charClass) bool {
	if a == reserved || b == reserved || b == spaceChar {
		return true
	}
	return a >= commonClass && b >= commonClass && a != b
}

// maxPieceLength is the limit of a piece in characters, spm_train's default.
const maxPieceLength = 16

// pieceState is the state of reading a possible piece.
type pieceState struct {
	chars  int32
	script charClass // of the characters read, less than commonClass if they have none
}

// extend returns the state after a character, and whether the string read is a piece.
func (s pieceState) extend(c charClass) (pieceState, bool) {
	s.chars++
	if s.chars > maxPieceLength || c == reserved || c == spaceChar && s.chars > 1 {
		return s, false
	}
	if c >= commonClass {
		if s.script >= commonClass && s.script != c {
			return s, false
		}
		s.script = c
	}
	return s, true
}

// scriptTable has the class of each character.
type scriptTable [unicode.MaxRune + 1]charClass

// scripts returns the table. As in spm_train, Hiragana and Katakana count as Han, and characters
// without a script as Common.
var scripts = sync.OnceValue(func() *scriptTable {
	t := new(scriptTable)
	for i := range t {
		t[i] = commonClass
	}
	next := commonClass + 1
	for name, table := range unicode.Scripts {
		class := next
		switch name {
		case "Common":
			continue
		case "Inherited":
			class = inherited
		case "Han", "Hiragana", "Katakana":
			class = hanClass
		default:
			next++
		}
		ranges := slices.Clone(table.R32)
		for _, r := range table.R16 {
			ranges = append(ranges, unicode.Range32{Lo: uint32(r.Lo), Hi: uint32(r.Hi), Stride: uint32(r.Stride)})
		}
		for _, r := range ranges {
			for c := r.Lo; c <= r.Hi; c += r.Stride {
				t[c] = class
			}
		}
	}
	t['ー'] = hanClass // the long vowel mark is Common in Unicode
	return t
})

const hanClass = ^charClass(0)
