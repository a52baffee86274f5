package translate

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"tfm/model"
	"tfm/text"
)

// maxXMLDepth limits the depth of elements of a TBX file.
const maxXMLDepth = 256

// tbxTerm is a term of a concept in one language.
type tbxTerm struct {
	tag, text, status string
}

// readTBX adds the concepts of a TBX file (ISO 30042, of 2008 or 2019) that have terms in both
// languages: those of from are forms, those of to translations, the preferred ones first and
// without deprecated ones. Languages are tags of BCP 47; "en" is also "en-US". An empty one is the
// first or second in the file.
func (g *Glossary) readTBX(data []byte, from, to string) (line int, err error) {
	d := xml.NewDecoder(bytes.NewReader(data))
	var terms []tbxTerm // of the concept
	var languages []string
	var language string
	var into *string // that character data is added to
	added := 0
	for depth := 0; ; {
		token, err := d.Token()
		line, _ = d.InputPos()
		if err == io.EOF {
			break
		} else if err != nil {
			var syntax *xml.SyntaxError
			if errors.As(err, &syntax) {
				err = errors.New(syntax.Msg)
			}
			return line, err
		}
		switch token := token.(type) {
		case xml.Directive:
			if bytes.Contains(token, []byte("<!ENTITY")) {
				return line, errors.New("found the definition of an entity, expected none")
			}
		case xml.StartElement:
			if depth++; depth > maxXMLDepth {
				return line, fmt.Errorf("found more than %d elements within each other", maxXMLDepth)
			}
			switch name := token.Name.Local; {
			case name == "termEntry" || name == "conceptEntry":
				terms = nil
			case name == "langSet" || name == "langSec":
				language = attribute(token, "lang")
				if !slices.Contains(languages, language) {
					languages = append(languages, language)
				}
			case name == "term":
				if len(terms) >= 2*maxTermForms {
					return line, fmt.Errorf("found more than %d terms of a concept", 2*maxTermForms)
				}
				terms = append(terms, tbxTerm{tag: language})
				into = &terms[len(terms)-1].text
			case len(terms) > 0 && (name == "administrativeStatus" || name == "termNote" && attribute(token, "type") == "administrativeStatus"):
				into = &terms[len(terms)-1].status
			}
		case xml.CharData:
			if into == nil {
				break
			}
			if *into += string(token); len(*into) > maxTermBytes {
				return line, fmt.Errorf("term %.40q: more than %d bytes", *into, maxTermBytes)
			}
		case xml.EndElement:
			depth--
			switch token.Name.Local {
			case "term", "termNote", "administrativeStatus":
				into = nil
			case "termEntry", "conceptEntry":
				ok, err := g.addConcept(terms, languages, from, to)
				if err != nil {
					return line, err
				}
				if terms = nil; ok {
					added++
				}
			}
		}
	}
	if added == 0 {
		return line, fmt.Errorf("found no concept with terms in two languages, %q and %q, expected them among %q", from, to, languages)
	}
	return line, nil
}

// addConcept adds the terms of a concept, and reports false if one of the languages has none.
func (g *Glossary) addConcept(terms []tbxTerm, languages []string, from, to string) (added bool, err error) {
	is := func(tag, wanted string, index int) bool {
		if wanted == "" {
			return index < len(languages) && tag == languages[index]
		}
		tag, wanted = strings.ToLower(tag), strings.ToLower(cmp.Or(model.LanguageTag(wanted), wanted))
		return tag == wanted || strings.HasPrefix(tag, wanted+"-") || strings.HasPrefix(wanted, tag+"-")
	}
	var forms, targets []string
	preferred := 0
	for _, t := range terms {
		switch {
		case text.IsBlank(t.text):
		case is(t.tag, from, 0):
			forms = append(forms, t.text)
		case !is(t.tag, to, 1) || strings.Contains(t.status, "deprecated") || strings.Contains(t.status, "superseded"):
		case strings.Contains(t.status, "preferred"):
			targets = slices.Insert(targets, preferred, t.text)
			preferred++
		default:
			targets = append(targets, t.text)
		}
	}
	if len(forms) == 0 || len(targets) == 0 {
		return false, nil
	}
	return true, g.add(forms, targets, false)
}

// attribute returns the attribute of an element, whatever its namespace.
func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}
