package document

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"tfm/text/charset"
	"tfm/text/markup"
)

// editor copies src to w, with ranges replaced by translations.
type editor struct {
	name string        // in errors
	src  string        // valid UTF-8 without a byte order mark
	page *charset.Page // of the file if it is not in Unicode
	Options

	w       io.Writer
	f       Func
	written int // bytes of src that are written, with translations in the place of texts
	group   group
	edits   []edit // whose texts are in group
	err     error  // the first one; edits after it are ignored
}

// edit replaces a range of src.
type edit struct {
	start, end int
	texts      []markup.Text
	always     bool // replaced even if all translations are equal to the texts

	// write returns the bytes in the place of the range, for translations of texts.
	write func([]markup.Text) string
}

// textFile returns the translate function of a format that is one text file in Unicode. translate
// passes the texts of e.src to e in order, and faults of e.src to e.fail.
func textFile(translate func(e *editor)) func(*document) error {
	return textFileIn(nil, translate)
}

// textFileIn is textFile for a format that may be in a page too.
func textFileIn(pageOf func(language string) *charset.Page, translate func(e *editor)) func(*document) error {
	return func(d *document) error {
		e, err := d.open(pageOf)
		if err != nil {
			return err
		}
		translate(e)
		e.flush()
		e.write(e.src[e.written:])
		return e.err
	}
}

// replace makes an edit of e.src[start:end], which follows all ranges before.
func (e *editor) replace(start, end int, t marked, write func(string) string) {
	e.edit(edit{start: start, end: end, texts: []markup.Text{t.Text}, write: func(ts []markup.Text) string {
		return t.elements.render(ts[0], write)
	}})
}

// edit adds an edit, whose range follows all ranges before.
func (e *editor) edit(d edit) {
	for _, t := range d.texts {
		if len(t.Plain) > maxTextBytes {
			e.fail(d.start, "text of %d bytes, limit %d", len(t.Plain), maxTextBytes)
		}
	}
	e.edits = append(e.edits, d)
	if e.group.add(d.texts) {
		e.flush()
	}
}

// flush translates the group and writes src up to its last edit.
func (e *editor) flush() {
	if e.err != nil {
		return
	}
	texts, err := e.group.translate(e.f)
	if err != nil {
		e.err = err
		return
	}
	var b strings.Builder
	for _, d := range e.edits {
		translations := texts[:len(d.texts)]
		texts = texts[len(d.texts):]
		if !d.always && slices.EqualFunc(translations, d.texts, equal) {
			continue
		}
		b.WriteString(e.src[e.written:d.start])
		b.WriteString(d.write(translations))
		e.written = d.end
	}
	e.edits = e.edits[:0]
	e.write(b.String())
}

// write writes bytes, unless there was an error.
func (e *editor) write(s string) {
	if e.err == nil {
		_, e.err = io.WriteString(e.w, s)
	}
}

// errorf returns an error at a byte of src, as its line.
func (e *editor) errorf(at int, format string, a ...any) error {
	return fmt.Errorf("%s:%d: %s", e.name, line(e.src, at), fmt.Sprintf(format, a...))
}

// fail sets the error to one at a byte of src, unless there was another.
func (e *editor) fail(at int, format string, a ...any) {
	if e.err == nil {
		e.err = e.errorf(at, format, a...)
	}
}
