package filter

import (
	"tfm/cmd/tfm/internal/cli"
	"tfm/translate"
)

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
