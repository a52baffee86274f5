package document

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"tfm/text/charset"
	"tfm/text/markup"
)

var (
	htmlRoot  = regexp.MustCompile(`(?i)^\s*(<!--[^>]*-->\s*)*(<!doctype html|<html[\s>])`)
	xhtmlRoot = regexp.MustCompile(`(?i)^\s*<\?xml[^>]*>\s*(<!--[^>]*-->\s*)*(<!doctype html|<html[\s>])`)
)

func isHTML(head string) bool  { return htmlRoot.MatchString(head) }
func isXHTML(head string) bool { return xhtmlRoot.MatchString(head) }

func translateHTML(d *document) error {
	return translateMarkup(d, markup.ReadHTML, charset.Windows1252.Name)
}
func translateXHTML(d *document) error { return translateMarkup(d, markup.ReadXML, "") }

// translateMarkup translates a document of HTML or XML, which names its encoding. One that does
// not, and is invalid UTF-8, is in the encoding unnamed.
func translateMarkup(d *document, read func(string) (*markup.Document, error), unnamed string) error {
	raw, err := d.bytes()
	if err != nil {
		return err
	}
	src, w := string(raw), d.w
	name := charset.Declared(src)
	if name == "" && !utf8.ValidString(src) {
		name = unnamed
	}
	switch {
	case charset.UTF16(src) != nil:
		e, err := d.open(nil)
		if err != nil {
			return err
		}
		src, w = e.src, e.w
	case strings.HasPrefix(src, charset.Mark) || name == "" || name == "utf-8" || name == "utf8":
	default:
		page := charset.Named(name)
		if page != nil {
			src, _ = page.Decode(src)
		} else if strings.ContainsFunc(src, func(r rune) bool { return r >= utf8.RuneSelf }) {
			return fmt.Errorf("%s: found text in %s, expected UTF-8", d.name, name)
		}
		w = encoder{d.w, func(s string) []byte { return withReferences(s, page) }}
	}
	doc, err := read(src)
	if err != nil {
		return fmt.Errorf("%s: %w", d.name, err)
	}
	texts, err := translateTexts(doc.Texts, d.f)
	if err != nil {
		return err
	}
	out, err := doc.Append(nil, texts, d.To)
	if err != nil {
		return fmt.Errorf("%s: %w", d.name, err)
	}
	_, err = w.Write(out)
	return err
}

// withReferences returns s in a page, or in ASCII if that is nil, with references to the characters
// that it lacks.
func withReferences(s string, page *charset.Page) (b []byte) {
	for _, r := range s {
		c, ok := byte(r), r < utf8.RuneSelf
		if page != nil {
			c, ok = page.Encode(r)
		}
		if ok {
			b = append(b, c)
		} else {
			b = fmt.Appendf(b, "&#%d;", r)
		}
	}
	return b
}

// translateTexts returns the translations of texts, group by group.
func translateTexts(texts []markup.Text, f Func) (translations []markup.Text, err error) {
	var g group
	for i, t := range texts {
		if !g.add([]markup.Text{t}) && i+1 < len(texts) {
			continue
		}
		more, err := g.translate(f)
		if err != nil {
			return nil, err
		}
		translations = append(translations, more...)
	}
	return translations, nil
}
