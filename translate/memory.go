package translate

import (
	"errors"
	"iter"
	"strings"
	"sync"

	"tfm/text"
)

// Memory has the translations of whole texts, as a translation memory. It is safe for concurrent
// use.
type Memory struct {
	targets map[string]string // by source

	once    sync.Once
	sources *memoryIndex // of Request.Adapt
}

// index returns the index of the sources.
func (m *Memory) index() *memoryIndex {
	m.once.Do(func() { m.sources = newMemoryIndex(m.targets) })
	return m.sources
}

// NewMemory returns a memory of pairs, without those that have a blank side. Of several
// translations of a source it has the last. The error is the first of pairs.
func NewMemory(pairs iter.Seq2[text.Pair, error]) (*Memory, error) {
	m := &Memory{targets: map[string]string{}}
	for p, err := range pairs {
		if err != nil {
			return nil, err
		}
		if source := words(p.Source); source != "" && !text.IsBlank(p.Target) {
			m.targets[strings.Clone(source)] = strings.Clone(strings.TrimSpace(p.Target))
		}
	}
	return m, nil
}

// ReadMemory reads a memory from a file of lines with source, tab, target, or TMX. The languages of
// TMX are those of the model, which must be of one pair, or with anyRegion others of the same
// language and script if it has none in them. Errors name the file.
func (t *Translator) ReadMemory(path string, anyRegion bool) (*Memory, error) {
	files := text.Files{Source: path, ExtraColumns: true, SrcLang: t.srcLang, TgtLang: t.tgtLang}
	m, err := NewMemory(files.Views())
	if !anyRegion || !errors.Is(err, text.ErrNoUnit) {
		return m, err
	}
	files.SrcLang, files.TgtLang = withoutRegion(t.srcLang), withoutRegion(t.tgtLang)
	if wider, err := NewMemory(files.Views()); err == nil {
		return wider, nil
	}
	return nil, err
}

// withoutRegion returns a BCP 47 tag up to its script.
func withoutRegion(tag string) string {
	language, rest, _ := strings.Cut(tag, "-")
	if script, _, _ := strings.Cut(rest, "-"); len(script) == 4 {
		return language + "-" + script
	}
	return language
}

// Len returns the number of different sources.
func (m *Memory) Len() int { return len(m.targets) }

// Find returns the translation of a text that is a source of the memory, up to white space.
func (m *Memory) Find(text string) (target string, found bool) {
	target, found = m.targets[words(text)]
	return target, found
}

// words returns s with one space between its words.
func words(s string) string { return strings.Join(strings.Fields(s), " ") }

// recall sets the results of the texts that r.Memory has.
func (t *Translator) recall(r *Request, results []Result) {
	if r.Memory == nil || r.Decode.Sample || r.PhrasesOf != nil {
		return
	}
	for i, s := range r.Texts {
		if r.prefix(i) != "" {
			continue
		}
		whole := s
		if r.isKept(i) {
			whole, _, _ = restored(s, r.standIns[i])
		}
		target, found := r.Memory.Find(whole)
		if _, offset := t.textCode(s); !found || offset > 0 { // perhaps another language
			continue
		}
		results[i] = Result{Translations: []Translation{{Text: target}}, InMemory: true}
		if r.Certain != nil {
			r.Certain(i, target)
		}
	}
}
