package text

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/xml"
	"errors"
	"fmt"
	"html"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"tfm/lang"
	"tfm/text/charset"
	"tfm/text/internal/xmltext"
)

// tmxReader reads the units of a translation memory, a TMX file, as lines of a TSV file: source,
// tab, target. Of a segment it keeps the text, with one space for line breaks and tabs, and drops
// the codes of other programs: the content of bpt, ept, it, ph and ut. Of several variants in a
// language it takes the first. It leaves out units with only one side.
type tmxReader struct {
	name     string
	in       *limitedElements
	xml      *xml.Decoder
	files    Files  // with the languages that were given
	header   string // language of the sources by the header, or ""
	src, tgt string // languages; "" until they are found
	lines    []byte // that are not read yet
	unit     tmxUnit
	open     int // elements
	pairs    int
	oneSided *int // units that were left out
	err      error
}

// tmxUnit is the part of a translation unit that has been read.
type tmxUnit struct {
	variants []tmxVariant // with text
	size     int          // of them
	lang     string       // of the current variant
	text     strings.Builder
	depth    int // of open elements, from the segment on
	codes    int // depth of the outermost codes; 0 outside of codes
}

type tmxVariant struct {
	lang string
	tag  lang.Tag // of lang
	text string
}

var (
	// tmxBegin is the part of a file up to its root element: an XML declaration, comments,
	// instructions and a document type.
	tmxBegin = regexp.MustCompile(`(?s)^(\x{FEFF}|\s|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^\[>]*(\[.*?\]\s*)?>)*<tmx[\s>]`)
	xmlBegin = regexp.MustCompile(`^(\x{FEFF}|\s)*<[?!]`)
	tmxCodes = map[string]bool{"bpt": true, "ept": true, "it": true, "ph": true, "ut": true}
	oneSpace = regexp.MustCompile(` *[\t\r\n][ \t\r\n]*`)
)

const (
	maxTMXHead    = 64 << 10    // bytes in which a file must begin its root element to be TMX
	maxTMXDepth   = 100         // of nested elements
	maxTMXUnit    = 4 * MaxLine // size of the variants of a unit
	tmxVariantMin = 64          // size of one, beside its text
	maxTMXTag     = 100         // of a language
)

// IsTMX reports whether the file at path begins as a translation memory.
func IsTMX(path string) bool {
	l, err := open(path)
	if err != nil {
		return false
	}
	defer l.Close()
	return openTMX(l.text, Files{}) != nil
}

// openTMX returns the lines of r if it begins as a TMX file, else nil. Then r is at its begin.
func openTMX(r *bufio.Reader, f Files) io.Reader {
	// Interactive input may have no more than a byte.
	if first, _ := r.Peek(1); len(first) == 0 || !strings.Contains(" \t\r\n<\xEF\xFE\xFF", string(first)) {
		return nil
	}
	var order binary.ByteOrder                        // of UTF-16
	for _, size := range []int{4 << 10, maxTMXHead} { // a comment, such as a licence, can be long
		head, _ := r.Peek(size)
		if order = charset.UTF16(string(head)); order != nil {
			head = []byte(charset.DecodeUTF16(head, order))
		}
		if tmxBegin.Match(head) {
			break
		}
		if size == maxTMXHead || !xmlBegin.Match(head) {
			return nil
		}
	}
	in := &limitedElements{r: &characters{r: r}}
	if order != nil {
		in.r = &characters{r: bufio.NewReader(charset.NewUTF16Reader(r, order))}
	}
	t := &tmxReader{name: InputName(f.Source), in: in, xml: xml.NewDecoder(in), files: f, oneSided: cmp.Or(f.OneSided, new(int))}
	if *t.oneSided = 0; !f.Likely {
		t.src, t.tgt = f.SrcLang, f.TgtLang
	}
	t.xml.Entity = xml.HTMLEntity
	t.xml.CharsetReader = func(name string, in io.Reader) (io.Reader, error) {
		name = strings.ToLower(name)
		if order != nil || name == "utf8" || strings.HasPrefix(name, "utf-16") {
			return in, nil // UTF-16 is already UTF-8, also where a program left the name
		}
		return nil, fmt.Errorf("found the encoding %s, expected UTF-8 or UTF-16: convert it with iconv", name)
	}
	return t
}

// ErrNoUnit is in the error of a translation memory without a pair in the languages.
var ErrNoUnit = errors.New("found no unit in two languages")

// tmxError is an error of a TMX file. It names file and line of the file.
type tmxError struct{ error }

func (e tmxError) Unwrap() error { return e.error }

func (t *tmxReader) errorf(format string, a ...any) error {
	line, _ := t.xml.InputPos()
	return tmxError{fmt.Errorf("%s:%d: %w", t.name, line, fmt.Errorf(format, a...))}
}

// Read implements io.Reader.
func (t *tmxReader) Read(p []byte) (int, error) {
	for len(t.lines) == 0 && t.err == nil {
		t.in.left = MaxLine
		token, err := t.xml.Token()
		if err != nil {
			t.err = t.failed(err)
		} else {
			t.err = t.add(token)
		}
	}
	n := copy(p, t.lines)
	if t.lines = t.lines[n:]; n > 0 {
		return n, nil
	}
	return 0, t.err
}

// failed returns the error of a file whose next token cannot be read.
func (t *tmxReader) failed(err error) error {
	syntax := new(xml.SyntaxError)
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return t.errorf("truncated gzip file: %w", err)
	case errors.As(err, &syntax) && syntax.Msg == "unexpected EOF":
		return t.errorf("the file ends before </tmx>")
	case errors.As(err, &syntax):
		return t.errorf("%s", syntax.Msg)
	}
	return t.errorf("%w", err)
}

// add adds a token. It returns io.EOF after the root element.
func (t *tmxReader) add(token xml.Token) error {
	u := &t.unit
	switch x := token.(type) {
	case xml.StartElement:
		if t.open++; t.open > maxTMXDepth {
			return t.errorf("found elements nested deeper than %d", maxTMXDepth)
		}
		switch name := x.Name.Local; {
		case u.depth > 0:
			if u.depth++; u.codes == 0 && tmxCodes[name] {
				u.codes = u.depth
			}
		case name == "header" && !strings.EqualFold(attribute(x, "srclang"), "*all*"):
			t.header = attribute(x, "srclang")
		case name == "tu":
			*u = tmxUnit{variants: u.variants[:0]}
		case name == "tuv":
			u.lang = attribute(x, "lang") // also of xml:lang
		case name == "seg":
			u.depth = 1
			u.text.Reset()
		}
	case xml.CharData:
		if u.depth > 0 && u.codes == 0 {
			u.text.Write(x)
			if u.text.Len() > MaxLine {
				return t.errorf("found a segment longer than %d bytes, expected one sentence", MaxLine)
			}
		}
	case xml.EndElement:
		t.open--
		switch name := x.Name.Local; {
		case u.depth > 0:
			if u.depth == u.codes {
				u.codes = 0
			}
			if u.depth--; u.depth == 0 {
				return t.endSegment()
			}
		case name == "tu":
			return t.endUnit()
		case name == "tmx" && t.pairs == 0:
			return t.errorf("%w, expected %s and %s", ErrNoUnit, cmp.Or(t.src, t.header, "one"), cmp.Or(t.tgt, "another"))
		case name == "tmx":
			if t.files.Languages != nil {
				*t.files.Languages = [2]string{t.src, t.tgt}
			}
			return io.EOF
		}
	}
	return nil
}

// endSegment adds the segment that was read to the variants of the unit, if it has text.
func (t *tmxReader) endSegment() error {
	u := &t.unit
	if u.lang == "" {
		return t.errorf("found a variant without xml:lang")
	}
	if len(u.lang) > maxTMXTag {
		return t.errorf("found a language of %d bytes, expected a tag such as en-US", len(u.lang))
	}
	s := u.text.String()
	if strings.ContainsAny(s, "\t\r\n") {
		s = oneSpace.ReplaceAllString(s, " ")
	}
	if s = strings.Trim(s, " "); s == "" {
		return nil
	}
	if u.size += len(s) + tmxVariantMin; u.size > maxTMXUnit {
		return t.errorf("found a unit longer than %d bytes", maxTMXUnit)
	}
	u.variants = append(u.variants, tmxVariant{u.lang, lang.Parse(u.lang), s})
	return nil
}

// endUnit makes a line of the unit that was read.
func (t *tmxReader) endUnit() error {
	if err := t.findLanguages(); err != nil {
		return err
	}
	src, tgt := t.unit.in(t.src, t.tgt), t.unit.in(t.tgt, t.src)
	switch {
	case len(src)+len(tgt) >= MaxLine:
		return t.errorf("found a pair longer than %d bytes, expected one sentence", MaxLine)
	case src != "" && tgt != "":
		t.lines = fmt.Appendf(t.lines[:0], "%s\t%s\n", src, tgt)
		t.pairs++
	case src+tgt != "" || !t.given(): // the others are of languages that are not asked for
		*t.oneSided++
	}
	return nil
}

// given reports whether both languages were given, so that a unit may have others.
func (t *tmxReader) given() bool {
	return !t.files.Likely && t.files.SrcLang != "" && t.files.TgtLang != ""
}

// findLanguages sets the languages that were not given from the first unit in two: by the likely
// ones or the header, if they name one of the two, or in the order of the unit.
func (t *tmxReader) findLanguages() error {
	if t.given() {
		return nil
	}
	found := slices.DeleteFunc([]string{t.src, t.tgt}, func(name string) bool { return name == "" })
	has := func(tag lang.Tag) int {
		return slices.IndexFunc(found, func(l string) bool { return lang.Parse(l).Same(tag) })
	}
	known := len(found)
	for _, v := range t.unit.variants {
		if len(found) <= 2 && has(v.tag) < 0 {
			found = append(found, v.lang)
		}
	}
	switch {
	case len(found) > 2:
		return t.errorf("found text in %s beside %s and %s, expected two languages, or two that are named, as by -src-lang and -tgt-lang", found[2], found[0], found[1])
	case len(found) < 2 || known == 2 || t.unit.in(found[0], found[1]) == "":
		return nil
	}
	of, source := 0, known == 0 || t.src != "" // found[of] is the source, or else the target
	for _, hint := range []struct {
		lang   string
		source bool
	}{{t.header, true}, {t.files.TgtLang, false}, {t.files.SrcLang, true}} {
		if i := has(lang.Parse(hint.lang)); known == 0 && i >= 0 {
			of, source = i, hint.source
			if len(hint.lang) < len(found[i]) { // also other regions
				found[i] = hint.lang
			}
		}
	}
	if t.src, t.tgt = found[of], found[1-of]; !source {
		t.src, t.tgt = t.tgt, t.src
	}
	return nil
}

// in returns the text in a language, or "": that of its very tag, or else of one of the same
// language that is not the tag of the other side.
func (u *tmxUnit) in(language, other string) (text string) {
	want, not := lang.Parse(language), lang.Parse(other)
	for _, v := range u.variants {
		switch {
		case language == "":
		case v.tag == want:
			return v.text
		case text == "" && want.Same(v.tag) && v.tag != not:
			text = v.text
		}
	}
	return text
}

// attribute returns the value of an attribute, or "".
func attribute(t xml.StartElement, name string) string {
	for _, a := range t.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// limitedElements reads r, up to left bytes, which bounds the memory of a token of a decoder.
type limitedElements struct {
	r    io.Reader
	left int
}

func (l *limitedElements) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, fmt.Errorf("found text or an element longer than %d bytes", MaxLine)
	}
	n, err := l.r.Read(p[:min(len(p), l.left)])
	l.left -= n
	return n, err
}

// characters reads XML with characters that decoders refuse although programs write them: control
// characters, also as references, become references to U+FFFD.
type characters struct {
	r   *bufio.Reader
	out []byte // that is not read yet
}

// maxReference is more than the length of a reference.
const maxReference = 40

func (c *characters) Read(p []byte) (int, error) {
	if len(c.out) == 0 {
		if _, err := c.r.Peek(1); err != nil {
			return 0, err
		}
		next, _ := c.r.Peek(min(len(p), c.r.Buffered()))
		end := slices.IndexFunc(next, func(b byte) bool { return b == '&' || xmltext.Legal(rune(b)) != rune(b) })
		switch {
		case end < 0:
			end = len(next)
			fallthrough
		case end > 0:
			n := copy(p, next[:end])
			c.r.Discard(n)
			return n, nil
		}
		next, _ = c.r.Peek(maxReference)
		length, legal := legalCharacter(next)
		c.out = append(c.out, legal...)
		c.r.Discard(length)
	}
	n := copy(p, c.out)
	c.out = c.out[n:]
	return n, nil
}

// legalCharacter returns the replacement of the first bytes of b and their number: of a control
// character, of a reference to one, or of &.
func legalCharacter(b []byte) (length int, legal string) {
	if b[0] != '&' {
		return 1, "&#xFFFD;"
	}
	reference := string(b[:bytes.IndexByte(b, ';')+1])
	first, _ := utf8.DecodeRuneInString(html.UnescapeString(reference))
	if strings.HasPrefix(reference, "&#") && xmltext.Legal(first) == utf8.RuneError {
		return len(reference), "&#xFFFD;"
	}
	return 1, "&"
}
