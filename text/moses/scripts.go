package moses

import "slices"

// control are the characters of Perl's \p{C}.
const control = `[^\pL\pM\pN\pP\pS\pZ]`

// ScriptRules returns what one of Moses' scripts does to a line, as rules of package rewrite:
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
