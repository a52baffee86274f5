package document

import (
	"strings"
	"testing"
)

func TestProperties(t *testing.T) {
	checkDocument(t, "a.properties", "# comment \\\nkey = A value\\\n   that continues\r\n! other\n"+
		"k\\:2:\\u00fcber \\\"x\\\"\\n\nempty\n\nfmt Don''t use {0}\nplain = It''s\nlast=end",
		"A valuethat continues", "über \"x\"", "Don't use {0}", "It''s", "end")
	checkDocument(t, "a.properties", "a=\\ud83d half\nb=ü \\ud83d\\ude00 pair", "ü \U0001F600 pair")
	checkDocument(t, "a.properties", "a=x\\", "x")
	checkDocument(t, "a.properties", "a=\xfcber\nb=x", "über", "x")
	got, _, err := translateString("a.properties", "a=word", Options{}, hard)
	if err != nil || !strings.Contains(got, `\u6f22`) {
		t.Errorf("got %s, error %v, want escapes", got, err)
	}
}

func FuzzProperties(f *testing.F) {
	fuzz(f, "properties", "a=b\\\n c\\u00fc\\t\n!x\nk\\= y:z", "a\\", "\\u12", "a=\\ud83d\\ude00")
}
