package document

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"tfm/text/internal/xmltext"
	"tfm/text/markup"
)

// translateBilingual writes the texts of d with their translations in place of the document: as a
// table of two columns, or as a file of XLIFF 1.2.
func translateBilingual(d document, translate func(*document) error) error {
	begin, end, pair := "", "", columns
	switch d.Bilingual {
	case "tsv":
	case "xliff":
		begin, end, pair = xliffBegin(d), "</body></file></xliff>\n", transUnit(d.Review)
	default:
		return fmt.Errorf("bilingual form %q: expected tsv or xliff", d.Bilingual)
	}
	w, f := d.w, d.f
	if _, err := io.WriteString(w, begin); err != nil {
		return err
	}
	d.w, d.f = io.Discard, func(texts []markup.Text) ([]markup.Text, error) {
		translations, err := f(texts)
		if err != nil || len(translations) != len(texts) {
			return translations, err
		}
		var b strings.Builder
		for i, t := range texts {
			b.WriteString(pair(t, translations[i]))
		}
		_, err = io.WriteString(w, b.String())
		return translations, err
	}
	if err := translate(&d); err != nil {
		return err
	}
	_, err := io.WriteString(w, end)
	return err
}

var oneRow = strings.NewReplacer("\t", " ", "\n", " ", "\r", " ")

// columns returns the row of a pair in two columns.
func columns(source, target markup.Text) string {
	return oneRow.Replace(source.Plain) + "\t" + oneRow.Replace(target.Plain) + "\n"
}

// xliffBegin returns the begin of a file of XLIFF 1.2. An unknown language is "und".
func xliffBegin(d document) string {
	target := ""
	if d.To != "" {
		target = fmt.Sprintf(" target-language=%q", xmltext.Escape(d.To))
	}
	return `<?xml version="1.0" encoding="UTF-8"?>` + "\n" +
		`<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"><file original="` + xmltext.EscapeAttr(d.name) +
		fmt.Sprintf("\" source-language=%q%s datatype=\"plaintext\"><body>\n", xmltext.Escape(cmp.Or(d.From, "und")), target)
}

// transUnit returns a function that returns the trans-unit of the next pair.
func transUnit(review bool) func(source, target markup.Text) string {
	state, units := "translated", 0
	if review {
		state = "needs-review-translation"
	}
	return func(source, target markup.Text) string {
		units++
		return fmt.Sprintf("<trans-unit id=\"%d\" xml:space=\"preserve\">\n<source>%s</source>\n<target state=%q>%s</target>\n</trans-unit>\n",
			units, xliffInline(source), state, xliffInline(target))
	}
}

// xliffInline returns a text with its spans as inline elements of XLIFF 1.2.
func xliffInline(t markup.Text) string {
	var es elements
	for _, s := range t.Spans {
		es = append(es, make(elements, max(0, s.ID+1-len(es)))...)
		switch {
		case s.Start == s.End:
			es[s.ID].open = fmt.Sprintf(`<x id="%d"/>`, s.ID)
		case s.Keep:
			es[s.ID].open = `<mrk mtype="protected">` + xmltext.Escape(t.Plain[s.Start:s.End]) + "</mrk>"
		default:
			es[s.ID] = element{open: fmt.Sprintf(`<g id="%d">`, s.ID), close: "</g>"}
		}
	}
	return es.render(t, xmltext.Escape)
}
