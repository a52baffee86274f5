package translate

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"

	"tfm/lang"
	"tfm/model"
	"tfm/text"
	"tfm/text/detect"
)

// Memory has the translations of whole texts, as a translation memory. It is safe for concurrent
// use.
type Memory struct {
	targets map[string]string // by source
	pair    *model.Affixes    // of its languages, in a model of several; nil without

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

// ReadMemory reads a memory from a file of lines with source, tab, target, or TMX. Its languages
// are those of the model, in one of several from and to, "" for those of Options, and only texts in
// them have its translations. With anyRegion TMX that has none in them may have others of the same
// language and script. Pairs in the other direction are an error (detect.CheckDirection). The error
// is a *model.FieldError for from or to, or names the file.
func (t *Translator) ReadMemory(path, from, to string, anyRegion bool) (*Memory, error) {
	files := text.Files{Source: path, ExtraColumns: true, SrcLang: t.srcLang, TgtLang: t.tgtLang}
	var pair *model.Affixes
	if t.config.HasLanguages() {
		src, tgt, err := t.chooseLanguages(from, to)
		if err != nil {
			return nil, err
		}
		of := t.config.Affixes(src, tgt)
		files.SrcLang, files.TgtLang, pair = cmp.Or(lang.Parse(src.Code).WithScript(), t.srcLang), cmp.Or(lang.Parse(tgt.Code).WithScript(), t.tgtLang), &of
	}
	var sources, targets []string // the first ones
	read := func() (*Memory, error) {
		sources, targets = nil, nil
		return NewMemory(func(yield func(text.Pair, error) bool) {
			for p, err := range files.Views() {
				if len(sources) < detect.DirectionSample {
					sources, targets = append(sources, strings.Clone(p.Source)), append(targets, strings.Clone(p.Target))
				}
				if !yield(p, err) {
					return
				}
			}
		})
	}
	m, err := read()
	if anyRegion && errors.Is(err, text.ErrNoUnit) {
		files.SrcLang, files.TgtLang = withoutRegion(files.SrcLang), withoutRegion(files.TgtLang)
		if wider, err := read(); err == nil {
			m = wider
		}
	}
	if m == nil {
		return nil, err
	}
	src, tgt := t.Tags(from, to)
	if err := detect.CheckDirection(sources, targets, src, tgt); err != nil {
		return nil, fmt.Errorf("%s: %w", text.InputName(path), err)
	}
	m.pair = pair
	return m, nil
}

// withoutRegion returns a BCP 47 tag up to its script.
func withoutRegion(tag string) string {
	t := lang.Parse(tag)
	t.Region = ""
	return t.WithScript()
}

// Len returns the number of different sources.
func (m *Memory) Len() int { return len(m.targets) }

// Find returns the translation of a text that is a source of the memory, up to white space.
func (m *Memory) Find(text string) (target string, found bool) {
	target, found = m.targets[words(text)]
	return target, found
}

// inLanguagesOf reports whether text i of r is in the languages of r.Memory. It returns the affixes
// of the text and where it begins after its code. A memory of NewMemory has the languages of the
// texts without a code. A text without a language is in none.
func (t *Translator) inLanguagesOf(known affixesByCodes, r *Request, i int) (around affixes, offset int, ok bool) {
	code, offset := t.codeOf(r, i)
	around, err := t.affixes(known, r.From, cmp.Or(code, r.To))
	if pair := r.Memory.pair; err != nil { // which encode returns
		ok = false
	} else if pair == nil {
		ok = code == ""
	} else {
		ok = slices.Equal(around.Before, pair.Before) && slices.Equal(around.After, pair.After) && slices.Equal(around.Begin, pair.Begin)
	}
	return around, offset, ok
}

// words returns s with one space between its words.
func words(s string) string { return strings.Join(strings.Fields(s), " ") }

// recall sets the results of the texts that r.Memory has.
func (t *Translator) recall(r *Request, results []Result) {
	if r.Memory == nil || r.Decode.Sample {
		return
	}
	known := affixesByCodes{}
	for i, s := range r.Texts {
		if r.prefix(i) != "" {
			continue
		}
		_, offset, ok := t.inLanguagesOf(known, r, i)
		if !ok {
			continue
		}
		if r.isKept(i) {
			s, _, _ = restored(s, r.standIns[i])
		}
		target, found := r.Memory.Find(s[offset:])
		if !found {
			continue
		}
		results[i] = Result{Translations: []Translation{{Text: target}}, InMemory: true}
		if r.Certain != nil {
			r.Certain(i, target)
		}
	}
}
