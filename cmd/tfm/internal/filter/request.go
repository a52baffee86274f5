package filter

import (
	"unicode/utf8"

	"tfm/cmd/tfm/internal/cli"
	"tfm/text"
	"tfm/text/markup"
	"tfm/translate"
)

// Prefix is the flag that sets the begin of translations.
type Prefix struct{ text string }

// PrefixFlag declares the flag of Prefix.
func PrefixFlag(f *cli.Flags) *Prefix {
	p := new(Prefix)
	f.StringVar(&p.text, "prefix", "", "`text` with which every translation begins; it may end within a word")
	return p
}

// Apply sets the prefix of o.
func (p *Prefix) Apply(o *translate.LineOptions) error {
	o.Prefix = p.text
	return cli.UsageIf(!utf8.ValidString(p.text), "-prefix is %q, expected valid UTF-8", p.text)
}

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

// Glossary is the flag that sets the translations of terms.
type Glossary struct{ File string }

// GlossaryFlag declares the flag of Glossary.
func GlossaryFlag(f *cli.Flags) *Glossary {
	g := new(Glossary)
	f.StringVar(&g.File, "glossary", "", "`file` of a term, a tab and its translation on each line; the translation of a text with the term has that").Not("alternatives")
	return g
}

// Apply sets the glossary of o.
func (g *Glossary) Apply(o *translate.LineOptions) error {
	if g.File == "" {
		return nil
	}
	file, err := text.OpenInput(g.File)
	if err != nil {
		return err
	}
	defer file.Close()
	o.Glossary, err = translate.ReadGlossary(file, text.InputName(g.File))
	return err
}

// Memory has the flags of a translation memory.
type Memory struct {
	File  string
	Adapt float64
}

// MemoryFlags declares the flags of Memory.
func MemoryFlags(f *cli.Flags) *Memory {
	m := new(Memory)
	f.StringVar(&m.File, "memory", "", "translation memory, a `file` of lines with source, tab, target, or TMX: a text or sentence that it has gets its translation").
		Not("nbest", "align", "token-scores", "alternatives", "sample", "min-tokens", "max-tokens")
	f.Float64Var(&m.Adapt, "adapt", 0, "least `similarity` of a source of -memory to a text or sentence, such as 0.5, for which a copy of the model is tuned to that pair: better, and several times as slow; 0 is none").
		Needs("memory").Not("glossary", "protect", "tags", "stream").Setting()
	return m
}

// Check reports a similarity that is none.
func (m *Memory) Check() error {
	return cli.UsageIf(!(m.Adapt >= 0 && m.Adapt <= 1), "adapt is %v, expected 0 to 1", m.Adapt)
}

// Apply reads the memory of o. In a model of several languages it is of those of -from and -to.
func (m *Memory) Apply(o *translate.LineOptions, t *translate.Translator) (err error) {
	if m.File == "" {
		return nil
	}
	o.Adapt = m.Adapt
	o.Memory, err = t.ReadMemory(m.File, "", "", true)
	return err
}
