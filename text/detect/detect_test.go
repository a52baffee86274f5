package detect

import (
	"hash/fnv"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
)

// samples are sentences of one meaning.
var samples = map[string]string{
	"en": "The old man went down to the river because the water was warm this morning.",
	"de": "Der alte Mann ging zum Fluss hinunter, weil das Wasser heute Morgen warm war.",
	"fr": "Le vieil homme est descendu à la rivière parce que l'eau était chaude ce matin.",
	"es": "El anciano bajó al río porque el agua estaba caliente esta mañana.",
	"pt": "O velho desceu até ao rio porque a água estava quente esta manhã e não chovia.",
	"it": "Il vecchio è sceso al fiume perché questa mattina l'acqua era calda.",
	"nl": "De oude man ging naar de rivier omdat het water vanmorgen warm was.",
	"sv": "Den gamle mannen gick ner till floden eftersom vattnet var varmt i morse.",
	"pl": "Stary człowiek zszedł do rzeki, ponieważ woda była dziś rano ciepła.",
	"cs": "Starý muž šel dolů k řece, protože voda byla dnes ráno teplá.",
	"hu": "Az öregember lement a folyóhoz, mert ma reggel meleg volt a víz.",
	"fi": "Vanha mies meni alas joelle, koska vesi oli tänä aamuna lämmintä.",
	"tr": "Yaşlı adam bu sabah su ılık olduğu için nehre indi.",
	"vi": "Ông lão đi xuống sông vì sáng nay nước ấm.",
	"ru": "Старик спустился к реке, потому что сегодня утром вода была тёплой.",
	"uk": "Старий чоловік спустився до річки, бо сьогодні вранці вода була теплою.",
	"bg": "Старецът слезе до реката, защото тази сутрин водата беше топла.",
	"el": "Ο γέρος κατέβηκε στο ποτάμι γιατί το νερό ήταν ζεστό σήμερα το πρωί.",
	"ar": "نزل الرجل العجوز إلى النهر لأن الماء كان دافئا هذا الصباح.",
	"fa": "پیرمرد به رودخانه رفت چون آب امروز صبح گرم بود.",
	"he": "הזקן ירד אל הנהר כי המים היו חמים הבוקר.",
	"hi": "बूढ़ा आदमी नदी के पास गया क्योंकि आज सुबह पानी गर्म था।",
	"ja": "今朝は水が温かかったので、老人は川へ下りて行きました。",
	"zh": "老人走到河边，因为今天早上水很暖和，而且没有人来过这里。",
	"ko": "오늘 아침 물이 따뜻해서 노인은 강으로 내려갔다.",
	"th": "ชายชราลงไปที่แม่น้ำเพราะเช้านี้น้ำอุ่น",
}

func TestDetect(t *testing.T) {
	d := Default()
	for lang, sentence := range samples {
		if got, confidence := d.Detect(sentence); got != lang || confidence < 0.8 {
			t.Errorf("Detect(%q) = %s, %.3f, want %s, at least 0.8", sentence, got, confidence, lang)
		}
		candidates := d.Candidates(sentence)
		if got, confidence := d.Detect(sentence); candidates[0] != (Candidate{got, confidence}) {
			t.Errorf("%s: first candidate %v, but Detect answers %s, %.3f", lang, candidates[0], got, confidence)
		}
		checkCandidates(t, candidates)
		upper := strings.ToUpper(sentence)
		if got, _ := d.Detect(upper); got != lang {
			t.Errorf("Detect(%q) = %s, want %s", upper, got, lang)
		}
	}
	if n := len(d.Languages()); n < 50 {
		t.Errorf("%d languages, want at least 50", n)
	}
	const limit = 400_000
	if len(file) > limit {
		t.Errorf("the profiles have %d bytes, want at most %d", len(file), limit)
	}
}

// Traditional and simplified characters, and Serbian in both alphabets.
func TestDetectScripts(t *testing.T) {
	for text, want := range map[string]string{
		"老人走到河邊，因為今天早上水很暖和，而且沒有人來過這裡。":                                   "zh-Hant",
		"Старац је сишао до реке зато што је вода јутрос била топла.":    "sr",
		"Ο χρόνος είναι ίσος με 3,5 seconds":                             "el",
		"今日は TCP/IP のネットワークを調べます":                                        "ja",
		"Das Zeichen α steht für den Winkel zwischen den beiden Seiten.": "de",
		"Das Wort Москва ist russisch und der Name einer Stadt.":         "de",
	} {
		if got, _ := Default().Detect(text); got != want {
			t.Errorf("Detect(%q) = %s, want %s", text, got, want)
		}
	}
}

func TestUnknown(t *testing.T) {
	for _, s := range []string{"", " ", "12 345.67", "!?… — «»", "😀👍", "\xff\xfe", "ᏣᎳᎩ ᎦᏬᏂᎯᏍᏗ", "\x00"} {
		if lang, confidence := Default().Detect(s); lang != Unknown || confidence != 0 {
			t.Errorf("Detect(%q) = %s, %.3f, want %s, 0", s, lang, confidence, Unknown)
		}
		if c := Default().Candidates(s); len(c) > 0 {
			t.Errorf("Candidates(%q) = %v, want none", s, c)
		}
	}
}

func TestAmong(t *testing.T) {
	d, unknown := Default().Among("en", "pt-BR", "no", "zh_TW", "xx", "de-CH-1996", "sr-Cyrl", "", "uz-Cyrl")
	if want := []string{"xx", "", "uz-Cyrl"}; !slices.Equal(unknown, want) {
		t.Errorf("unknown %q, want %q", unknown, want)
	}
	if got, want := d.Languages(), []string{"de-CH-1996", "en", "no", "pt-BR", "sr-Cyrl", "zh_TW"}; !slices.Equal(got, want) {
		t.Errorf("languages %q, want %q", got, want)
	}
	for lang, want := range map[string]string{"pt": "pt-BR", "en": "en", "de": "de-CH-1996", "zh": "zh_TW", "sv": "no", "ru": "sr-Cyrl", "ko": Unknown} {
		if got, _ := d.Detect(samples[lang]); got != want {
			t.Errorf("the sample of %s is %s, want %s", lang, got, want)
		}
	}
	if again, unknown := d.Among("pt-BR", "en"); len(unknown) > 0 || !slices.Equal(again.Languages(), []string{"en", "pt-BR"}) {
		t.Errorf("languages %q without %q", again.Languages(), unknown)
	}
}

func checkCandidates(t *testing.T, candidates []Candidate) {
	t.Helper()
	sum := 0.0
	for i, c := range candidates {
		sum += c.Confidence
		if c.Confidence < 0 || c.Lang == "" || i > 0 && c.Confidence > candidates[i-1].Confidence {
			t.Errorf("candidates %v are not in order", candidates)
		}
	}
	if sum > 1+1e-9 {
		t.Errorf("confidences add up to %v", sum)
	}
}

// The confidences have the same bits on every machine.
func TestDetectBits(t *testing.T) {
	langs := slices.Sorted(maps.Keys(samples))
	h := fnv.New64a()
	var b [8]byte
	for _, lang := range langs {
		for _, c := range Default().Candidates(samples[lang][:len(samples[lang])/3]) {
			for i := range b {
				b[i] = byte(math.Float64bits(c.Confidence) >> (8 * i))
			}
			h.Write([]byte(c.Lang))
			h.Write(b[:])
		}
	}
	const want = 0x1c97e8c4b0ef2852
	if got := h.Sum64(); got != want {
		t.Errorf("hash of the candidates %#x, want %#x: update it with profiles.bin", got, want)
	}
}

func TestDetectAllocatesNothing(t *testing.T) {
	d := Default()
	if n := testing.AllocsPerRun(100, func() { d.Detect(samples["de"]) }); n > 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

func FuzzDetect(f *testing.F) {
	for _, s := range samples {
		f.Add(s)
	}
	f.Add("\xff\xfe'’ʼ\u0301a\u0301'")
	f.Add(strings.Repeat("ä", maxText))
	some, _ := Default().Among("en", "ru", "ja", "ko")
	f.Fuzz(func(t *testing.T, s string) {
		for _, d := range []*Detector{Default(), some} {
			lang, confidence := d.Detect(s)
			if !(confidence >= 0 && confidence <= 1) || (lang == Unknown) != (confidence == 0) {
				t.Errorf("Detect(%q) = %s, %v", s, lang, confidence)
			}
			checkCandidates(t, d.Candidates(s))
		}
	})
}
