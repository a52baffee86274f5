package lang

import "strings"

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
// people ask for, former codes, and aliases, those of NLLB, OPUS-MT, LibreTranslate and Argos
// Translate among them: code of ISO 639-3, or another one in use, then that of ISO 639-3 or, after
// an alias, the tag that it stands for.
const individuals = `
	als=sqi arb=ara ayr=aym azj=aze cmn=zho dgo=doi ekk=est fil=tgl gaz=orm gug=grn in=ind iw=heb
	ji=yid khk=mon kmr=kur knc=kau lvs=lav nob=nor npi=nep ns=nso ory=ori pb=por-BR pbt=pus
	pes=fas plt=mlg pob=por-BR quy=que sh=hbs swh=swa uzn=uzb ydd=yid zsm=msa zt=zho-Hant
`

var (
	languageOf = pairsOf(individuals)
	shortCodes = map[string]string{} // of ISO 639-1, by the code of ISO 639-3

	// usualScripts are the scripts of languages that are written in several, if no script is
	// named (the likely subtags of Unicode's CLDR).
	usualScripts = pairsOf(`
		ace=Latn ara=Arab aze=Latn bjn=Latn hbs=Latn kas=Arab kau=Latn kaz=Cyrl kur=Latn min=Latn
		srp=Cyrl taq=Latn tat=Cyrl uzb=Latn zho=Hans
	`)

	// chineseScripts are the scripts of regions whose tags name none.
	chineseScripts = pairsOf(`CN=Hans SG=Hans TW=Hant HK=Hant MO=Hant`)

	// mainScripts are the scripts of languages whose texts are hardly ever in another one.
	mainScripts = map[string]string{}
)

func init() {
	for word := range strings.FieldsSeq(iso639) {
		languageOf[word[:2]], shortCodes[word[2:]] = word[2:], word[:2]
	}
	for script, languages := range map[string]string{
		"Latn": "af ca cs cy da de en eo es et eu fi fr ga gl hr hu id is it la lb lt lv mt nl nn no pl pt ro sk sl sq sv sw tl tr vi",
		"Cyrl": "be bg mk ru uk", "Grek": "el", "Arab": "ar fa ps sd ug ur", "Hebr": "he yi", "Thaa": "dv", "Deva": "hi mr ne sa",
		"Hans": "zh", "Hant": "yue", "Jpan": "ja", "Kore": "ko", "Thai": "th", "Laoo": "lo", "Khmr": "km", "Mymr": "my", "Tibt": "bo dz",
	} {
		for language := range strings.FieldsSeq(languages) {
			if long := languageOf[language]; long != "" {
				language = long
			}
			mainScripts[language] = script
		}
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
