package moses

import (
	"regexp"
	"slices"
	"sync"
	"unicode"
)

// control are the characters of Perl's \p{C}.
const control = `[^\pL\pM\pN\pP\pS\pZ]`

// ScriptRules returns what one of Moses' scripts does to a line, as rules of Settings.Before:
// replace-unicode-punctuation, remove-non-printing-char, or normalize-punctuation for a language.
// ok is false for another script.
func ScriptRules(script, language string) (rules []string, ok bool) {
	switch script {
	case "replace-unicode-punctuation":
		return perlWide, true
	case "remove-non-printing-char":
		return []string{control + "\t "}, true
	case "normalize-punctuation":
		return perlPunctuation(language), true
	}
	return nil, false
}

// perlWide are the rules of replace-unicode-punctuation.perl.
var perlWide = []string{
	"，\t,", "。 *\t. ", "、\t,", "[”“《》」「]\t\"", "[∶：]\t:", "？\t?", "）\t)", "！\t!", "（\t(", "；\t;", "１\t1", "０\t0", "３\t3", "２\t2", "５\t5", "６\t6",
	"９\t9", "７\t7", "８\t8", "４\t4", "． *\t. ", "～\t~", "’\t'", "…\t...", "━\t-", "〈\t<", "〉\t>", "【\t[", "】\t]", "％\t%",
}

// perlPunctuation returns the rules of normalize-punctuation.perl for a language. The
// script takes a line with its end, so that [^<] matches there.
func perlPunctuation(language string) []string {
	rules := []string{
		"\\r\t", `\(` + "\t (", `\)` + "\t) ", " +\t ", `\) ([.!:?;,])` + "\t)$1", `\( ` + "\t(", ` \)` + "\t)", "([0-9]) %\t$1%", " :\t:", " ;\t;",
		"`\t'", "''\t \" ", "[„“”]\t\"", "–\t-", "—\t - ", " +\t ", "´\t'", "([A-Za-z])‘([A-Za-z])\t$1'$2", "([A-Za-z])’([A-Za-z])\t$1'$2", "[‘‚]\t'",
		"’\t\"", "''\t\"", "…\t...", "\u00A0«\u00A0\t \"", "«\u00A0\t\"", "«\t\"", "\u00A0»\u00A0\t\" ", "\u00A0»\t\"", "»\t\"", "\u00A0%\t%", "nº\u00A0\tnº ",
		"\u00A0:\t:", "\u00A0ºC\t ºC", "\u00A0cm\t cm", "\u00A0\\?\t?", "\u00A0!\t!", "\u00A0;\t;", ",\u00A0\t, ", " +\t ",
	}
	switch language {
	case "en":
		rules = append(rules, `"([,.]+)`+"\t$1\"")
	case "cs", "cz":
	default:
		rules = append(rules, ",\"\t\",", `(\.+)"(\s*[^<]|\s*$)`+"\t\"$1$2")
	}
	separator := "."
	if slices.Contains([]string{"de", "es", "cz", "cs", "fr"}, language) {
		separator = ","
	}
	return append(rules, "([0-9])\u00A0([0-9])\t$1"+separator+"$2")
}

// perlClasses has the classes of characters of Perl, in Go's version of Unicode.
var perlClasses = sync.OnceValue(func() *classTable {
	t := new(classTable)
	for c, tables := range map[class][]*unicode.RangeTable{
		alpha: {unicode.L, unicode.Nl, unicode.Other_Alphabetic}, digit: {unicode.Nd}, number: {unicode.N},
		lower: {unicode.Ll, unicode.Other_Lowercase}, currency: {unicode.Sc},
	} {
		for _, table := range tables {
			for _, x := range table.R16 {
				t.add(rune(x.Lo), rune(x.Hi), rune(x.Stride), c)
			}
			for _, x := range table.R32 {
				t.add(rune(x.Lo), rune(x.Hi), rune(x.Stride), c)
			}
		}
	}
	return t
})

// perlNoPrefixes are words of the lists with a space after them in Moses' files, which therefore
// are no prefixes.
var perlNoPrefixes = map[string][]string{
	"as": {"ভি"}, "bn": {"ভি"}, "mni": {"ভি"}, "ml": {"പി"}, "es": {"Fil", "gr", "pÃ¡g"}, "it": {"Amn", "Arch", "all", "es"}, "nl": {"Nrs"},
	"sk": {"Pf"}, "sv": {"Ö"},
}

// perlPrefixes returns the prefixes of a language in Moses' files.
func perlPrefixes(language string) prefixes {
	p := prefixesOf(language)
	for _, word := range perlNoPrefixes[language] {
		delete(p, word)
	}
	switch language {
	case "is":
		p["no"] = false
	case "tdt":
		p["Nu"] = true
	}
	return p
}

// perlWordSigns are the signs that are part of a word before a lower-case letter, as in EU:ssa.
var perlWordSigns = map[string]rune{"fi": ':', "sv": ':', "tdt": '\''}

// isPerlSign reports whether the character at i is a sign with rules of the language, and whether
// it is part of a word.
func (t *Tokenizer) isPerlSign(l *line, i int) (known, isPart bool) {
	switch r := l.chars[i].r; {
	case !t.options.Perl:
	case r == perlWordSigns[t.language]:
		return true, i+1 < len(l.chars) && unicode.Is(unicode.Ll, l.chars[i+1].r)
	case r == '·' && t.language == "ca":
		return true, true
	}
	return false, false
}

var (
	czechEnding   = regexp.MustCompile(`(?i)^li$|^mail`)
	finnishEnding = regexp.MustCompile(`^(([NnAaÄä]|[Ss](sa|sä|ta|tä|een)|[Hh](un|yn|an|än|ön)|[UuYyAaÄäÖö]n|[Ll](la|lä|ta|tä|le)|Ksi|ksi|Kse|kse|Tta|tta|Ine|ine)` +
		`(ni|si|mme|nne|nsa)?(ko|kö|han|hän|pa|pä|kaan|kään|kin)?)$`)
)

// joinPerl writes word i if the words around it are joined by rules of Czech or Finnish that
// sacremoses lacks.
func (w *writer) joinPerl(i int) bool {
	word := w.words[i]
	switch {
	case w.language == "cs" && i+3 < len(w.words) && w.classes.is(word[len(word)-1].r, alpha) && len(w.words[i+1]) == 1 &&
		(w.words[i+1][0].r == '-' || w.words[i+1][0].r == '–') && czechEnding.MatchString(textOf(w.words[i+2])):
		w.append(word, w.joins)
		w.append(w.words[i+1], true)
		w.joins, w.skips = true, true
	case w.language == "fi" && i > 0 && w.words[i-1][len(w.words[i-1])-1].r == ':' && finnishEnding.MatchString(textOf(word)):
		for j := range word {
			word[j].r = unicode.ToLower(word[j].r)
		}
		w.append(word, true)
	default:
		return false
	}
	return true
}
