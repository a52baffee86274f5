package moses

import (
	"slices"

	"tfm/text/tokenizer/internal/rewrite"
)

// control are the characters of Perl's \p{C}.
const control = `[^\pL\pM\pN\pP\pS\pZ]`

// ScriptRules returns what one of Moses' scripts does to a line, as rules of package rewrite:
// replace-unicode-punctuation, remove-non-printing-char, or normalize-punctuation for a language.
// ok is false for another script.
func ScriptRules(script, language string) (rules []string, ok bool) {
	switch script {
	case "replace-unicode-punctuation":
		return wide, true
	case "remove-non-printing-char":
		return []string{control + "\t "}, true
	case "normalize-punctuation":
		return punctuation(language, false), true
	}
	return nil, false
}

// wide are the rules of replace-unicode-punctuation.perl.
var wide = []string{
	"，\t,", "。 *\t. ", "、\t,", "[”“《》」「]\t\"", "[∶：]\t:", "？\t?", "）\t)", "！\t!", "（\t(", "；\t;", "１\t1", "０\t0", "３\t3", "２\t2", "５\t5", "６\t6",
	"９\t9", "７\t7", "８\t8", "４\t4", "． *\t. ", "～\t~", "’\t'", "…\t...", "━\t-", "〈\t<", "〉\t>", "【\t[", "】\t]", "％\t%",
}

// punctuation returns the rules of normalize-punctuation.perl for a language, or those of its port
// in sacremoses. The script takes a line with its end, so that [^<] matches there.
func punctuation(language string, ported bool) []string {
	digit, quotes, guillemets := "([0-9])", perlQuotes, perlGuillemets
	if ported {
		digit, quotes, guillemets = `(\p{Nd})`, portedQuotes, portedGuillemets
	}
	rules := slices.Concat(brackets, []string{digit + " %\t$1%"}, doubleQuotes, quotes, afterQuotes, guillemets, noBreaks)
	switch {
	case language == "en":
		rules = append(rules, `"([,.]+)`+"\t$1\"")
	case ported && slices.Contains([]string{"de", "es", "fr"}, language):
		rules = append(rules, ",\"\t\",", `(\.+)(")(`+white+`*[^<])`+"\t$2$1$3")
	case !ported && language != "cs" && language != "cz":
		rules = append(rules, ",\"\t\",", `(\.+)"(\s*[^<]|\s*$)`+"\t\"$1$2")
	}
	separator := "."
	if slices.Contains([]string{"de", "es", "cz", "cs", "fr"}, language) {
		separator = ","
	}
	return append(rules, digit+"\u00A0"+digit+"\t$1"+separator+"$2")
}

// white is a regular expression of the characters of isSpace.
const white = `[\s\x0B\x1C-\x1F\x{85}\pZ]`

// The parts of punctuation, in their order.
var (
	brackets         = []string{"\\r\t", `\(` + "\t (", `\)` + "\t) ", "  +\t ", `\) ([.!:?;,])` + "\t)$1", `\( ` + "\t(", ` \)` + "\t)"}
	doubleQuotes     = []string{" :\t:", " ;\t;", "`\t'", "''\t \" ", "„\t\"", "“\t\"", "”\t\"", "–\t-", "—\t - ", "  +\t ", "´\t'"}
	perlQuotes       = []string{"([A-Za-z])‘([A-Za-z])\t$1'$2", "([A-Za-z])’([A-Za-z])\t$1'$2", "[‘‚]\t'", "’\t\""}
	portedQuotes     = []string{"‘\t'", "‚\t'", "’\t'"}
	afterQuotes      = []string{"''\t\"", "…\t..."}
	perlGuillemets   = []string{"\u00A0«\u00A0\t \"", "«\u00A0\t\"", "«\t\"", "\u00A0»\u00A0\t\" ", "\u00A0»\t\"", "»\t\""}
	portedGuillemets = []string{"\u00A0«\u00A0\t\"", "«\u00A0\t\"", "«\t\"", "\u00A0»\u00A0\t\"", "\u00A0»\t\"", "»\t\""}
	noBreaks         = []string{
		"\u00A0%\t%", "nº\u00A0\tnº ", "\u00A0:\t:", "\u00A0ºC\t ºC", "\u00A0cm\t cm", "\u00A0\\?\t?", "\u00A0!\t!", "\u00A0;\t;", ",\u00A0\t, ", "  +\t ",
	}
)

// portedRules returns the rules of sacremoses for a language.
func portedRules(language string) rewrite.Rules {
	rules, err := rewrite.Parse(punctuation(language, true))
	if err != nil {
		panic("moses: " + err.Error()) // the rules are valid
	}
	return rules
}
