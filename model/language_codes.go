package model

import (
	"fmt"
	"slices"
	"strings"
)

// iso639 holds the codes of ISO 639-1 with those of ISO 639-3 after them.
const iso639 = `
	aaaar ababk aeave afafr akaka amamh anarg arara asasm avava ayaym azaze babak bebel bgbul bibis
	bmbam bnben bobod brbre bsbos cacat ceche chcha cocos crcre csces cuchu cvchv cycym dadan dedeu
	dvdiv dzdzo eeewe elell eneng eoepo esspa etest eueus fafas ffful fifin fjfij fofao frfra fyfry
	gagle gdgla glglg gngrn guguj gvglv hahau heheb hihin hohmo hrhrv hthat huhun hyhye hzher iaina
	idind ieile igibo iiiii ikipk ioido isisl itita iuiku jajpn jvjav kakat kgkon kikik kjkua kkkaz
	klkal kmkhm knkan kokor krkau kskas kukur kvkom kwcor kykir lalat lbltz lglug lilim lnlin lolao
	ltlit lulub lvlav mgmlg mhmah mimri mkmkd mlmal mnmon mrmar msmsa mtmlt mymya nanau nbnob ndnde
	nenep ngndo nlnld nnnno nonor nrnbl nvnav nynya ococi ojoji omorm orori ososs papan pipli plpol
	pspus ptpor quque rmroh rnrun roron rurus rwkin sasan scsrd sdsnd sesme sgsag shhbs sisin skslk
	slslv smsmo snsna sosom sqsqi srsrp ssssw stsot susun svswe swswa tatam tetel tgtgk ththa titir
	tktuk tltgl tntsn toton trtur tstso tttat twtwi tytah uguig ukukr ururd uzuzb veven vivie vovol
	wawln wowol xhxho yiyid yoyor zazha zhzho zuzul
`

// individuals are languages that models name in the place of their macrolanguage, which is what
// people ask for: code of ISO 639-3, or another one in use, then that of ISO 639-3 or the tag that
// it stands for.
const individuals = `
	als=sqi arb=ara ayr=aym azj=aze cmn=zho dgo=doi ekk=est fil=tgl gaz=orm gug=grn iw=heb
	khk=mon kmr=kur knc=kau lvs=lav nob=nor npi=nep ns=nso ory=ori pb=por-BR pbt=pus
	pes=fas plt=mlg pob=por-BR quy=que sh=hbs swh=swa uzn=uzb ydd=yid zsm=msa zt=zho-Hant
`

// usualScripts are the scripts of languages that models have in several, if no script is named
// (the likely subtags of Unicode's CLDR).
const usualScripts = `
	ace=Latn ara=Arab aze=Latn bjn=Latn hbs=Latn kas=Arab kau=Latn kaz=Cyrl kur=Latn min=Latn
	srp=Cyrl taq=Latn tat=Cyrl uzb=Latn zho=Hans
`

// chineseScripts are the scripts of regions whose tags name none.
const chineseScripts = `CN=Hans SG=Hans TW=Hant HK=Hant MO=Hant`

var (
	languageOfCode = pairsOf(individuals)
	scriptOf       = pairsOf(usualScripts)
	scriptOfRegion = pairsOf(chineseScripts)
	tagOf          = map[string]string{} // of ISO 639-1, by the code of ISO 639-3
)

func init() {
	for word := range strings.FieldsSeq(iso639) {
		languageOfCode[word[:2]], tagOf[word[2:]] = word[2:], word[:2]
	}
}

// pairsOf returns the pairs a=b in a text.
func pairsOf(text string) map[string]string {
	pairs := map[string]string{}
	for word := range strings.FieldsSeq(text) {
		a, b, _ := strings.Cut(word, "=")
		pairs[a] = b
	}
	return pairs
}

// languageParts are the parts of a code that Find compares.
type languageParts struct{ language, script, region string }

// partsOf returns the parts of a code: language of ISO 639-1 or 639-3, script and region, with
// hyphens or underscores.
func partsOf(code string) (p languageParts) {
	for i, part := range strings.FieldsFunc(code, func(r rune) bool { return r == '-' || r == '_' }) {
		switch {
		case i == 0:
			part = strings.ToLower(part)
			if language := languageOfCode[part]; strings.Contains(language, "-") {
				p = partsOf(language)
			} else {
				p.language = part
				for languageOfCode[p.language] != "" && languageOfCode[p.language] != p.language {
					p.language = languageOfCode[p.language]
				}
			}
		case len(part) == 4:
			p.script = strings.ToUpper(part[:1]) + strings.ToLower(part[1:])
		default:
			p.region = strings.ToUpper(part)
		}
	}
	if p.language == "zho" && p.script == "" {
		p.script = scriptOfRegion[p.region]
	}
	return p
}

// LanguageTag returns the BCP 47 tag of a code of a model, such as fr for fra_Latn, or "" if it has
// none.
func LanguageTag(code string) string {
	return partsOf(code).tag(false)
}

// ScriptTag returns LanguageTag, but of a code that names a usual script of its language among
// several the one with the script: zh-Hans for zho_Hans. It tells texts apart that a tag without a
// script does not.
func ScriptTag(code string) string {
	return partsOf(code).tag(true)
}

func (p languageParts) tag(script bool) string {
	tag := p.language
	if short, ok := tagOf[tag]; ok {
		tag = short
	}
	if usual := scriptOf[p.language]; p.script != "" && usual != "" && (script || p.script != usual) {
		tag += "-" + p.script
	}
	if p.region != "" {
		tag += "-" + p.region
	}
	tag, _ = CanonicalLanguage(tag)
	return tag
}

// Find returns the language that code names: the model's own spelling, also as >>code<<, a tag of
// BCP 47, or a code of ISO 639-1 or 639-3. A code without a script or a region prefers a language
// without one, then one in the usual script. The error of a code that is "", or that names none or
// several, is a *FieldError for field that lists the languages.
func (l Languages) Find(field, code string) (Language, error) {
	if code == "" {
		return Language{}, &FieldError{field, missing{}, l.Expected("")}
	}
	given := code
	if inner, ok := strings.CutPrefix(code, ">>"); ok {
		code = strings.TrimSuffix(inner, "<<")
	}
	list := l.List()
	for _, x := range list {
		if x.Code == code {
			return x, nil
		}
	}
	want := partsOf(code)
	var found []Language
	best := 0
	for _, x := range list {
		if n := want.match(partsOf(x.Code)); n > best {
			found, best = []Language{x}, n
		} else if n == best && n > 0 {
			found = append(found, x)
		}
	}
	switch len(found) {
	case 0:
		return Language{}, &FieldError{field, given, l.Expected(code)}
	case 1:
		return found[0], nil
	}
	return Language{}, &FieldError{field, given, "one of " + listCodes(found) + ", because it can be each"}
}

// missing is the Found of an error.
type missing struct{}

func (missing) String() string { return "missing" }

// SameLanguage reports whether code, as Find takes it, names the language tag.
func SameLanguage(code, tag string) bool {
	_, err := Languages(tag+"=3").Find("", code)
	return err == nil
}

// DifferentLanguages reports whether two tags or codes name languages of ISO 639-1 that differ by
// more than script, region or dialect.
func DifferentLanguages(a, b string) bool {
	var languages [2]string
	for i, code := range []string{a, b} {
		l := partsOf(code).language
		if tagOf[l] == "" {
			return false
		}
		if languages[i] = l; l == "nno" { // no may be either
			languages[i] = "nor"
		}
	}
	return languages[0] != languages[1]
}

// match returns how well has answers the request want, 0 for not at all.
func (want languageParts) match(has languageParts) int {
	if want.language == "" || want.language != has.language {
		return 0
	}
	score := 1
	switch {
	case want.script == has.script:
		score += 4
	case want.script == "" && has.script == scriptOf[has.language], has.script == "" && want.script == scriptOf[want.language]:
		score += 2
	case want.script != "" && has.script != "", has.script == "" && scriptOf[has.language] != "":
		return 0 // another script
	}
	switch {
	case want.region == has.region:
		score += 2
	case has.region == "":
		score++
	case want.region != "":
		return 0 // another region
	}
	return score
}

// Codes returns the codes of the languages with spaces between them.
func (l Languages) Codes() string { return listCodes(l.List()) }

// Expected returns what an error for a code, "" for none, says that it expected: all languages, or
// of many those whose codes begin alike.
func (l Languages) Expected(code string) string {
	const maxListed, maxExamples = 24, 8
	list := l.List()
	if len(list) <= maxListed {
		return "one of the languages " + listCodes(list)
	}
	n := len(list)
	isFar := func(x Language) bool { return !strings.HasPrefix(x.Code, code[:min(len(code), 2)]) }
	if near := slices.DeleteFunc(slices.Clone(list), isFar); len(near) > 0 {
		list = near
	}
	return fmt.Sprintf("one of the %d languages that 'tfm info' lists, such as %s", n, listCodes(list[:min(len(list), maxExamples)]))
}

func listCodes(list []Language) string {
	var b strings.Builder
	for i, l := range list {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(l.Code)
	}
	return b.String()
}
