package filter

import (
	"tfm/cmd/tfm/internal/cli"
	"tfm/text/markup"
	"tfm/translate"
)

// Tags is the flag that reads texts as markup.
type Tags struct{ Format string }

// TagFlags declares the flag of Tags.
func TagFlags(f *cli.Flags) *Tags {
	t := new(Tags)
	f.StringVar(&t.Format, "tags", "", "each text is a part of a document; its elements are placed around the words that translate theirs:\n"+
		"  html  read as browsers do\n"+
		"  xml   well-formed").Choices("html", "xml").Not("nbest", "align", "token-scores", "alternatives", "prefix")
	return t
}

// Apply sets the reader of documents.
func (t *Tags) Apply(o *translate.LineOptions) {
	switch t.Format {
	case "html":
		o.Markup = markup.ReadHTML
	case "xml":
		o.Markup = markup.ReadXML
	}
}
