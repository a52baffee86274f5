package document

import (
	"strings"
	"testing"
)

func TestJSON(t *testing.T) {
	checkDocument(t, "en.json", "{\n  \"a\": {\"b\": \"One <b>word</b> \\\"x\\\"\",\t\"n\": -1.5e3, \"t\": true},\r\n \"@@locale\": \"en\", \"$schema\": [\"text\"],"+
		" \"list\": [\"Ω\", \"\\u20ac two\", \"42\", \"\", null], \"ph\": \"Go to <file> now\"}\n",
		`One word "x" [word]`, "Ω", "€ two", `Go to <file> now [<file>]!`)
	checkDocument(t, "a.json", `{"a":"x"} {"b":["y\nz"]}`, "x", "y", "z")
	checkDocument(t, "a.json", `"half \ud83d a pair"`, []string{}...)
	ascii, _, err := translateString("a.json", `["caf\u00e9"]`, Options{}, hard)
	if err != nil || !strings.Contains(ascii, `\u6f22`) {
		t.Errorf("got %s, error %v, want escapes only", ascii, err)
	}
	fails(t, "a.json", `{"a": "x`, "a.json:1: found the end of the file")
	fails(t, "a.json", "{\n\"a\" 1}", "a.json:2: invalid character '1' after object key")
	fails(t, "a.json", `{"a": [1,`, "found the end of the file, expected the rest of a JSON value")
	fails(t, "a.json", `{"a": tru}`, "invalid character '}' in literal true")
	fails(t, "a.json", `{a: 1}`, "invalid character 'a'")
	fails(t, "a.json", `[1 2]`, "invalid character '2' after array element")
	fails(t, "a.json", `["\x"]`, "invalid character 'x'")
	fails(t, "a.json", strings.Repeat("[", 1e6), "values nested deeper than 256")
}

func FuzzJSON(f *testing.F) {
	fuzz(f, "json", `{"a":["b \u00e9\n<b>c</b>",1,null,true],"@x":"y"}`, `"\ud83d"`, `["`, `[[[`)
}
