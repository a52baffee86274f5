package document

import (
	"strings"

	"tfm/text/markup"
)

// message is a string that a program shows, as in po files: passages with tags.
type message struct {
	s        string
	passages []passage
	texts    []markup.Text
	elements []elements // of each text
}

func newMessage(s string) message {
	m := message{s: s}
	for p := range passages(s) {
		t := build(tags(p.unwrap(s), tagPattern, nil), true)
		m.passages, m.texts, m.elements = append(m.passages, p), append(m.texts, t.Text), append(m.elements, t.elements)
	}
	return m
}

// render returns the message with the translations of its texts.
func (m message) render(ts []markup.Text) string {
	var b strings.Builder
	at := 0
	for i, p := range m.passages {
		b.WriteString(m.s[at:p.Start])
		b.WriteString(p.wrap(ts[i], m.elements[i]))
		at = p.End
	}
	b.WriteString(m.s[at:])
	return b.String()
}

// message makes an edit of src[start:end], which encode makes of the translation of s.
func (e *editor) message(start, end int, s string, encode func(string) string) {
	m := newMessage(s)
	write := func(ts []markup.Text) string { return encode(m.render(ts)) }
	e.edit(edit{start: start, end: end, texts: m.texts, write: write})
}
