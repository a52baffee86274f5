package document

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
)

// xmlToken is a token of an XML file: src[start:end] of its editor. An element without content, as
// in <br/>, is a xml.StartElement and an empty xml.EndElement.
type xmlToken struct {
	start, end int
	xml.Token  // names have the prefix as Space; valid until the next token
}

// xml returns the tokens of e.src, which together are all of its bytes. It reports faults of
// syntax, and entities that a document type defines, which are never read.
func (e *editor) xml() iter.Seq2[xmlToken, error] {
	return func(yield func(xmlToken, error) bool) {
		d := xml.NewDecoder(strings.NewReader(e.src))
		d.CharsetReader = func(charset string, in io.Reader) (io.Reader, error) {
			if strings.HasPrefix(strings.ToLower(charset), "utf-16") { // e.src is already UTF-8
				return in, nil
			}
			return nil, fmt.Errorf("encoding %s, expected UTF-8 or UTF-16", charset)
		}
		var open []xml.Name
		for {
			start := int(d.InputOffset())
			token, err := d.RawToken()
			at := int(d.InputOffset())
			switch t := token.(type) {
			case xml.StartElement:
				open = append(open, t.Name)
				if len(open) > maxDepth {
					err = fmt.Errorf("elements nested deeper than %d", maxDepth)
				}
			case xml.EndElement:
				if len(open) == 0 || open[len(open)-1] != t.Name {
					err = fmt.Errorf("found the end of <%s>, expected that of another element", tagName(t.Name))
					break
				}
				open = open[:len(open)-1]
			}
			if err == io.EOF && len(open) == 0 {
				return
			}
			if err == io.EOF {
				err = fmt.Errorf("the file ends in <%s>", tagName(open[len(open)-1]))
			}
			if syntax := new(xml.SyntaxError); errors.As(err, &syntax) {
				err = errors.New(syntax.Msg)
			}
			if err != nil {
				yield(xmlToken{}, e.errorf(min(at, len(e.src)), "%v", err))
				return
			}
			if !yield(xmlToken{start, at, token}, nil) {
				return
			}
		}
	}
}

// tagName returns the name as it is written.
func tagName(n xml.Name) string {
	if n.Space == "" {
		return n.Local
	}
	return n.Space + ":" + n.Local
}

// attribute returns the value of an attribute by its name as it is written, or "".
func attribute(t xml.StartElement, name string) string {
	for _, a := range t.Attr {
		if tagName(a.Name) == name {
			return a.Value
		}
	}
	return ""
}
