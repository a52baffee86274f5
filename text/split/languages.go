package split

import (
	"cmp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"tfm/lang"
)

// class is the class of a word before a period.
type class uint8

const (
	regular  class = iota // the period ends the sentence
	inner                 // it never does
	middle                // it does only before a starter: titles and other parts of names
	numbered              // it does not before a number
	ending                // it does unless a lower-case letter follows
	unit                  // it does after a number
)

// language holds the words of a language, separated by white space. Abbreviations are in lower case
// and have no last period.
type language struct {
	inner, middle, numbered, ending, unit string

	starters string // words that often begin sentences and are seldom names
	speech   string // verbs between the name of a speaker and the end of the clause

	// Ordinals are numbers with a period, before a capitalized noun. ordinalNouns are frequent
	// ones, beforeOrdinal are articles and prepositions.
	ordinals                    bool
	ordinalNouns, beforeOrdinal string
}

// common are the words that texts of all languages have.
var common = language{
	inner:    "vs ca approx cf e.g i.e resp",
	middle:   "dr prof mr mrs ms st jr sr gen brig lt maj capt sgt pfc sen gov ft inc ltd co corp bros ph.d u.s u.k u.n e.u al dipl ing",
	numbered: "no nr p pp vol fig figs art op tel sec ed",
	ending:   "etc",
	unit:     "m g l h mm",
}

var languages = map[string]language{
	"en": {
		inner: "viz incl excl a.k.a orig",
		middle: `messrs rev hon col cmdr cpl pvt spc adm rep pres supt mt gens sens reps ste mme mlle dept univ
			assn est natl intl a.m p.m esq llc plc ave blvd rd ln hwy b.a m.a b.sc m.sc d.c b.c a.d`,
		numbered: `nos rs chap chaps ch secs eq eqs tab app ex pt pts par para paras ver ref refs arts vols eds fol col sect jan feb mar apr
			jun jul aug sep sept oct nov dec circa max min ext box rm apt`,
		ending: "lb lbs oz tbsp tsp",
		starters: `The A An He She It We They I You This That These Those There Here In On At By For From With As If When While After
			Before Since Until Because Although And But Or So Then However What Who Why How Where Which My Our Your His Her Its Their
			Yes No Not Now Later Today Some Many Most All Both Each Every One Two Nobody Everyone Do Does Did Is Are Was Were Will Can
			Could Would Should Have Has Had Please Let To Also Still Only Even Perhaps Maybe Nothing`,
		speech: "said asked cried exclaimed replied shouted whispered yelled muttered screamed",
	},
	"de": {
		inner: `bzw vgl ggf evtl sog inkl exkl zzgl abzgl gem bzgl hrsg z.b d.h u.a i.d.r s.o s.u o.g u.u z.t z.zt i.a i.v a.d m.e zb dh
			geb gebr verh verw ehem insb insbes entspr einschl ausschl urspr vorm nachm bspw allg betr`,
		middle: `mio mrd tsd hr hrn fr frl dipl-ing mag fa lt str stv kath v.chr n.chr jh jhs jhd b.sc m.sc
			med phil habil jur theol rer nat h.c mult kfm`,
		numbered: "abs abb tab kap bd bde art nrn s anm ziff abschn lit rn bl aufl jg tel jan feb mär apr jun jul aug sep sept okt nov dez ff min max mind",
		ending:   "usw usf etc mwst ff o.ä u.ä u.dgl dgl u.v.m u.s.w std stk",
		starters: `Der Die Das Ein Eine Er Sie Es Wir Ihr Ich Du Man In Im Am An Auf Aus Bei Mit Nach Von Vor Zu Zum Zur Für Durch Über
			Unter Aber Und Oder Denn Doch Dann Danach Da Dort Hier Heute Jetzt Wenn Als Weil Ob Dies Diese Dieser Dieses Sein Seine Ihre
			Mein Meine Unser Kein Keine Nicht Nur Auch So Was Wer Wie Wo Warum Beide Alle Viele Niemand Jeder Ja Nein Den Dem Sehr
			Dabei Daher Darum Deshalb Dennoch Allerdings Zudem Außerdem Mehr Beides`,
		ordinals: true,
		ordinalNouns: `Januar Jänner Februar März April Mai Juni Juli August September Oktober November Dezember Jahrhundert Jahrhunderts
			Jahrtausend Weltkrieg Weltkriegs Platz Auflage Mal Klasse Stock Etage Kapitel Band Teil Tag Woche Monat Jahr Runde Minute
			Geburtstag Jahrestag Bundesliga Liga Halbzeit Semester Quartal Stelle Rang Lebensjahr Stunde`,
		beforeOrdinal: "der die das den dem des am im zum zur vom beim ins Der Die Das Den Dem Des Am Im Zum Zur Vom Beim",
	},
	"fr": {
		inner:    "env c.-à-d p.ex",
		middle:   "pr mgr mgrs mlle mlles mme mmes bd bld boul ste sts stes av av.j.-c apr.j.-c s.a",
		numbered: "art fig chap t tome n vol pp éd par janv févr avr juil sept oct nov déc",
		starters: `Le La Les Un Une Des Il Elle Ils Elles On Nous Vous Je Tu Ce Cette Ces Mais Et Ou Donc Puis Dans En Pour Par Sur Avec Sans
			Si Quand Comme Qui Que Oui Non Son Sa Ses Mon Notre Leur Tout Tous Pas Au Aux Après Avant`,
	},
	"es": {
		inner: "p.ej ej",
		middle: `sr sra srta sres dra drs dres dña dn ud uds vd vds sto sta fray lic arq gral cnel ee ee.uu ff.aa cía av avda profa s.a s.l
			a.c d.c a.m p.m`,
		numbered: "pág págs núm núms art arts cap fig vol tel nº",
		starters: `El La Los Las Un Una Él Ella Ellos Ellas Yo Tú Nosotros Pero Y O En Con Sin Por Para De Desde Se No Sí Su Sus Mi Este Esta
			Esto Ese Esa Cuando Si Como Qué Quién Después Luego Allí Aquí Entonces También Hay Es Era Fue`,
	},
	"it": {
		inner:    "p.es cfr",
		middle:   "sig sigg sig.ra sig.na dott dott.ssa prof.ssa avv geom ss egr gent spett s.p.a s.r.l a.c d.c",
		numbered: "pag pagg art artt cap fig num vol tav",
		ending:   "ecc",
		starters: `Il Lo La I Gli Le Un Una Uno Lui Lei Loro Noi Voi Io Ma E O In Con Per Di Da Non Sì Se Quando Come Chi Che Questo Questa Poi
			Era È Sono Dopo`,
	},
	"pt": {
		inner:    "p.ex",
		middle:   "sr sra srta srs sras dra drs profa exmo exma v.exa av s.a ltda a.c d.c",
		numbered: "pág págs art arts cap fig núm vol",
		starters: `O A Os As Um Uma Ele Ela Eles Elas Eu Tu Nós Mas E Ou Em No Na Nos Nas Com Sem Por Para De Do Da Se Não Sim Quando Como Este
			Esta Isso Depois É Era Foi`,
	},
	"nl": {
		inner:    "bijv bv d.w.z o.a m.a.w t.a.v z.o.z ong incl excl evt zgn dhr mevr mej",
		middle:   "mw drs ir ds b.v n.v v.chr n.chr",
		numbered: "blz nrs art afb fig hfst vol tel",
		ending:   "enz e.d",
		starters: `De Het Een Hij Zij Ze Wij We Ik Jij U Je Dit Dat Deze Die In Op Aan Bij Met Na Van Voor Maar En Of Dan Daar Hier Als Toen Niet
			Ja Nee Er Zijn Haar`,
	},
	"sv": {
		inner:    "t.ex bl.a d.v.s dvs s.k f.d ev inkl exkl jfr",
		middle:   "hr fru frk f.kr e.kr",
		numbered: "sid kap fig bd kl",
		ending:   "osv m.m m.fl o.s.v o.d",
		starters: "Den Det De En Ett Han Hon Vi Jag Du Ni Men Och I På Med Av För Om När Då Där Här Inte Ja Nej Som Efter",
	},
	"da": {
		inner:    "f.eks bl.a dvs d.v.s ekskl inkl jf evt pga mht",
		middle:   "hr fru frk f.kr e.kr",
		numbered: "side kap fig tlf bd stk kl",
		ending:   "osv m.m m.fl o.l",
		starters: "Den Det De En Et Han Hun Vi Jeg Du Men Og I På Med Af For Om Når Da Der Her Ikke Ja Nej Som Efter",
		ordinals: true,
	},
	"fi": {
		inner:    "esim ts",
		middle:   "toim tri tohtori",
		numbered: "s ss nro kuva puh klo",
		ending:   "jne ym yms",
		starters: "Hän Se He Ne Me Te Minä Sinä Tämä Nämä Mutta Ja Tai Kun Jos Sitten Ei Kyllä On Oli",
		ordinals: true,
	},
	"cs": {
		inner:    "např tzv tj tzn popř cca",
		middle:   "pí mgr bc judr mudr phdr rndr doc sv plk mjr kpt npor ul nám tř př.n.l př.kr csc",
		numbered: "str obr č čís kap tab odst roč čl hl",
		ending:   "atd apod n.l stol tis mil kč",
		unit:     "r",
		starters: "On Ona Ono My Vy Oni Já Ty To Ten Ta Tento Ale A I V Ve Na Po Za Když Pokud Pak Potom Tam Zde Ano Ne Dnes Jeho Její Je Byl Byla Bylo",
		ordinals: true,
	},
	"pl": {
		inner:    "np tj tzn tzw m.in zob",
		middle:   "ks mgr inż hab płk kpt mjr św ul al pl im jw woj",
		numbered: "str rys tab rozdz ust pkt poz godz",
		ending:   "itd itp tys mln mld zł gr n.e p.n.e",
		unit:     "r w ww",
		starters: "On Ona Ono My Wy Oni Ja Ty To Ten Ta Ale A I W We Na Po Za Gdy Kiedy Jeśli Potem Tam Tu Tak Nie Dziś Jego Jej Jest Był Była Było",
		ordinals: true,
	},
	"hu": {
		inner:    "pl ún kb vö",
		middle:   "ifj özv",
		numbered: "old fej ábra",
		ending:   "stb",
		starters: "Ő Ők Mi Ti Én Te Ez Az A Egy De És Vagy Ha Amikor Majd Itt Ott Igen Nem Azután",
		ordinals: true,
	},
	"tr": {
		inner:    "bkz örn",
		middle:   "doç av yrd sn alb yzb mah cad sok ord a.ş şti",
		numbered: "sf böl şek cilt",
		ending:   "vb vs vd m.ö m.s",
		starters: "Bu Şu O Biz Siz Onlar Ben Sen Bir Ama Ve Veya Eğer Sonra Orada Burada Evet Hayır Değil",
		ordinals: true,
	},
	"ru": {
		inner: "см ср напр т.е т.к т.н т.о сокр прибл",
		middle: `проф акад доц канд г-н г-жа им ул пер просп пр-т пл бул наб обл св тов пос дер мкр корп изд-во авт инж ген полк кап лейт зам
			нач зав преп`,
		numbered: "ок стр рис табл гл ст п пп д кв оф ч т тт вып разд прил тел стб буд илл",
		ending:   "т.д т.п др пр гг вв тыс млн млрд трлн руб коп долл н.э мин сек чел экз шт",
		unit:     "г р в м с км кг см мм",
		starters: `Он Она Оно Они Мы Вы Я Ты Это Этот Эта Эти Тот Та Те В Во На По За Из К С О Об У Для При Но И А Или Если Когда Потом Затем Тогда
			Там Тут Здесь Так Как Что Кто Где Да Нет Не Ни Его Её Их Мой Наш Все Сейчас После До`,
	},
	"uk": {
		inner:    "див напр т.зв",
		middle:   "проф акад доц ім вул пров просп пл бул обл св тов смт корп ген",
		numbered: "стор рис табл гл ст п д кв буд оф ч т",
		ending:   "т.д т.п ін рр тис млн млрд грн коп н.е",
		unit:     "р в м с",
		starters: "Він Вона Воно Вони Ми Ви Я Ти Це Цей Ця Ці У В На По З За До Але І Й Та Або Якщо Коли Потім Тоді Там Тут Так Ні Не Його Її Їх Усі Тепер",
	},
	"bg": {
		inner:    "вж напр т.е т.нар",
		middle:   "проф акад доц д-р г-н г-жа ул бул пл св инж ген полк",
		numbered: "стр фиг табл гл чл ал т бр ет",
		ending:   "т.н др и.т.н лв хил млн млрд",
		unit:     "г в м",
		starters: "Той Тя То Те Ние Вие Аз Ти Това Този Тази Тези В Във На По За От До Но И А Или Ако Когато После Там Тук Да Не",
	},
	"el": {
		inner:    "π.χ λ.χ δηλ βλ πρβλ",
		middle:   "κ κα κκ κος δρ καθ αγ άγ οδ λεωφ στρ αντ μ.χ α.ε ε.ε",
		numbered: "σελ σσ αρ άρθ κεφ εικ πίν τόμ τηλ παρ",
		ending:   "κ.λπ κλπ κ.ά κ.α κ.τ.λ κτλ π.μ μ.μ εκατ δισ χιλ χλμ αι",
		starters: "Ο Η Το Οι Τα Ένας Μια Ένα Αυτός Αυτή Αυτό Εμείς Εσείς Εγώ Αλλά Και Ή Στο Στη Στην Στον Με Για Από Αν Όταν Μετά Τότε Εκεί Εδώ Ναι Όχι Δεν Ήταν Είναι",
	},
	"ar": {
		middle:   "د أ أ.د م.د ص ج ت ط تح",
		ending:   "إلخ الخ",
		unit:     "م هـ",
		starters: "ثم",
		speech:   "قال قالت سأل سألت صاح صاحت أجاب أجابت",
	},
	"hi": {
		middle: `डॉ प्रो श्री श्रीमती कु सं रु पं मो स्व ई ई.पू ए बी सी डी एफ जी एच आई जे के एल एम एन ओ पी क्यू आर एस टी यू वी डब्ल्यू एक्स वाई
			जेड ज़ेड`,
		numbered: "पृ क्र",
		starters: "फिर तब",
		speech:   "कहा पूछा बोला बोली बोले चिल्लाया चिल्लाई",
	},
	"mr": {middle: "डॉ प्रा श्री सौ कु रु पं स्व इ.स क्र"},
	"bn": {middle: "ডা ড ডঃ মো মোঃ মি"},
}

// use is a set of uses of a word that is no abbreviation.
type use uint8

const (
	starter use = 1 << iota
	speech
	ordinalNoun
	beforeOrdinal
)

// words are the words of one language, or of all, for looking up.
type words struct {
	classes  map[string]class
	uses     map[string]use
	ordinals bool
	english  bool // or unknown
}

// allWords returns the words of each language, and of all under "".
var allWords = sync.OnceValue(func() map[string]*words {
	unknown := newWords()
	unknown.english = true
	all := map[string]*words{"": unknown}
	for tag, l := range languages {
		unknown.add(l)
		w := newWords()
		w.add(l)
		w.ordinals, w.english = l.ordinals, tag == "en"
		all[tag] = w
	}
	return all
})

// wordsOf returns the words of the language with a BCP 47 tag, or those of all languages if it is
// unknown. It is safe for concurrent use.
func wordsOf(tag string) *words {
	all := allWords()
	return cmp.Or(all[lang.Primary(tag)], all[""])
}

// newWords returns the words that all languages have.
func newWords() *words {
	w := &words{classes: map[string]class{}, uses: map[string]use{}}
	w.add(common)
	return w
}

// add adds the words of a language. Of several classes of a word the most cautious remains.
func (w *words) add(l language) {
	for c, list := range map[class]string{inner: l.inner, middle: l.middle, numbered: l.numbered, ending: l.ending, unit: l.unit} {
		for word := range strings.FieldsSeq(list) {
			if found, ok := w.classes[word]; !ok || c < found {
				w.classes[word] = c
			}
		}
	}
	for u, list := range map[use]string{starter: l.starters, speech: l.speech, ordinalNoun: l.ordinalNouns, beforeOrdinal: l.beforeOrdinal} {
		for word := range strings.FieldsSeq(list) {
			w.uses[word] |= u
		}
	}
}

// has reports whether word, in its case, has a use.
func (w *words) has(word string, u use) bool { return w.uses[word]&u != 0 }

// classOf returns the class of a word before a period, after a short word with a period or "".
func (w *words) classOf(before, token string) class {
	var buffer [4 * maxToken]byte
	folded := appendLower(buffer[:0], before)
	if folded = appendLower(folded, token); len(folded) > maxToken {
		return regular
	}
	return w.classes[string(folded)]
}

// appendLower appends s in lower case.
func appendLower(dst []byte, s string) []byte {
	for _, r := range s {
		dst = utf8.AppendRune(dst, unicode.ToLower(r))
	}
	return dst
}

// isStarter reports whether the text after a stop begins with a starter.
func (w *words) isStarter(f following) bool { return !f.dotted && w.has(f.word, starter) }

// isI reports whether word is the pronoun of English, which is upper-case within a sentence.
func (w *words) isI(word string) bool { return word == "I" && w.english }
