package document

import (
	"bytes"
	"strings"
	"testing"

	"tfm/text/markup"
)

// Subtitles that are not in Unicode are in the encoding of their language, and become UTF-8.
func TestCodePages(t *testing.T) {
	const cues = "1\n00:00:01,000 --> 00:00:02,000\n"
	for _, c := range []struct{ from, text, want, warning string }{
		{"ru", "\xcf\xf0\xe8\xe2\xe5\xf2!\n", "Привет!\n", "a.srt: invalid UTF-8, so it was read as windows-1251, because its language is ru; the translation is in UTF-8"},
		{"de-AT", "\x84Gr\xfc\xdfe\x93 \x80\n", "„Grüße“ €\n", "a.srt: invalid UTF-8, so it was read as windows-1252, because its language is de-AT; the translation is in UTF-8"},
		{"pl", "\xbf\xf3\xb3w\n", "żółw\n", "a.srt: invalid UTF-8, so it was read as windows-1250, because its language is pl; the translation is in UTF-8"},
		{"sr-Latn", "\x9e\xe6\n", "žć\n", "a.srt: invalid UTF-8, so it was read as windows-1250, because its language is sr-Latn; the translation is in UTF-8"},
		{"ru", "Привет!\n", "Привет!\n", ""},
	} {
		var out bytes.Buffer
		warning := ""
		in := cues + c.text
		err := Translate(&out, "a.srt", strings.NewReader(in), int64(len(in)), Options{From: c.from, Warn: func(s string) { warning = s }},
			func(texts []markup.Text) ([]markup.Text, error) { return texts, nil })
		if err != nil || out.String() != cues+c.want || warning != c.warning {
			t.Errorf("%s: %q, %v, warning %q, want %q", c.from, out.String(), err, warning, c.want)
		}
	}
	for from, want := range map[string]string{
		"":   "a.txt:2: invalid UTF-8; convert it to UTF-8, for example with iconv",
		"ja": "a.txt:2: invalid UTF-8; convert it to UTF-8, for example with iconv",
		"el": "a.txt:2: invalid UTF-8, and invalid windows-1253; convert it to UTF-8, for example with iconv",
	} {
		const in = "a\n\xff\xd2"
		err := Translate(&bytes.Buffer{}, "a.txt", strings.NewReader(in), int64(len(in)), Options{From: from}, nil)
		if err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", from, err, want)
		}
	}
}
