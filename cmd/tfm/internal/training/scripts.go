package training

import (
	"fmt"
	"slices"

	"tfm/lang"
	"tfm/text/script"
	"tfm/train/corpus"
)

// scriptsOf has the scripts of texts by the script of their language.
var scriptsOf = map[string][]script.Script{
	"Latn": {script.Latin}, "Cyrl": {script.Cyrillic}, "Grek": {script.Greek}, "Arab": {script.Arabic}, "Hebr": {script.Hebrew},
	"Deva": {script.Devanagari}, "Hans": {script.Han}, "Hant": {script.Han}, "Hani": {script.Han}, "Jpan": {script.Han, script.Kana},
	"Kore": {script.Hangul, script.Han}, "Thai": {script.Unspaced}, "Laoo": {script.Unspaced}, "Khmr": {script.Unspaced},
	"Mymr": {script.Unspaced}, "Tibt": {script.Unspaced},
}

// mainScript returns the script with most letters of a side, false without letters.
func mainScript(s *corpus.Side) (script.Script, bool) {
	main := script.Script(slices.Index(s.Letters[:], slices.Max(s.Letters[:])))
	return main, s.Letters[main] > 0
}

// languages warns of text that is not in the scripts of its language, on one side or, swapped, on
// both.
func (d *data) languages() {
	wrong := func(flag, language, name string, side, other *corpus.Side) (found string, swapped bool) {
		scripts := scriptsOf[lang.Script(language)]
		main, ok := mainScript(side)
		if scripts == nil || !ok || side.Share(scripts...) >= minScript {
			return "", false
		}
		return fmt.Sprintf("-%s is %s, but %.0f%% of the letters of the %s are %s", flag, language, 100*side.Share(main), name, main),
			other.Share(scripts...) >= 1-minScript
	}
	source, sourceSwapped := wrong("src-lang", d.srcLang, "source", &d.Source, &d.Target)
	target, targetSwapped := wrong("tgt-lang", d.tgtLang, "target", &d.Target, &d.Source)
	switch {
	case source != "" && target != "" && sourceSwapped && targetSwapped:
		d.warn("source and target are swapped: %s, and %s: exchange %s", source, target, flags(d.Train, ""))
	case source != "" && target != "":
		d.warn("%s, and %s: check the files and the languages", source, target)
	case source != "" || target != "":
		d.warn("%s: check the files and the language", source+target)
	default:
		d.detectedLanguages()
	}
}
