package profile

// Script is a script, or a group of scripts that languages mix.
type Script uint8

// The scripts. Han includes the kana of Japanese.
const (
	Latin Script = iota
	Cyrillic
	Arabic
	Devanagari
	Han
	Hebrew
	Bengali
	Ethiopic
	Greek // from here scripts of one language
	Armenian
	Georgian
	Gurmukhi
	Gujarati
	Oriya
	Tamil
	Telugu
	Kannada
	Malayalam
	Sinhala
	Thai
	Lao
	Tibetan
	Myanmar
	Khmer
	Hangul
	Thaana
	Count

	Shared = Greek // number of scripts with several languages
	None   = Count // no letter, or of another script
)

var ranges = []struct {
	first, last rune
	script      Script
}{
	{0xC0, 0x2AF, Latin}, {0x370, 0x3FF, Greek}, {0x400, 0x52F, Cyrillic}, {0x530, 0x58F, Armenian}, {0x590, 0x5FF, Hebrew},
	{0x620, 0x63F, Arabic}, {0x641, 0x65F, Arabic}, {0x670, 0x6D3, Arabic}, {0x6D5, 0x6EF, Arabic}, {0x6FA, 0x6FF, Arabic}, {0x750, 0x77F, Arabic},
	{0x780, 0x7BF, Thaana}, {0x8A0, 0x8FF, Arabic}, {0x900, 0x963, Devanagari}, {0x970, 0x97F, Devanagari},
	{0x980, 0x9E3, Bengali}, {0x9F0, 0x9FF, Bengali}, {0xA00, 0xA65, Gurmukhi}, {0xA70, 0xA7F, Gurmukhi},
	{0xA80, 0xAE5, Gujarati}, {0xB00, 0xB65, Oriya}, {0xB80, 0xBE5, Tamil}, {0xC00, 0xC65, Telugu}, {0xC80, 0xCE5, Kannada},
	{0xD00, 0xD65, Malayalam}, {0xD80, 0xDFF, Sinhala}, {0xE00, 0xE4F, Thai}, {0xE80, 0xECF, Lao}, {0xF00, 0xFFF, Tibetan},
	{0x1000, 0x103F, Myanmar}, {0x1050, 0x109F, Myanmar}, {0x10A0, 0x10FF, Georgian}, {0x1100, 0x11FF, Hangul}, {0x1200, 0x139F, Ethiopic},
	{0x1780, 0x17DF, Khmer}, {0x1C80, 0x1C8F, Cyrillic}, {0x1C90, 0x1CBF, Georgian}, {0x1E00, 0x1EFF, Latin}, {0x1F00, 0x1FFF, Greek},
	{0x2D00, 0x2D2F, Georgian}, {0x2D80, 0x2DDF, Ethiopic}, {0x3005, 0x3007, Han}, {0x3041, 0x3096, Han}, {0x309D, 0x30FA, Han}, {0x30FC, 0x312F, Han},
	{0x3130, 0x318F, Hangul}, {0x31F0, 0x31FF, Han}, {0x3400, 0x4DBF, Han}, {0x4E00, 0x9FFF, Han}, {0xA640, 0xA69F, Cyrillic}, {0xA720, 0xA7FF, Latin},
	{0xA960, 0xA97F, Hangul}, {0xAA60, 0xAA7F, Myanmar}, {0xAC00, 0xD7FF, Hangul}, {0xF900, 0xFAFF, Han}, {0xFB1D, 0xFB4F, Hebrew},
	{0xFB50, 0xFDFF, Arabic}, {0xFE70, 0xFEFC, Arabic}, {0xFF66, 0xFF9F, Han},
}

var scripts = func() (t [0x10000]Script) {
	for i := range t {
		t[i] = None
	}
	for _, r := range ranges {
		for c := r.first; c <= r.last; c++ {
			t[c] = r.script
		}
	}
	for c := 'A'; c <= 'Z'; c++ {
		t[c], t[c|0x20] = Latin, Latin
	}
	t[0xD7], t[0xF7], t['ª'], t['º'] = None, None, Latin, Latin
	return t
}()

// ScriptOf returns the script of a letter.
func ScriptOf(r rune) Script {
	switch {
	case r < 0x10000:
		return scripts[r]
	case 0x20000 <= r && r < 0x40000:
		return Han
	}
	return None
}
