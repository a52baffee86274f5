package terminal

import (
	"strings"
	"unicode/utf8"

	"tfm/text"
)

// Span is a group of adjacent tokens that is drawn as one row or column.
type Span struct {
	name   string
	lo, hi int // the tokens lo to hi-1
}

// Words groups the tokens of ids and the EOS after them: into words separated by spaces if spaces
// is true, else into the shortest groups of complete characters.
func Words(t text.Tokenizer, ids []int32, spaces bool) []Span {
	var spans []Span
	for i, lo := 0, 0; i < len(ids); i++ {
		name := strings.TrimSpace(t.Decode(ids[lo : i+1]))
		last := i+1 == len(ids)
		if !last && (!utf8.ValidString(name) || name == "" || spaces && !startsWord(t, ids[i+1])) {
			continue
		}
		spans = append(spans, Span{name, lo, i + 1})
		lo = i + 1
	}
	return append(spans, Span{"</s>", len(ids), len(ids) + 1})
}

// startsWord reports whether a piece begins with a space.
func startsWord(t text.Tokenizer, id int32) bool { return strings.HasPrefix(t.Piece(id), "▁") }

// Names returns the names of spans for Draw.
func Names(spans []Span) []string {
	s := make([]string, len(spans))
	for i := range spans {
		s[i] = spans[i].name
	}
	return s
}

// Join returns the weights between spans for weights between tokens: the sum over the tokens of a
// column, the mean over those of a row.
func Join(weights [][]float32, rows, columns []Span) [][]float32 {
	joined := make([][]float32, len(rows))
	for i, r := range rows {
		joined[i] = make([]float32, len(columns))
		for j, c := range columns {
			for _, w := range weights[r.lo:r.hi] {
				for _, x := range w[c.lo:c.hi] {
					joined[i][j] += x / float32(r.hi-r.lo)
				}
			}
		}
	}
	return joined
}
