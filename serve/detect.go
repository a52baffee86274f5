package serve

import "tfm/text/detect"

// detect returns the language of a text among those that models translate from, by the code of
// clients. Without evidence it is the first one, with confidence 0.
func (c *call) detect(s string) detected {
	tag, confidence := c.catalog.detector.Detect(s)
	if tag == detect.Unknown {
		tag, confidence = c.catalog.sources[0], 0
	}
	return detected{100 * confidence, publicCode(tag)}
}

// detectLibre answers /detect of LibreTranslate: the candidates, the most probable one first.
func detectLibre(c *call) (any, error) {
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
		list = []detected{c.detect(texts[0])}
	}
	return list, nil
}
