package main

import (
	"slices"
	"strings"

	"tfm/text/detect/internal/profile"
)

// language is a language with its script and its names in the paths of texts.
type language struct {
	tag    string
	script profile.Script
	names  []string
}

// languages lists the languages of scripts that several languages have, each with its tag and its
// further names: codes of ISO 639-3 and those of treebanks.
var languages = []struct {
	script profile.Script
	list   string
}{
	{profile.Latin, `af:afr,afrikaans az:azj,azerbaijani bs:bos ca:cat,catalan cs:ces,czech cy:cym,welsh da:dan,danish de:deu,german
		en:eng,english,c eo:epo es:spa,spanish et:est eu:eus fi:fin,finnish fr:fra,french ga:gle,irish gl:glg,galician ha:hau hr:hrv,croatian
		hu:hun id:ind,indonesian ig:ibo is:isl,icelandic it:ita,italian lt:lit,lithuanian lv:lav,latvian ms: mt:mlt nb:no,nob,norwegian
		nl:nld,dutch nn:nno,norwegian-nynorsk pl:pol,polish pt:por,portuguese ro:ron,romanian sk:slk,slovak sl:slv,slovenian so:som sq:als
		sr-Latn:sr@latin,sr@ijekavianlatin,srp-latn,sr,srp,serbian sv:swe,swedish sw:swh tl:tgl,fil tr:tur,turkish uz:uzn
		vi:vie,vietnamese xh:xho yo:yor zu:zul`},
	{profile.Cyrillic, "be:bel,belarusian bg:bul kk:kaz ky:kir mk:mkd,macedonian mn:khk ru:rus,russian sr:srp,serbian tg:tgk tt:tat uk:ukr,ukrainian"},
	{profile.Arabic, "ar:arb ckb: fa:pes,prs,persian ps:pbu ug:uig ur:urd"},
	{profile.Devanagari, "hi:hin,hindi mr:mar,marathi ne:nep"},
	{profile.Han, "ja:jpn,japanese zh:zh-cn,cmn-hans,chinese-gsdsimp zh-Hant:zh-tw,zh-hk,cmn-hant,chinese-gsd"},
	{profile.Hebrew, "he:heb yi:ydd"},
	{profile.Bengali, "bn:ben as:"},
	{profile.Ethiopic, "am:amh ti:tir"},
}

// listLanguages returns the languages in the order of the profiles.
func listLanguages() (all []language) {
	for _, s := range languages {
		for word := range strings.FieldsSeq(s.list) {
			tag, names, _ := strings.Cut(word, ":")
			all = append(all, language{tag, s.script, append(strings.Split(names, ","), tag)})
		}
	}
	return all
}

// has reports whether a locale, such as pt_BR or sr@latin, or its language is one of l's names.
func (l language) has(locale string) bool {
	locale = strings.ReplaceAll(strings.ToLower(locale), "_", "-")
	if slices.Contains(l.names, locale) {
		return true
	}
	i := strings.IndexAny(locale, "-@")
	return i > 0 && slices.Contains(l.names, locale[:i]) && !slices.ContainsFunc(listLanguages(), func(other language) bool {
		return slices.Contains(other.names, locale)
	})
}
