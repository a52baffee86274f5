package serve

import (
	"fmt"

	"tfm/lang"
	"tfm/text/document"
	"tfm/text/markup"
)

// libreAnswer is the answer of LibreTranslate. Each field is a list if the request has one.
type libreAnswer struct {
	TranslatedText   any `json:"translatedText"`
	DetectedLanguage any `json:"detectedLanguage,omitempty"` // of source "auto"
	Alternatives     any `json:"alternatives,omitempty"`     // if asked for
}

func answerLibre(c *call) (any, error) {
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
	if n > maxAlternatives {
		return nil, badRequest(fmt.Sprintf("Invalid request: alternatives parameter must be <= %d", maxAlternatives))
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
	best, alternatives, languages, err := c.run(r)
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

// answerLanguages answers /languages of LibreTranslate.
func answerLanguages(c *call) (any, error) {
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

// answerSettings answers /frontend/settings of LibreTranslate.
func answerSettings(c *call) (any, error) {
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

// answerDetect answers /detect of LibreTranslate: the candidates, the most probable one first.
func answerDetect(c *call) (any, error) {
	texts, _, err := c.texts("q")
	if err != nil {
		return nil, err
	}
	if len(texts) == 0 || texts[0] == "" {
		return nil, missing("q")
	}
	if err := c.checkTexts(texts); err != nil {
		return nil, err
	}
	list := []detected{}
	for _, candidate := range c.catalog.detector.Candidates(texts[0]) {
		list = append(list, detected{100 * candidate.Confidence, publicCode(candidate.Lang)})
	}
	if len(list) == 0 {
		list = []detected{c.languageOf(texts[0])}
	}
	return list, nil
}
