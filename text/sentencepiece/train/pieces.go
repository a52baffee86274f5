package train

import (
	"slices"
	"sync"
	"unicode"

	"tfm/text/sentencepiece"
)

// pieceRules decide which strings can be learned as pieces, as the settings say.
type pieceRules struct {
	spec    *sentencepiece.TrainerSpec
	scripts *scriptTable
}

// charClass is what the rules need to know of a character: its script, or one of the constants.
type charClass uint8

const (
	anyScript   charClass = iota // joins with all scripts
	inherited                    // a mark, which has the script of the character before it
	spaceChar                    // ▁
	singleDigit                  // a piece alone
	reserved                     // in no piece
	commonClass                  // script Common; the other scripts follow
)

const (
	unknownChar  = '▅'  // U+2585, with which spm_train replaces characters outside the vocabulary
	boundaryChar = '\t' // with which spm_train replaces special pieces
	spaceRune    = '▁'
)

// class returns the class of a character.
func (r *pieceRules) class(c rune) charClass {
	switch c {
	case spaceRune:
		return spaceChar
	case unknownChar, boundaryChar, ' ', 0:
		return reserved
	}
	if '0' <= c && c <= '9' || '０' <= c && c <= '９' {
		switch {
		case r.spec.SplitDigits:
			return singleDigit
		case !r.spec.SplitByNumber:
			return anyScript
		}
	}
	if !r.spec.SplitByUnicodeScript {
		return anyScript
	}
	return r.scripts[c]
}

// splits reports whether no piece has a character of class a before one of class b.
func (r *pieceRules) splits(a, b charClass) bool {
	switch {
	case a == singleDigit || b == singleDigit || a == reserved || b == reserved:
		return true
	case b == spaceChar:
		return r.spec.SplitByWhitespace && !(r.spec.WhitespaceOnlyPieces && a == spaceChar)
	}
	return a >= commonClass && b >= commonClass && a != b
}

// pieceState is the state of reading a possible piece.
type pieceState struct {
	chars     int32
	script    charClass // of the characters read, anyScript if it is open
	allSpaces bool
}

// extend returns the state after a character. It returns false if neither the string read nor a
// longer one is a piece. A piece for which it returns true may still have to end before the
// character: see complete.
func (r *pieceRules) extend(s pieceState, c charClass) (pieceState, bool) {
	s.chars++
	if s.chars > r.spec.MaxPieceLength {
		return s, false
	}
	switch c {
	case reserved:
		return s, false
	case singleDigit:
		s.script = singleDigit
		return s, s.chars == 1
	case spaceChar:
		if s.chars == 1 {
			s.allSpaces = true
			return s, true
		}
		if r.spec.WhitespaceOnlyPieces && s.allSpaces {
			return s, true
		}
		return s, !r.spec.SplitByWhitespace && s.script != singleDigit
	}
	if s.script == singleDigit || s.allSpaces && s.chars > 2 && r.spec.SplitByWhitespace {
		return s, false
	}
	s.allSpaces = false
	if c >= commonClass {
		if s.script >= commonClass && s.script != c {
			return s, false
		}
		s.script = c
	} else if c == anyScript {
		s.script = anyScript
	}
	return s, true
}

// complete reports whether a string with a state that ends in a character of class last is a piece:
// spaces do not end one.
func (r *pieceRules) complete(s pieceState, last charClass) bool {
	return last != spaceChar || s.chars == 1 || r.spec.WhitespaceOnlyPieces && s.allSpaces
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
