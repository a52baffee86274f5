package document

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"regexp"
	"strings"

	"tfm/text/markup"
)

var tmxRoot = regexp.MustCompile(`<tmx[\s>]`)

func isTMX(head string) bool { return tmxRoot.MatchString(head) }

// tmxVariant is a tuv: one language of a translation unit.
type tmxVariant struct {
	start, end int
	language   string
	segment    []xmlToken
}

// translateTMX adds a variant in the target language to each translation unit without one, or with
// an empty one.
func translateTMX(e *editor) error {
	if e.To == "" {
		return fmt.Errorf("%s: a TMX file needs the language of the translation", e.name)
	}
	source := e.From
	var unit []tmxVariant
	var tuv *tmxVariant
	depth := 0 // of open elements from seg on
	for t, err := range e.xml() {
		if err != nil {
			return err
		}
		switch token := t.Token.(type) {
		case xml.StartElement:
			token = token.Copy()
			t.Token = token
			switch name := token.Name.Local; {
			case depth > 0:
				depth++
			case name == "header" && source == "":
				source = attribute(token, "srclang")
			case name == "tu":
				unit, tuv = nil, nil
			case name == "tuv":
				unit = append(unit, tmxVariant{start: t.start, language: cmp.Or(attribute(token, "xml:lang"), attribute(token, "lang"))})
				tuv = &unit[len(unit)-1]
			case name == "seg" && tuv != nil && tuv.segment == nil:
				depth = 1
			}
		case xml.CharData:
			t.Token = token.Copy()
		}
		if depth > 0 {
			tuv.segment = append(tuv.segment, t)
		}
		token, isEnd := t.Token.(xml.EndElement)
		switch {
		case !isEnd:
		case depth > 0:
			depth--
		case token.Name.Local == "tuv" && tuv != nil:
			tuv.end, tuv = t.end, nil
		case token.Name.Local == "tu":
			if err := e.tmxUnit(unit, source); err != nil {
				return err
			}
			unit, tuv = nil, nil
		}
	}
	return nil
}

// sameLanguage reports whether two BCP 47 tags are of one language, where one may have no region.
func sameLanguage(a, b string) bool {
	a, b = strings.ToLower(strings.ReplaceAll(a, "_", "-")), strings.ToLower(strings.ReplaceAll(b, "_", "-"))
	return a == b || strings.HasPrefix(a, b+"-") || strings.HasPrefix(b, a+"-")
}

// tmxUnit makes the edit of a translation unit.
func (e *editor) tmxUnit(unit []tmxVariant, source string) error {
	var from, to *tmxVariant
	for i := range unit {
		u := &unit[i]
		if sameLanguage(u.language, e.To) && to == nil {
			to = u
		} else if from == nil && (source == "" || strings.EqualFold(source, "*all*") || sameLanguage(u.language, source)) {
			from = u
		}
	}
	if from == nil || len(from.segment) < 2 || to != nil && len(to.segment) > 2 {
		return nil
	}
	m := e.inline(from.segment[1 : len(from.segment)-1])
	if m.Plain == "" {
		return nil
	}
	if to != nil && len(to.segment) > 0 { // an empty segment
		start, end := to.segment[0].start, to.segment[len(to.segment)-1].end
		return e.edit(edit{start: start, end: end, texts: []markup.Text{m.Text}, always: true, write: func(ts []markup.Text) (string, error) {
			return "<seg>" + m.elements.render(ts[0], escapeXML) + "</seg>", nil
		}})
	}
	indent := whiteSpaceBefore(e.src, from.start)
	return e.edit(edit{start: from.end, end: from.end, texts: []markup.Text{m.Text}, always: true, write: func(ts []markup.Text) (string, error) {
		return indent + `<tuv xml:lang="` + escapeXML(e.To) + `"><seg>` + m.elements.render(ts[0], escapeXML) + "</seg></tuv>", nil
	}})
}
