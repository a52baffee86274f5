package heatmap

import (
	"strings"
	"unicode/utf8"

	"tfm/text"
)

// Span is tokens that are shown as one, those from lo up to hi.
type Span struct {
	name   string
	lo, hi int
}

// Words groups ids, and the EOS after them, for people to read: into words that spaces part, or
// else into pieces that are whole characters.
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

func startsWord(t text.Tokenizer, id int32) bool { return strings.HasPrefix(t.Piece(id), "▁") }

func Names(spans []Span) []string {
	s := make([]string, len(spans))
	for i := range spans {
		s[i] = spans[i].name
	}
	return s
}

// Join makes weights between tokens those between spans: the sum over the tokens that were looked
// at, the mean over those that looked.
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
