package charset

import (
	"slices"
	"strings"
	"unicode/utf8"

	"tfm/lang"
)

// Page is an encoding with one byte a character. The bytes below 0x80 are those of ASCII.
type Page struct {
	Name      string
	languages string // that Windows writes in it, separated by spaces
	high      []rune // the characters of bytes 0x80 to 0xFF; U+FFFD is none
}

// Latin1 is ISO 8859-1, in which each byte is the character of its number.
var Latin1 = &Page{Name: "iso-8859-1"}

// Windows1252 has the characters of ISO 8859-1, and others in the place of control characters.
var Windows1252 = &pages[0]

// pages are those of Windows, as Unicode's mapping tables have them.
var pages = []Page{
	{"windows-1252", "en de fr es pt it nl sv da nb nn no fi is ca gl eu ga cy af id ms sw",
		[]rune("€\uFFFD‚ƒ„…†‡ˆ‰Š‹Œ\uFFFDŽ\uFFFD\uFFFD‘’“”•–—˜™š›œ\uFFFDžŸ\u00a0¡¢£¤¥¦§¨©ª«¬\u00ad®¯°±²³´µ¶·¸¹º»¼½¾¿ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖ×ØÙÚÛÜÝÞßàáâãäåæçèéêëìíîïðñòóôõö÷øùúûüýþÿ")},
	{"windows-1250", "pl cs sk hu sl hr bs ro sq sr-Latn",
		[]rune("€\uFFFD‚\uFFFD„…†‡\uFFFD‰Š‹ŚŤŽŹ\uFFFD‘’“”•–—\uFFFD™š›śťžź\u00a0ˇ˘Ł¤Ą¦§¨©Ş«¬\u00ad®Ż°±˛ł´µ¶·¸ąş»Ľ˝ľżŔÁÂĂÄĹĆÇČÉĘËĚÍÎĎĐŃŇÓÔŐÖ×ŘŮÚŰÜÝŢßŕáâăäĺćçčéęëěíîďđńňóôőö÷řůúűüýţ˙")},
	{"windows-1251", "ru uk bg be mk sr az-Cyrl bs-Cyrl",
		[]rune("ЂЃ‚ѓ„…†‡€‰Љ‹ЊЌЋЏђ‘’“”•–—\uFFFD™љ›њќћџ\u00a0ЎўЈ¤Ґ¦§Ё©Є«¬\u00ad®Ї°±Ііґµ¶·ё№є»јЅѕїАБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯабвгдежзийклмнопрстуфхцчшщъыьэюя")},
	{"windows-1253", "el",
		[]rune("€\uFFFD‚ƒ„…†‡\uFFFD‰\uFFFD‹\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD‘’“”•–—\uFFFD™\uFFFD›\uFFFD\uFFFD\uFFFD\uFFFD\u00a0΅Ά£¤¥¦§¨©\uFFFD«¬\u00ad®―°±²³΄µ¶·ΈΉΊ»Ό½ΎΏΐΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡ\uFFFDΣΤΥΦΧΨΩΪΫάέήίΰαβγδεζηθικλμνξοπρςστυφχψωϊϋόύώ\uFFFD")},
	{"windows-1254", "tr az",
		[]rune("€\uFFFD‚ƒ„…†‡ˆ‰Š‹Œ\uFFFD\uFFFD\uFFFD\uFFFD‘’“”•–—˜™š›œ\uFFFD\uFFFDŸ\u00a0¡¢£¤¥¦§¨©ª«¬\u00ad®¯°±²³´µ¶·¸¹º»¼½¾¿ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏĞÑÒÓÔÕÖ×ØÙÚÛÜİŞßàáâãäåæçèéêëìíîïğñòóôõö÷øùúûüışÿ")},
	{"windows-1255", "he",
		[]rune("€\uFFFD‚ƒ„…†‡ˆ‰\uFFFD‹\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD‘’“”•–—˜™\uFFFD›\uFFFD\uFFFD\uFFFD\uFFFD\u00a0¡¢£₪¥¦§¨©×«¬\u00ad®¯°±²³´µ¶·¸¹÷»¼½¾¿\u05b0\u05b1\u05b2\u05b3\u05b4\u05b5\u05b6\u05b7\u05b8\u05b9\uFFFD\u05bb\u05bc\u05bd\u05be\u05bf\u05c0\u05c1\u05c2\u05c3װױײ׳״\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFDאבגדהוזחטיךכלםמןנסעףפץצקרשת\uFFFD\uFFFD\u200e\u200f\uFFFD")},
	{"windows-1256", "ar fa ur",
		[]rune("€پ‚ƒ„…†‡ˆ‰ٹ‹Œچژڈگ‘’“”•–—ک™ڑ›œ\u200c\u200dں\u00a0،¢£¤¥¦§¨©ھ«¬\u00ad®¯°±²³´µ¶·¸¹؛»¼½¾؟ہءآأؤإئابةتثجحخدذرزسشصض×طظعغـفقكàلâمنهوçèéêëىيîï\u064b\u064c\u064d\u064eô\u064f\u0650÷\u0651ù\u0652ûü\u200e\u200fے")},
	{"windows-1257", "lt lv et",
		[]rune("€\uFFFD‚\uFFFD„…†‡\uFFFD‰\uFFFD‹\uFFFD¨ˇ¸\uFFFD‘’“”•–—\uFFFD™\uFFFD›\uFFFD¯˛\uFFFD\u00a0\uFFFD¢£¤\uFFFD¦§Ø©Ŗ«¬\u00ad®Æ°±²³´µ¶·ø¹ŗ»¼½¾æĄĮĀĆÄÅĘĒČÉŹĖĢĶĪĻŠŃŅÓŌÕÖ×ŲŁŚŪÜŻŽßąįāćäåęēčéźėģķīļšńņóōõö÷ųłśūüżž˙")},
}

// OfLanguage returns the page in which Windows writes a language, a BCP 47 tag, or nil.
func OfLanguage(tag string) *Page {
	code := lang.Primary(tag)
	for _, code := range []string{code + "-" + lang.Parse(tag).Script, code} {
		for i := range pages {
			if slices.Contains(strings.Fields(pages[i].languages), code) {
				return &pages[i]
			}
		}
	}
	return nil
}

// Named returns the page that a document declares by a name. Names of ISO 8859-1 and ASCII are of
// Windows-1252, as in HTML. It returns nil for other encodings.
func Named(name string) *Page {
	name = strings.ToLower(name)
	switch name {
	case "iso-8859-1", "iso8859-1", "iso_8859-1", "latin1", "us-ascii", "ascii":
		return Windows1252
	}
	name = strings.Replace(name, "cp", "windows-", 1)
	if i := slices.IndexFunc(pages, func(p Page) bool { return p.Name == name }); i >= 0 {
		return &pages[i]
	}
	return nil
}

// Decode returns s in UTF-8, and whether all of its bytes have characters. A byte without one is
// the control character of its number.
func (p *Page) Decode(s string) (decoded string, ok bool) {
	var b strings.Builder
	ok = true
	for _, c := range []byte(s) {
		r := rune(c)
		if c >= utf8.RuneSelf && p.high != nil {
			if r = p.high[c-utf8.RuneSelf]; r == utf8.RuneError {
				r, ok = rune(c), false
			}
		}
		b.WriteRune(r)
	}
	return b.String(), ok
}

// Encode returns the byte of a character, and whether it has one.
func (p *Page) Encode(r rune) (b byte, ok bool) {
	if i := slices.Index(p.high, r); i >= 0 && r != utf8.RuneError {
		return byte(utf8.RuneSelf + i), true
	}
	return byte(r), r < utf8.RuneSelf || r <= 0xFF && (p.high == nil || p.high[r-utf8.RuneSelf] == utf8.RuneError)
}
