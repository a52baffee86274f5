package document

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"tfm/lang"
)

// pluralForms are the forms of a noun in a language: count of them, which one a number has, as an
// expression of C, and which one 1 has.
type pluralForms struct {
	count int
	rule  string
	one   int
}

// pluralRules has the forms of the languages that gettext documents, where they are not those
// of English.
var pluralRules = []struct {
	languages string
	pluralForms
}{
	{"ja ko zh vi th id ms lo km my", pluralForms{1, "0", 0}},
	{"fr pt-BR hy oc ti wa mg ln", pluralForms{2, "n > 1", 0}},
	{"lv", pluralForms{3, "n%10==1 && n%100!=11 ? 0 : n != 0 ? 1 : 2", 0}},
	{"ga", pluralForms{3, "n==1 ? 0 : n==2 ? 1 : 2", 0}},
	{"ro", pluralForms{3, "n==1 ? 0 : (n==0 || (n%100 > 0 && n%100 < 20)) ? 1 : 2", 0}},
	{"lt", pluralForms{3, "n%10==1 && n%100!=11 ? 0 : n%10>=2 && (n%100<10 || n%100>=20) ? 1 : 2", 0}},
	{"ru uk be sr hr bs", pluralForms{3, "n%10==1 && n%100!=11 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 || n%100>=20) ? 1 : 2", 0}},
	{"cs sk", pluralForms{3, "(n==1) ? 0 : (n>=2 && n<=4) ? 1 : 2", 0}},
	{"pl", pluralForms{3, "n==1 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 || n%100>=20) ? 1 : 2", 0}},
	{"sl", pluralForms{4, "n%100==1 ? 0 : n%100==2 ? 1 : n%100==3 || n%100==4 ? 2 : 3", 0}},
	{"ar", pluralForms{6, "n==0 ? 0 : n==1 ? 1 : n==2 ? 2 : n%100>=3 && n%100<=10 ? 3 : n%100>=11 ? 4 : 5", 1}},
}

// pluralFormsOf returns the forms of a language, a BCP 47 tag.
func pluralFormsOf(language string) pluralForms {
	for _, name := range []string{lang.Of(language), lang.Primary(language)} {
		for _, r := range pluralRules {
			for _, l := range strings.Fields(r.languages) {
				if l == name {
					return r.pluralForms
				}
			}
		}
	}
	return pluralForms{2, "n != 1", 0}
}

var (
	// pluralRule matches an expression of C without spaces and brackets.
	pluralRule = regexp.MustCompile(`^(n|\d+)((\|\||&&|[!=<>]=|[<>+*?:-])(n|\d+)|[/%][1-9]\d*)*$`)
	// formOfOne matches the condition of such an expression that 1 fulfils, and its form.
	formOfOne = regexp.MustCompile(`\bn(?:%100?)?==1(?:(?:\|\||&&)[^?:]*)?\?(\d+)`)
)

// parsePluralForms returns the forms of the fields nplurals and plural of a po file. The form of 1
// is the first, unless a condition of the rule says another.
func parsePluralForms(count, rule string) (pluralForms, error) {
	n, err := strconv.Atoi(count)
	if err != nil || n < 1 || n > 10 {
		return pluralForms{}, fmt.Errorf("found nplurals=%s, expected 1 to 10", count)
	}
	p := pluralForms{count: n, rule: strings.TrimSpace(rule)}
	bare := strings.NewReplacer(" ", "", "\t", "", "(", "", ")", "").Replace(rule)
	if m := formOfOne.FindStringSubmatch(bare); m != nil {
		p.one, err = strconv.Atoi(m[1])
	}
	if err != nil || p.one >= n || !pluralRule.MatchString(bare) || strings.Count(rule, "(") != strings.Count(rule, ")") {
		return p, fmt.Errorf("found plural=%.40q, expected an expression of C with a value below %d", p.rule, n)
	}
	return p, nil
}

// String returns the forms as a field of a po file has them.
func (p pluralForms) String() string {
	return fmt.Sprintf("nplurals=%d; plural=(%s);", p.count, p.rule)
}
