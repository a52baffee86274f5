package serve

import (
	"fmt"
	"slices"

	"tfm/lang"
	"tfm/text/detect"
)

// detected is a language as LibreTranslate answers it; confidence is in percent.
type detected struct {
	Confidence float64 `json:"confidence"`
	Language   string  `json:"language"`
}

// languageOf returns the language of a text among those that models translate from, by the code of
// clients. Without evidence it is the first one, with confidence 0.
func (c *call) languageOf(s string) detected {
	tag, confidence := c.catalog.detector.Detect(s)
	if tag == detect.Unknown {
		tag, confidence = c.catalog.sources[0], 0
	}
	return detected{100 * confidence, publicCode(tag)}
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
			d := c.languageOf(s)
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

// stepsOf returns the pair of two languages as clients name them, and its models, none if they are
// one language.
func (c *call) stepsOf(source, target string) (p pair, steps []direction, err error) {
	all := slices.Concat(c.catalog.sources, c.catalog.allTargets())
	from, ok := find(all, source)
	if !ok {
		return p, nil, badRequest(source + " is not supported")
	}
	to, ok := find(all, target)
	if !ok {
		return p, nil, badRequest(target + " is not supported")
	}
	p = pair{from, to}
	if from == to {
		return p, nil, nil
	}
	if steps = c.catalog.steps(p); steps == nil {
		return p, nil, badRequest(fmt.Sprintf("%s (%s) is not available as a target language from %s (%s)", lang.Name(to), publicCode(to), lang.Name(from), publicCode(from)))
	}
	return p, steps, nil
}
