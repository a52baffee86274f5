package marian

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"tfm/model/convert/internal/parts"
	"tfm/text/tokenizer/moses"
)

// preprocessFile is the script of a release of OPUS-MT that prepares text.
const preprocessFile = "preprocess.sh"

// readPreprocess returns what preprocessFile does to text before SentencePiece, as rules of
// sentencepiece.NormalizerSpec.Rewrites; none without the script. The rules of Moses are for the
// language. The error names the first line that does something else than the scripts of OPUS-MT do.
func readPreprocess(f parts.Folder, language string) (rules []string, err error) {
	if !f.Has(preprocessFile) {
		return nil, nil
	}
	data, err := f.Read(preprocessFile)
	if err != nil {
		return nil, err
	}
	skipped, encodes := false, false
	number := 0
	for line := range strings.Lines(string(data)) {
		number++
		line = strings.Trim(line, " \t\r\n|\\")
		expected := ""
		switch {
		case noFlags.MatchString(line): // without the token of the target language
			skipped = true
		case line == "else":
			skipped = false
		case skipped || noText.MatchString(line):
		case encodes && line == `sed "s/^/>>$2<< /"`: // the token of the target language
		case encodes:
			expected = "the end after SentencePiece"
		case strings.HasPrefix(line, "${SPMENCODE} --model "):
			encodes = true
		default:
			of, ok := lineRules(line, language)
			if !ok {
				expected = "a command of OPUS-MT's scripts: sed 's/TEXT/TEXT/g', normalization of Moses, removal of control characters, and spm_encode"
			}
			rules = append(rules, of...)
		}
		if expected != "" {
			return nil, fmt.Errorf("%s:%d: found %.80q, expected %s", f.Name(preprocessFile), number, line, expected)
		}
	}
	return rules, nil
}

var (
	noFlags = regexp.MustCompile(`^if \[ "?\$4"? == "noflags" \]; then$`)
	// noText matches lines that set paths, choose between hosts, or are empty or comments.
	noText    = regexp.MustCompile("^($|#|(APPLHOME|MOSESHOME|MOSESSCRIPTS|SNMTPATH|SPMENCODE|THREADS|TOKENIZER)=|(el)?if \\[ [\"`$(]+hostname -d[)`\"]+ == \"[a-z.]+\" \\]; then$|else$|fi$)")
	mosesCall = regexp.MustCompile(`^\$\{TOKENIZER\}/([a-z-]+)\.perl( -l \$1)?$`)
	perlCall  = regexp.MustCompile(`^perl -C\w* -pe +'(.*?);?'$`)
	sedCall   = regexp.MustCompile(`^(?:sed )?(?:-e )?(?:'([^']*)'|"([^"]*)")$`)
	// shellExpansion matches what a shell replaces between double quotes.
	shellExpansion = regexp.MustCompile("[$][\\w({$@*#?!-]|`")
	sedRule        = regexp.MustCompile(`^s/((?:[^/\\]|\\.)+)/((?:[^/\\&]|\\.)*)/g(?:;|$)`)
)

// lineRules returns the rules of a command.
func lineRules(line, language string) (rules []string, ok bool) {
	if m := mosesCall.FindStringSubmatch(line); m != nil {
		return moses.ScriptRules(m[1], language)
	}
	if m := perlCall.FindStringSubmatch(line); m != nil {
		switch m[1] {
		case `s/\p{C}/ /g`, `s/(?!\n)\p{C}/ /g`:
			return moses.ScriptRules("remove-non-printing-char", "")
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
		pattern, ok := sedPattern(s[1], s[2] == "")
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

// sedPattern returns a pattern of sed for package regexp: characters, characters with a star, and
// the start or the end of a line. It has no matches of no text, so that a pattern with them must
// remove its matches.
func sedPattern(s string, removes bool) (pattern string, ok bool) {
	rest, atStart := strings.CutPrefix(s, "^")
	rest, atEnd := strings.CutSuffix(rest, "$")
	if strings.ContainsAny(rest, `\.[]^`) || strings.HasPrefix(rest, "*") || strings.Contains(rest, "**") {
		return "", false
	}
	pattern = strings.ReplaceAll(regexp.QuoteMeta(rest), `\*`, "*")
	if removes && len([]rune(rest)) == 2 && strings.HasSuffix(rest, "*") {
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
