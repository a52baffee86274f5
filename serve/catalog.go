package serve

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"tfm/lang"
	"tfm/model"
	"tfm/text"
	"tfm/text/detect"
	"tfm/translate"
)

// catalog is the models of a server, and the pairs of languages that they translate. It does not
// change: reading models again makes another one.
type catalog struct {
	translators []*translate.Translator
	pairs       map[pair]direction
	sources     []string // languages of texts, sorted
	targets     map[string][]string
	detector    *detect.Detector // of sources
	glossaries  *glossaries

	users sync.WaitGroup // requests that translate with it
}

// pair is a source and a target language as BCP 47 tags.
type pair struct{ source, target string }

// direction is a model with the languages of its request, which are "" on a side with one.
type direction struct {
	*translate.Translator
	from, to string
	memory   *translate.Memory // nil for none
}

// openCatalog opens the models of o: files, or folders with files *.safetensors. Of two models of
// a pair the first counts.
func openCatalog(o *Options) (c *catalog, err error) {
	c = &catalog{pairs: map[pair]direction{}}
	defer func() {
		if err != nil {
			c.close()
		}
	}()
	if c.glossaries, err = readGlossaries(o.Glossaries); err != nil {
		return c, err
	}
	files, err := modelFiles(o.Models)
	if err != nil {
		return c, err
	}
	for _, file := range files {
		t, err := translate.Open(file, o.Open)
		if err != nil {
			return c, err
		}
		c.translators = append(c.translators, t)
		if err := c.add(t); err != nil {
			return c, fmt.Errorf("%s: %w", file, err)
		}
	}
	c.route()
	return c, c.readMemory(o.Memory)
}

// readMemory gives the memory at path, unless it is "", to the models of one pair whose languages
// it has, and to those of several in both directions of its two languages. One without languages
// needs a server of one pair.
func (c *catalog) readMemory(path string) error {
	if path == "" {
		return nil
	}
	if _, err := os.Stat(path); err != nil {
		return err
	}
	if n := len(c.pairs); n > 1 && !text.IsTMX(path) {
		return fmt.Errorf("%s: the file does not name its languages and there are models of %d pairs, expected TMX, or models of one pair", path, n)
	}
	pairs, none := c.memoryPairs(path)
	found := false
	for _, p := range pairs {
		d := c.pairs[p]
		var err error
		d.memory, err = d.ReadMemory(path, d.from, d.to, !c.hasOtherRegion(p))
		switch {
		case err == nil:
			found, c.pairs[p] = true, d
		case !errors.Is(err, text.ErrNoUnit):
			return err
		default:
			none = err
		}
	}
	if found {
		return nil
	}
	return none
}

// memoryPairs returns the pairs that may have translations in the memory at path: those of models
// of one pair and, in both directions, of its languages if it is of two. The error says why there
// are none.
func (c *catalog) memoryPairs(path string) (pairs []pair, none error) {
	for _, source := range c.sources {
		for _, target := range c.targets[source] {
			p := pair{source, target}
			if d, ok := c.pairs[p]; ok && (d.from+d.to == "" || len(c.pairs) == 1) {
				pairs = append(pairs, p)
			}
		}
	}
	if len(pairs) == len(c.pairs) {
		return pairs, nil
	}
	var languages [2]string
	for _, none = range (text.Files{Source: path, Languages: &languages}).Views() {
	}
	for _, l := range [][2]string{languages, {languages[1], languages[0]}} {
		source, _ := find(c.sources, l[0])
		target, _ := find(c.targets[source], l[1])
		if p := (pair{source, target}); c.pairs[p].Translator != nil && !slices.Contains(pairs, p) {
			pairs = append(pairs, p)
		}
	}
	if none == nil {
		none = fmt.Errorf("%s: found no model for %s and %s", path, languages[0], languages[1])
	}
	return pairs, none
}

// hasOtherRegion reports whether there is a pair of the languages of p in other regions or scripts.
func (c *catalog) hasOtherRegion(p pair) bool {
	for q := range c.pairs {
		if q != p && lang.Primary(q.source) == lang.Primary(p.source) && lang.Primary(q.target) == lang.Primary(p.target) {
			return true
		}
	}
	return false
}

// modelFiles returns the files at paths.
func modelFiles(paths []string) (files []string, err error) {
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			files = append(files, path)
			continue
		}
		inFolder, err := filepath.Glob(filepath.Join(path, "*.safetensors"))
		if err == nil && len(inFolder) == 0 {
			err = fmt.Errorf("%s: found no *.safetensors, expected a model file", path)
		}
		if err != nil {
			return nil, err
		}
		files = append(files, inFolder...)
	}
	return files, nil
}

// add adds the pairs of a model.
func (c *catalog) add(t *translate.Translator) error {
	source, target := t.Languages()
	config := t.Config()
	from, err := namesOf(config.SrcLanguages, source)
	if err != nil {
		return err
	}
	to, err := namesOf(config.TgtLanguages, target)
	if err != nil {
		return err
	}
	for _, s := range from {
		for _, t1 := range to {
			p := pair{s.tag, t1.tag}
			if _, ok := c.pairs[p]; !ok && s.tag != t1.tag {
				c.pairs[p] = direction{Translator: t, from: s.code, to: t1.code}
			}
		}
	}
	return nil
}

// name is a language and its code in requests, "" for the only one.
type name struct{ tag, code string }

// namesOf returns the languages of a side of a model: those of its list, or the only one.
func namesOf(l model.Languages, only string) (names []name, err error) {
	for _, language := range l.List() {
		names = append(names, name{lang.Of(language.Code), language.Code})
	}
	if len(names) == 0 && only == "" {
		return nil, errors.New("the file does not name its languages; 'tfm train' and 'tfm import' record them with -src-lang and -tgt-lang")
	}
	if len(names) == 0 {
		names = []name{{only, ""}}
	}
	return names, nil
}

// route sets the languages, and the targets of each one, also those through a common language.
func (c *catalog) route() {
	direct := map[string][]string{}
	for p := range c.pairs {
		direct[p.source] = append(direct[p.source], p.target)
	}
	c.targets = map[string][]string{}
	for source, targets := range direct {
		reached := map[string]bool{source: true}
		for _, target := range targets {
			reached[target] = true
		}
		c.targets[source] = slices.Clone(targets)
		for _, common := range targets {
			for _, target := range direct[common] {
				if !reached[target] {
					reached[target] = true
					c.targets[source] = append(c.targets[source], target)
				}
			}
		}
		slices.Sort(c.targets[source])
		c.sources = append(c.sources, source)
	}
	slices.Sort(c.sources)
	c.detector, _ = detect.Default().Among(c.sources...) // never those that it does not know
}

// allTargets returns the languages of translations, sorted.
func (c *catalog) allTargets() (all []string) {
	for _, targets := range c.targets {
		all = append(all, targets...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// steps returns the models that translate a pair one after another: one, or two with a common
// language. It returns nil for a pair that models do not connect.
func (c *catalog) steps(p pair) []direction {
	if d, ok := c.pairs[p]; ok {
		return []direction{d}
	}
	common := c.common(p)
	if common == "" {
		return nil
	}
	return []direction{c.pairs[pair{p.source, common}], c.pairs[pair{common, p.target}]}
}

// common returns the language through which two models translate a pair: English or the first by
// its tag, or "" without one.
func (c *catalog) common(p pair) (common string) {
	for first := range c.pairs {
		_, ok := c.pairs[pair{first.target, p.target}]
		if first.source == p.source && ok && common != "en" && (common == "" || first.target == "en" || first.target < common) {
			common = first.target
		}
	}
	return common
}

// close closes the models when no request translates with them.
func (c *catalog) close() {
	c.users.Wait()
	for _, t := range c.translators {
		t.Close()
	}
}

// find returns the language of list that a client's code means: the one that best answers it, or
// the only one of that language, as zh is for zh-TW.
func find(list []string, code string) (tag string, ok bool) {
	if found := lang.Best(code, list); len(found) > 0 {
		return list[found[0]], true
	}
	for _, t := range list {
		if lang.Primary(t) == lang.Primary(code) {
			if ok {
				return "", false
			}
			tag, ok = t, true
		}
	}
	return tag, ok
}

// publicCode returns the code by which clients of LibreTranslate know a language.
func publicCode(tag string) string {
	if tag == "zh" {
		return "zh-Hans"
	}
	return tag
}
