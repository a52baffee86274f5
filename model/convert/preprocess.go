package convert

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// preprocessFile is the script of a release of OPUS-MT that prepares text for SentencePiece.
const preprocessFile = "preprocess.sh"

// preprocessRules returns the rules of preprocessFile as sentencepiece.NormalizerSpec.Rewrites.
// Those of Moses are for the first of the source languages. The error names the first line that
// does something else than the scripts of OPUS-MT do. Without the file it returns nil.
func preprocessRules(f folder, languages []string) (rules []string, err error) {
	if !f.has(preprocessFile) {
		return nil, nil
	}
	language := strings.Join(languages[:min(1, len(languages))], "")
	data, err := f.read(preprocessFile)
	if err != nil {
		return nil, err
	}
	number, skipped, encodes := 0, false, false
	for line := range strings.Lines(string(data)) {
		number++
		line = strings.Trim(line, " \t\r\n|\\")
		switch {
		case noFlags.MatchString(line): // without the token of the target language
			skipped = true
		case line == "else":
			skipped = false
		case skipped || noText.MatchString(line):
		case strings.HasPrefix(line, "${SPMENCODE} --model "):
			encodes = true
		case encodes && line == `sed "s/^/>>$2<< /"`: // the token of the target language
		case encodes:
			return nil, fmt.Errorf("%s:%d: found %.80q after SentencePiece, expected the end", f.name(preprocessFile), number, line)
		case strings.HasPrefix(line, "${TOKENIZER}/tokenizer.perl"):
			return nil, fmt.Errorf("%s:%d: found Moses' tokenizer, before subword-nmt, expected SentencePiece: %s is not read yet", f.name(preprocessFile), number, f.name("source.bpe"))
		default:
			of, ok := lineRules(line, language)
			if !ok {
				return nil, fmt.Errorf("%s:%d: found %.80q, expected a command of OPUS-MT's scripts: sed 's/TEXT/TEXT/g', normalization of Moses, removal of control characters or spm_encode",
					f.name(preprocessFile), number, line)
			}
			rules = append(rules, of...)
		}
	}
	return rules, nil
}

// releaseLanguages returns the languages of each side of a release of OPUS-MT, as its README.md
// names them.
func releaseLanguages(f folder) (src, tgt []string) {
	if !f.has("README.md") {
		return nil, nil
	}
	data, _ := f.read("README.md") // optional
	for line := range strings.Lines(string(data)) {
		m := readmeLanguages.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			continue
		}
		list := &src
		if m[1] == "target" {
			list = &tgt
		}
		*list = strings.Fields(strings.ReplaceAll(m[2], "_", "-"))
	}
	return src, tgt
}

// onlyLanguage returns the tag of the only language of a list, or "".
func onlyLanguage(list []string) string {
	if len(list) != 1 {
		return ""
	}
	return knownLanguage(list[0])
}

var (
	readmeLanguages = regexp.MustCompile(`^\* (source|target) language(?:s|\(s\))?: (.*)$`)
	noFlags         = regexp.MustCompile(`^if \[ "?\$4"? == "noflags" \]; then$`)
	// noText matches lines that set paths, choose between hosts, or are empty or comments.
	noText    = regexp.MustCompile("^($|#|(APPLHOME|MOSESHOME|MOSESSCRIPTS|SNMTPATH|SPMENCODE|THREADS|TOKENIZER)=|(el)?if \\[ [\"`$(]+hostname -d[)`\"]+ == \"[a-z.]+\" \\]; then$|fi$)")
	mosesCall = regexp.MustCompile(`^\$\{TOKENIZER\}/([a-z-]+)\.perl( -l \$1)?$`)
	perlCall  = regexp.MustCompile(`^perl -C\w* -pe +'(.*?);?'$`)
	sedCall   = regexp.MustCompile(`^(?:sed )?(?:-e )?(?:'([^']*)'|"([^"]*)")$`)
	// shellExpansion matches what a shell replaces between double quotes.
	shellExpansion = regexp.MustCompile("[$][\\w({$@*#?!-]|`")
	sedRule        = regexp.MustCompile(`^s/((?:[^/\\]|\\.)+)/((?:[^/\\&]|\\.)*)/g(?:;|$)`)
)

// notText are the characters of Perl's \p{C}.
const notText = `[^\pL\pM\pN\pP\pS\pZ]`

// lineRules returns the rules of a command.
func lineRules(line, language string) (rules []string, ok bool) {
	if m := mosesCall.FindStringSubmatch(line); m != nil {
		switch m[1] {
		case "replace-unicode-punctuation":
			return mosesWide, true
		case "remove-non-printing-char":
			return []string{notText + "\t "}, true
		case "normalize-punctuation":
			return mosesPunctuation(language), true
		}
		return nil, false
	}
	if m := perlCall.FindStringSubmatch(line); m != nil {
		switch m[1] {
		case `s/\p{C}/ /g`, `s/(?!\n)\p{C}/ /g`:
			return []string{notText + "\t "}, true
		case `s/[\x{2060}\x{200B}\x{feff}]//g`:
			return []string{`[\x{2060}\x{200B}\x{feff}]` + "\t"}, true
		}
		return nil, false
	}
	m := sedCall.FindStringSubmatch(line)
	if m == nil || shellExpansion.MatchString(m[2]) {
		return nil, false
	}
	for rest := m[1] + m[2]; rest != ""; {
		s := sedRule.FindStringSubmatch(rest)
		if s == nil {
			return nil, false
		}
		rest = rest[len(s[0]):]
		pattern, ok := sedPattern(s[1])
		if !ok || strings.ContainsAny(s[2], "\t\n") || !utf8.ValidString(s[2]) {
			return nil, false
		}
		to := sedEscape.ReplaceAllString(s[2], "$1")
		if strings.Contains(to, `\`) {
			return nil, false // a letter or a digit has a meaning after a backslash
		}
		rules = append(rules, pattern+"\t"+strings.ReplaceAll(to, "$", "$$"))
	}
	return rules, true
}

// sedEscape matches escaped punctuation.
var sedEscape = regexp.MustCompile(`\\([^\w])`)

// sedPattern returns a pattern of sed for package regexp, without matches of no text: characters,
// characters with a star, and the start or the end of a line.
func sedPattern(s string) (pattern string, ok bool) {
	rest, atStart := strings.CutPrefix(s, "^")
	rest, atEnd := strings.CutSuffix(rest, "$")
	if strings.ContainsAny(rest, `\.[]^`) || strings.HasPrefix(rest, "*") || strings.Contains(rest, "**") {
		return "", false
	}
	pattern = strings.ReplaceAll(regexp.QuoteMeta(rest), `\*`, "*")
	if len([]rune(rest)) == 2 && strings.HasSuffix(rest, "*") {
		pattern = strings.TrimSuffix(pattern, "*") + "+"
	}
	if atStart {
		pattern = "^" + pattern
	}
	if atEnd {
		pattern += "$"
	}
	p, err := regexp.Compile(pattern)
	return pattern, err == nil && !p.MatchString("")
}

// mosesWide are the rules of replace-unicode-punctuation.perl of Moses.
var mosesWide = []string{
	"，\t,", "。 *\t. ", "、\t,", "[”“《》」「]\t\"", "[∶：]\t:", "？\t?", "）\t)", "！\t!", "（\t(", "；\t;", "１\t1", "０\t0", "３\t3", "２\t2", "５\t5", "６\t6",
	"９\t9", "７\t7", "８\t8", "４\t4", "． *\t. ", "～\t~", "’\t'", "…\t...", "━\t-", "〈\t<", "〉\t>", "【\t[", "】\t]", "％\t%",
}

// mosesPunctuation returns the rules of normalize-punctuation.perl of Moses for a language. The
// script takes a line with its end, so that [^<] matches there.
func mosesPunctuation(language string) []string {
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
