package training

import (
	"fmt"
	"slices"
	"strings"

	"tfm/text/script"
	"tfm/train/corpus"
)

// scriptsOfSubtags are the scripts of the script subtags of BCP 47, in lower case.
var scriptsOfSubtags = map[string][]script.Script{
	"latn": {script.Latin}, "cyrl": {script.Cyrillic}, "grek": {script.Greek}, "arab": {script.Arabic}, "hebr": {script.Hebrew},
	"deva": {script.Devanagari}, "hans": {script.Han}, "hant": {script.Han}, "hani": {script.Han}, "jpan": {script.Han, script.Kana},
	"kore": {script.Hangul, script.Han}, "thai": {script.Unspaced}, "laoo": {script.Unspaced}, "khmr": {script.Unspaced},
	"mymr": {script.Unspaced}, "tibt": {script.Unspaced},
}

// languagesOfSubtags are the languages that are written in a script. Languages of several scripts,
// such as Serbian, are missing.
var languagesOfSubtags = map[string]string{
	"latn": "af ca cs cy da de en eo es et eu fi fr ga gl hr hu id is it la lb lt lv mt nb nl nn no pl pt ro sk sl sq sv sw tl tr vi",
	"cyrl": "be bg mk ru uk", "grek": "el", "arab": "ar fa ps ur", "hebr": "he yi", "deva": "hi mr ne sa", "hans": "yue zh",
	"jpan": "ja", "kore": "ko", "thai": "th", "laoo": "lo", "khmr": "km", "mymr": "my", "tibt": "bo dz",
}

// scriptsOf returns the scripts of a BCP 47 language, nil if they are unknown.
func scriptsOf(language string) []script.Script {
	subtags := strings.Split(strings.ToLower(language), "-")
	for _, s := range subtags[1:] {
		if len(s) == 4 && s[0] >= 'a' {
			return scriptsOfSubtags[s]
		}
	}
	for subtag, languages := range languagesOfSubtags {
		if slices.Contains(strings.Fields(languages), subtags[0]) {
			return scriptsOfSubtags[subtag]
		}
	}
	return nil
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
		scripts := scriptsOf(language)
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
