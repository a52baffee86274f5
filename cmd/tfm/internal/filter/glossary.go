package filter

import (
	"tfm/cmd/tfm/internal/cli"
	"tfm/text"
	"tfm/translate"
)

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
