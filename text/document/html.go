package document

import (
	"fmt"
	"regexp"

	"tfm/text/charset"
	"tfm/text/markup"
)

var (
	htmlRoot  = regexp.MustCompile(`(?i)^\s*(<!--[^>]*-->\s*)*(<!doctype html|<html[\s>])`)
	xhtmlRoot = regexp.MustCompile(`(?i)^\s*<\?xml[^>]*>\s*(<!--[^>]*-->\s*)*(<!doctype html|<html[\s>])`)
)

func isHTML(head string) bool  { return htmlRoot.MatchString(head) }
func isXHTML(head string) bool { return xhtmlRoot.MatchString(head) }

func translateHTML(d *document) error  { return translateMarkup(d, markup.ReadHTML) }
func translateXHTML(d *document) error { return translateMarkup(d, markup.ReadXML) }

// translateMarkup translates a document of HTML or XML, which names its encoding.
func translateMarkup(d *document, read func(string) (*markup.Document, error)) error {
	raw, err := d.bytes()
	if err != nil {
		return err
	}
	src, w := string(raw), d.w
	if charset.UTF16(src) != nil {
		e, err := d.open(nil)
		if err != nil {
			return err
		}
		src, w = e.src, e.w
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
