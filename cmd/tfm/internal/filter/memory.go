package filter

import (
	"cmp"

	"tfm/cmd/tfm/internal/cli"
	"tfm/text"
	"tfm/translate"
)

// Memory is the flag of a translation memory.
type Memory struct{ File string }

// MemoryFlag declares the flag of Memory.
func MemoryFlag(f *cli.Flags) *Memory {
	m := new(Memory)
	f.StringVar(&m.File, "memory", "", "translation memory, a `file` of lines with source, tab, target, or TMX: a text or sentence that it has gets its translation")
	return m
}

// Check reports flags, of given, for which a translation of a memory has nothing to say.
func (m *Memory) Check(given map[string]string) error {
	return cli.Excludes(m.File != "", given, "memory", "nbest", "align", "token-scores", "alternatives", "sample")
}

// Apply reads the memory of o. Its languages are from and to, or those of the model, as far as it
// has these tags.
func (m *Memory) Apply(o *translate.LineOptions, t *translate.Translator, from, to string) error {
	if m.File == "" {
		return nil
	}
	source, target := t.Languages()
	files := text.Files{Source: m.File, ExtraColumns: true, SrcLang: cmp.Or(from, source), TgtLang: cmp.Or(to, target)}
	var err error
	if o.Memory, err = translate.NewMemory(files.Views()); err != nil {
		files.Likely = true // other tags of the same languages
		if memory, likelyErr := translate.NewMemory(files.Views()); likelyErr == nil {
			o.Memory, err = memory, nil
		}
	}
	return err
}
