package serve

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"

	"tfm/lang"
	"tfm/text/markup"
)

// answerDeepLX answers DeepLX: one text, with up to three alternatives.
func answerDeepLX(c *call) (any, error) {
	s, target := c.text("text"), c.text("target_lang")
	if s == "" || target == "" {
		return nil, &statusError{status: http.StatusBadRequest, message: "text and target_lang are required"}
	}
	best, alternatives, languages, err := c.runDeepL([]string{s}, target, 3)
	if err != nil {
		return nil, err
	}
	return map[string]any{
		"code":         http.StatusOK,
		"id":           rand.Int64N(1 << 40),
		"data":         best[0],
		"alternatives": alternatives[0],
		"source_lang":  strings.ToUpper(languages[0].Language),
		"target_lang":  strings.ToUpper(target),
		"method":       "Free",
	}, nil
}

// answerImmersive answers Immersive Translate's interface of one's own: a list of texts.
func answerImmersive(c *call) (any, error) {
	texts, _, err := c.texts("text_list")
	if err != nil {
		return nil, err
	}
	best, _, languages, err := c.runDeepL(texts, c.text("target_lang"), 0)
	if err != nil {
		return nil, err
	}
	type translation struct {
		Language string `json:"detected_source_lang"`
		Text     string `json:"text"`
	}
	list := make([]translation, len(best))
	for i := range best {
		list[i] = translation{languages[i].Language, best[i]}
	}
	return map[string]any{"translations": list}, nil
}

// answerDeepL answers version 2 of DeepL's interface.
func answerDeepL(c *call) (any, error) {
	texts, _, err := c.texts("text")
	if err != nil {
		return nil, err
	}
	if len(texts) == 0 {
		return nil, badRequest("Parameter 'text' not specified.")
	}
	if c.text("target_lang") == "" {
		return nil, badRequest("Value for 'target_lang' not supported.")
	}
	best, _, languages, err := c.runDeepL(texts, c.text("target_lang"), 0)
	if err != nil {
		return nil, err
	}
	type translation struct {
		Language string `json:"detected_source_language"`
		Text     string `json:"text"`
		Billed   int    `json:"billed_characters"`
	}
	list := make([]translation, len(best))
	for i := range best {
		list[i] = translation{strings.ToUpper(languages[i].Language), best[i], characters(texts[i : i+1])}
	}
	return map[string]any{"translations": list}, nil
}

// usageDeepL answers the usage of DeepL's interface: the characters that were translated, without
// a limit.
func usageDeepL(c *call) (any, error) {
	return map[string]int64{"character_count": c.metrics.characters(), "character_limit": 1 << 40}, nil
}

// runDeepL is translate with parameters by DeepL's names. The source may be "" or auto. It
// always returns the language of each text.
func (c *call) runDeepL(texts []string, target string, alternatives int) (best []string, others [][]string, languages []detected, err error) {
	if err := c.checkTexts(texts); err != nil {
		return nil, nil, nil, err
	}
	r := textsRequest{texts: texts, source: cmp.Or(strings.ToLower(c.text("source_lang")), "auto"), target: target, glossary: c.text("glossary_id"), alternatives: alternatives}
	switch tags := c.text("tag_handling"); tags {
	case "":
	case "html":
		r.markup = markup.ReadHTML
	case "xml":
		ignored, _, err := c.texts("ignore_tags")
		if err != nil {
			return nil, nil, nil, err
		}
		r.markup = markup.KeepXML(strings.Split(strings.Join(ignored, ","), ","))
	default:
		return nil, nil, nil, badRequest("Value for 'tag_handling' not supported.")
	}
	best, others, languages, err = c.run(r)
	for len(languages) < len(texts) {
		languages = append(languages, detected{100, r.source})
	}
	return best, others, languages, err
}

// timeDeepL is the format of times in DeepL's interface. Its clients read up to six digits of a
// second.
const timeDeepL = "2006-01-02T15:04:05.000Z07:00"

// glossariesDeepL answers the glossaries of DeepL's interface. A file has no languages of its own,
// so that each pair of languages has it, by the same id.
func glossariesDeepL(c *call) (any, error) {
	type glossary struct {
		ID      string `json:"glossary_id"`
		Name    string `json:"name"`
		Ready   bool   `json:"ready"`
		Source  string `json:"source_lang"`
		Target  string `json:"target_lang"`
		Created string `json:"creation_time"`
		Entries int    `json:"entry_count"`
	}
	list := []glossary{}
	for _, name := range c.catalog.glossaries.names {
		file := c.catalog.glossaries.files[name]
		created := file.modified.Format(timeDeepL)
		for _, p := range slices.SortedFunc(maps.Keys(c.catalog.pairs), comparePairs) {
			list = append(list, glossary{name, name, true, strings.ToLower(p.source), strings.ToLower(p.target), created, file.Len()})
		}
	}
	return map[string]any{"glossaries": list}, nil
}

func comparePairs(a, b pair) int {
	return cmp.Or(cmp.Compare(a.source, b.source), cmp.Compare(a.target, b.target))
}

// glossaryPairsDeepL answers the pairs of languages for which clients can make glossaries: none.
func glossaryPairsDeepL(*call) (any, error) {
	return map[string]any{"supported_languages": []string{}}, nil
}

// languagesDeepL answers the languages of DeepL's interface.
func languagesDeepL(c *call) (any, error) {
	type language struct {
		Language  string `json:"language"`
		Name      string `json:"name"`
		Formality bool   `json:"supports_formality"`
	}
	tags := c.catalog.sources
	if c.text("type") == "target" {
		tags = c.catalog.allTargets()
	}
	list := []language{}
	for _, tag := range tags {
		list = append(list, language{strings.ToUpper(tag), lang.Name(tag), false})
	}
	return list, nil
}
