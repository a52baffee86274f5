package serve

import (
	"fmt"
	"slices"

	"tfm/lang"
	"tfm/text/document"
	"tfm/text/markup"
)

// detected is a language as LibreTranslate answers it; confidence is in percent.
type detected struct {
	Confidence float64 `json:"confidence"`
	Language   string  `json:"language"`
}

// translateShared answers /translate, the path of LibreTranslate, DeepLX and Immersive Translate,
// which name their texts q, text and text_list.
func translateShared(c *call) (any, error) {
	if c.has("text_list") {
		return translateImmersive(c)
	}
	if c.isDeepLX() {
		return translateDeepLX(c)
	}
	return translateLibre(c)
}

// isDeepLX reports whether a request of /translate is one of DeepLX.
func (c *call) isDeepLX() bool { return !c.has("q") && c.has("text") }

// libreAnswer is the answer of LibreTranslate. Each field is a list if the request has one.
type libreAnswer struct {
	TranslatedText   any `json:"translatedText"`
	DetectedLanguage any `json:"detectedLanguage,omitempty"` // of source "auto"
	Alternatives     any `json:"alternatives,omitempty"`     // if asked for
}

func translateLibre(c *call) (any, error) {
	texts, isList, err := c.texts("q")
	if err != nil {
		return nil, err
	}
	if c.json == nil && len(texts) > 1 {
		texts, isList = texts[:1], false
	}
	if len(texts) == 0 || !isList && texts[0] == "" {
		return nil, missing("q")
	}
	source, target, format := c.text("source"), c.text("target"), c.text("format")
	switch {
	case source == "":
		return nil, missing("source")
	case target == "":
		return nil, missing("target")
	}
	n, err := c.number("alternatives")
	if err != nil {
		return nil, err
	}
	if limit := c.options.MaxAlternates; n > limit {
		return nil, badRequest(fmt.Sprintf("Invalid request: alternatives parameter must be <= %d", limit))
	}
	if format != "" && format != "text" && format != "html" {
		return nil, badRequest(format + " format is not supported")
	}
	if err := c.checkTexts(texts); err != nil {
		return nil, err
	}
	r := textsRequest{texts: texts, source: source, target: target, glossary: c.text("glossary"), alternatives: n}
	if format == "html" {
		r.markup = markup.ReadHTML
	}
	best, alternatives, languages, err := c.translate(r)
	if err != nil {
		return nil, err
	}
	var answer libreAnswer
	if answer.TranslatedText = any(best); !isList {
		answer.TranslatedText = best[0]
	}
	if source == "auto" {
		if answer.DetectedLanguage = any(languages); !isList {
			answer.DetectedLanguage = languages[0]
		}
	}
	if n > 0 {
		if answer.Alternatives = any(alternatives); !isList {
			answer.Alternatives = alternatives[0]
		}
	}
	return answer, nil
}

func missing(name string) error {
	return badRequest("Invalid request: missing " + name + " parameter")
}

// textsRequest asks for translations of texts between languages as clients name them.
type textsRequest struct {
	texts          []string
	source, target string
	glossary       string                                 // by name
	alternatives   int                                    // of each text
	markup         func(string) (*markup.Document, error) // nil for plain text
}

// translate translates texts. With source "auto" each text has its own, and languages are those
// found.
func (c *call) translate(r textsRequest) (best []string, alternatives [][]string, languages []detected, err error) {
	groups, languages, err := c.bySource(r.texts, r.source)
	if err != nil {
		return nil, nil, nil, err
	}
	best, alternatives = slices.Clone(r.texts), make([][]string, len(r.texts))
	for i := range alternatives {
		alternatives[i] = []string{}
	}
	for _, g := range groups {
		j := &job{alternatives: r.alternatives, markup: r.markup}
		p, err := c.setSteps(j, g.source, r.target)
		if err != nil {
			return nil, nil, nil, err
		}
		if j.glossary, err = c.glossaryFor(r.glossary, j.steps, p); err != nil {
			return nil, nil, nil, err
		}
		if len(j.steps) == 0 { // into its own language
			continue
		}
		var of []string
		for _, i := range g.indices {
			of = append(of, r.texts[i])
		}
		out, others, err := c.translateTexts(j, of)
		if err != nil {
			return nil, nil, nil, err
		}
		for k, i := range g.indices {
			best[i], alternatives[i] = out[k], others[k]
		}
	}
	return best, alternatives, languages, nil
}

// textsOf are the indices of texts in a language.
type textsOf struct {
	source  string
	indices []int
}

// bySource divides texts by their languages.
func (c *call) bySource(texts []string, source string) (groups []textsOf, languages []detected, err error) {
	for i, s := range texts {
		of := source
		if source == "auto" {
			d := c.detect(s)
			languages = append(languages, d)
			of = d.Language
		}
		k := slices.IndexFunc(groups, func(g textsOf) bool { return g.source == of })
		if k < 0 {
			k, groups = len(groups), append(groups, textsOf{source: of})
		}
		groups[k].indices = append(groups[k].indices, i)
	}
	return groups, languages, nil
}

// setSteps sets the models of a job between two languages as clients name them, none if they are
// one language, and returns the pair.
func (c *call) setSteps(j *job, source, target string) (p pair, err error) {
	all := slices.Concat(c.catalog.sources, c.catalog.allTargets())
	from, ok := find(all, source)
	if !ok {
		return p, badRequest(source + " is not supported")
	}
	to, ok := find(all, target)
	if !ok {
		return p, badRequest(target + " is not supported")
	}
	p = pair{from, to}
	if from == to {
		return p, nil
	}
	if j.steps = c.catalog.steps(p); j.steps == nil {
		return p, badRequest(fmt.Sprintf("%s (%s) is not available as a target language from %s (%s)", lang.Name(to), publicCode(to), lang.Name(from), publicCode(from)))
	}
	return p, nil
}

// languages answers /languages of LibreTranslate.
func languages(c *call) (any, error) {
	type language struct {
		Code    string   `json:"code"`
		Name    string   `json:"name"`
		Targets []string `json:"targets"`
	}
	list := []language{}
	for _, tag := range c.catalog.sources {
		targets := []string{}
		for _, t := range c.catalog.targets[tag] {
			targets = append(targets, publicCode(t))
		}
		list = append(list, language{publicCode(tag), lang.Name(tag), targets})
	}
	return list, nil
}

// settings answers /frontend/settings of LibreTranslate.
func settings(c *call) (any, error) {
	source := c.catalog.sources[0]
	target := c.catalog.targets[source][0]
	side := func(tag string) map[string]string {
		return map[string]string{"code": publicCode(tag), "name": lang.Name(tag)}
	}
	return map[string]any{
		"charLimit":            c.options.MaxCharacters,
		"frontendTimeout":      500,
		"apiKeys":              c.options.Keys != "",
		"keyRequired":          c.options.Keys != "",
		"suggestions":          false,
		"filesTranslation":     true,
		"supportedFilesFormat": document.Extensions(),
		"language":             map[string]any{"source": side(source), "target": side(target)},
	}, nil
}
