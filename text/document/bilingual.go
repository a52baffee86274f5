package document

import (
	"fmt"
	"io"
	"strings"

	"tfm/text/internal/xmltext"
	"tfm/text/markup"
)

// pairWriter writes the texts of a document with their translations.
type pairWriter struct {
	w     io.Writer
	pairs int
	state string // of the targets in XLIFF
}

// bilinguals has the ways to write texts with their translations, by the value of
// Options.Bilingual.
var bilinguals = map[string]struct {
	begin func(d *document) string
	pair  func(p *pairWriter, source, target markup.Text) string
	end   string
}{
	"tsv":   {func(*document) string { return "" }, (*pairWriter).columns, ""},
	"xliff": {xliffBegin, (*pairWriter).unit, "</body></file></xliff>\n"},
}

// translateBilingual writes the texts of d in place of the document.
func translateBilingual(d document, translate func(*document) error) error {
	form, known := bilinguals[d.Bilingual]
	if !known {
		return fmt.Errorf("bilingual form %q: expected tsv or xliff", d.Bilingual)
	}
	p := pairWriter{w: d.w, state: "translated"}
	if d.Review {
		p.state = "needs-review-translation"
	}
	if _, err := io.WriteString(p.w, form.begin(&d)); err != nil {
		return err
	}
	f := d.f
	d.w, d.f = io.Discard, func(texts []markup.Text) ([]markup.Text, error) {
		translations, err := f(texts)
		if err != nil || len(translations) != len(texts) {
			return translations, err
		}
		var b strings.Builder
		for i, t := range texts {
			p.pairs++
			b.WriteString(form.pair(&p, t, translations[i]))
		}
		_, err = io.WriteString(p.w, b.String())
		return translations, err
	}
	if err := translate(&d); err != nil {
		return err
	}
	_, err := io.WriteString(p.w, form.end)
	return err
}

var oneRow = strings.NewReplacer("\t", " ", "\n", " ", "\r", " ")

// columns returns the row of a pair in two columns.
func (p *pairWriter) columns(source, target markup.Text) string {
	return oneRow.Replace(source.Plain) + "\t" + oneRow.Replace(target.Plain) + "\n"
}

// xliffBegin returns the begin of a file of XLIFF 1.2. An unknown language is "und".
func xliffBegin(d *document) string {
	from, target := "und", ""
	if d.From != "" {
		from = d.From
	}
	if d.To != "" {
		target = fmt.Sprintf(" target-language=%q", xmltext.Escape(d.To))
	}
	original := xmltext.EscapeAttr(d.name)
	return `<?xml version="1.0" encoding="UTF-8"?>` + "\n" +
		`<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"><file original="` + original +
		fmt.Sprintf("\" source-language=%q%s datatype=\"plaintext\"><body>\n", xmltext.Escape(from), target)
}

// unit returns the trans-unit of a pair.
func (p *pairWriter) unit(source, target markup.Text) string {
	return fmt.Sprintf("<trans-unit id=\"%d\" xml:space=\"preserve\">\n<source>%s</source>\n<target state=%q>%s</target>\n</trans-unit>\n",
		p.pairs, xliffInline(source), p.state, xliffInline(target))
}

// xliffInline returns a text with its spans as inline elements of XLIFF 1.2.
func xliffInline(t markup.Text) string {
	es := make(map[int]element, len(t.Spans))
	for _, s := range t.Spans {
		switch {
		case s.Start == s.End:
			es[s.ID] = element{open: fmt.Sprintf(`<x id="%d"/>`, s.ID)}
		case s.Keep:
			es[s.ID] = element{open: `<mrk mtype="protected">` + xmltext.Escape(t.Plain[s.Start:s.End]) + "</mrk>"}
		default:
			es[s.ID] = element{open: fmt.Sprintf(`<g id="%d">`, s.ID), close: "</g>"}
		}
	}
	return render(t, func(id int) element { return es[id] }, func(start, end, _ int) string {
		return xmltext.Escape(t.Plain[start:end])
	})
}
