package document

import (
	"strings"
	"testing"
)

func TestBilingual(t *testing.T) {
	src := `{"a": "One <b>word</b> & <br> \u0001 more", "b": "two\tthree"}`
	got, _, err := translateString("a.json", src, Options{Bilingual: "tsv"}, shout)
	if want := "One word &  \x01 more\tONE WORD &  \x01 MORE\ntwo three\tTWO THREE\n"; err != nil || got != want {
		t.Errorf("error %v, got %q, want %q", err, got, want)
	}
	got, _, err = translateString("a.json", src, Options{Bilingual: "xliff", To: "de"}, shout)
	if err != nil || !strings.Contains(got, `<target state="translated">ONE <g id="0">WORD</g> &amp; <x id="1"/> � MORE</target>`) {
		t.Errorf("error %v, got %s", err, got)
	}
	checkBilingual(t, "a.xlf", got, Options{To: "de"}, got)
	if _, _, err := translateString("a.json", src, Options{Bilingual: "pdf"}, nil); err == nil {
		t.Error("no error for an unknown form")
	}
}

func TestHTML(t *testing.T) {
	src := "<!DOCTYPE html>\n<html lang=en><p>One <b>word</b>&nbsp;&amp; <code>x</code> more.</p><script>var a</script></html>"
	checkDocument(t, "a", src, "One word\u00A0& x more. [word] [x]!")
	got, _, err := translateString("a", src, Options{To: "de"}, shout)
	if err != nil || !strings.Contains(got, "<p>ONE <b>WORD</b>") || !strings.Contains(got, "lang=\"de\"") {
		t.Errorf("error %v, got %s", err, got)
	}
	for src, want := range map[string]string{
		"\xFCber <script>\x80\x81</script>":      "ÜBER <script>\x80\x81</script>",
		"<meta charset=latin1>\xFC &#x72D7;":     "<meta charset=latin1>Ü &#29399;",
		"<meta charset=Shift_JIS>a word&eacute;": "<meta charset=Shift_JIS>A WORD&#201;",
		"<meta charset=utf-8>one \xFF":           "<meta charset=utf-8>ONE \uFFFD",
	} {
		want = strings.ReplaceAll(want, "Ü", "\xDC")
		if got, _, err := translateString("a.html", src, Options{}, shout); err != nil || got != want {
			t.Errorf("%q: got %q, want %q, error %v", src, got, want, err)
		}
	}
	fails(t, "a.html", "<meta charset=gb2312>\xD6", "a.html: found text in gb2312, expected UTF-8")
	fails(t, "a.xhtml", "<?xml encoding='x'?>é", "found text in x, expected UTF-8")
	fails(t, "a.xhtml", "<?xml version='1.0'?><html><p></html>", "a.xhtml")
}
