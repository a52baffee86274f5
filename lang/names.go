package lang

import "strings"

// Name returns the English name of the language of a tag, or the tag.
func Name(tag string) string {
	if name, ok := names[tag]; ok {
		return name
	}
	primary, rest, found := strings.Cut(tag, "-")
	if name, ok := names[primary]; ok && found {
		return name + " (" + rest + ")"
	}
	return tag
}

// names are the English names of languages in the CLDR's spelling.
var names = parseNames(`
af Afrikaans|am Amharic|ar Arabic|as Assamese|ast Asturian|az Azerbaijani|be Belarusian|bg Bulgarian|bn Bangla|bo Tibetan
br Breton|bs Bosnian|ca Catalan|ceb Cebuano|cs Czech|cy Welsh|da Danish|de German|dz Dzongkha|el Greek|en English
eo Esperanto|es Spanish|et Estonian|eu Basque|fa Persian|fi Finnish|fil Filipino|fo Faroese|fr French|fy Western Frisian
ga Irish|gd Scottish Gaelic|gl Galician|gu Gujarati|ha Hausa|he Hebrew|hi Hindi|hr Croatian|hu Hungarian|hy Armenian
id Indonesian|ig Igbo|is Icelandic|it Italian|ja Japanese|jv Javanese|ka Georgian|kab Kabyle|kk Kazakh|km Khmer|kn Kannada
ko Korean|ku Kurdish|ky Kyrgyz|la Latin|lb Luxembourgish|lo Lao|lt Lithuanian|lv Latvian|mg Malagasy|mk Macedonian
ml Malayalam|mn Mongolian|mr Marathi|ms Malay|mt Maltese|my Burmese|nb Norwegian Bokmål|ne Nepali|nl Dutch
nn Norwegian Nynorsk|no Norwegian|oc Occitan|or Odia|pa Punjabi|pl Polish|ps Pashto|pt Portuguese|pt-BR Portuguese (Brazil)
ro Romanian|ru Russian|sd Sindhi|si Sinhala|sk Slovak|sl Slovenian|so Somali|sq Albanian|sr Serbian|su Sundanese|sv Swedish
sw Swahili|ta Tamil|te Telugu|tg Tajik|th Thai|ti Tigrinya|tk Turkmen|tl Tagalog|tr Turkish|tt Tatar|ug Uyghur|uk Ukrainian
ur Urdu|uz Uzbek|vi Vietnamese|wo Wolof|xh Xhosa|yi Yiddish|yo Yoruba|zh Chinese|zh-Hans Chinese|zh-Hant Chinese (traditional)
zu Zulu
`)

func parseNames(s string) map[string]string {
	names := map[string]string{}
	for entry := range strings.FieldsFuncSeq(s, func(r rune) bool { return r == '|' || r == '\n' }) {
		tag, name, _ := strings.Cut(entry, " ")
		names[tag] = name
	}
	return names
}
