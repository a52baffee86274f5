package yaml

import (
	"fmt"
	"strings"
	"testing"
)

// format returns a node as text: mappings in braces, lists in brackets, quoted scalars.
func format(n *Node) string {
	var parts []string
	switch {
	case n == nil:
		return "nil"
	case n.Entries != nil:
		for _, e := range n.Entries {
			parts = append(parts, e.Key+":"+format(e.Value))
		}
		return "{" + strings.Join(parts, " ") + "}"
	case n.List != nil:
		for _, item := range n.List {
			parts = append(parts, format(item))
		}
		return "[" + strings.Join(parts, " ") + "]"
	}
	return fmt.Sprintf("%q", n.Scalar)
}

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"":                                          `""`,
		"# only\n---\na: 1":                         `{a:"1"}`,
		"a: b # c\nd: e#f\n":                        `{a:"b" d:"e#f"}`,
		"a:\n  b: 1\n  c: 2\nd:\n":                  `{a:{b:"1" c:"2"} d:""}`,
		"a:\n- b\n- c\nd: e":                        `{a:["b" "c"] d:"e"}`,
		"a:\r\n  - b: 1\r\n    c: 2\r\n  - d":       `{a:[{b:"1" c:"2"} "d"]}`,
		"- - a\n  - b\n- c":                         `[["a" "b"] "c"]`,
		"-\n  a: 1\n-\n- b":                         `[{a:"1"} "" "b"]`,
		"m: &x\n  - u: 1\nn:\n  - *x\n  - *x":       `{m:[{u:"1"}] n:[[{u:"1"}] [{u:"1"}]]}`,
		"a: &x b\nc: *x":                            `{a:"b" c:"b"}`,
		"a:\t\"b # c\"\nc: &x\td\ne:\n-\t*x":        `{a:"b # c" c:"d" e:["d"]}`,
		"a: \"x: #y\\t\"\nb: 'it''s'\nc: null":      "{a:\"x: #y\\t\" b:\"it's\" c:\"\"}",
		"a: [b, \"c, d\", e:f]\nb: []":              `{a:["b" "c, d" "e:f"] b:[]}`,
		"\"a b\": c\nd e: http://f":                 `{a b:"c" d e:"http://f"}`,
		"x":                                         `"x"`,
		"\uFEFFa: b":                                `{a:"b"}`,
		"\"b \\\"\\x41\\u00e9\\/\": 'it''s'\n▁:: 3": `{b "Aé/:"it's" ▁::"3"}`,
		"null: ~\na: \"~\"":                         `{null:"" a:"~"}`,
	} {
		n, err := Parse("f", text)
		if got := format(n); err != nil || got != want {
			t.Errorf("%q is %s, %v, want %s", text, got, err, want)
		}
	}
	if n, err := Parse("f", "a: &x\n- b\nc: *x\nd: e"); err != nil || !n.Find("a").Anchored || n.Find("d").Anchored {
		t.Errorf("anchors: %v, error %v", n, err)
	}
	for text, want := range map[string]string{
		"a: 1\na: 2":                   "f:2: found \"a\" twice",
		"a: b\n  c: d":                 "f:2: found \"c: d\", expected it to fit",
		"a:\n    b: 1\n  c: 1":         "f:3: found \"c: 1\", expected it to fit",
		"a: *b":                        "f:1: found the alias \"*b\"",
		"a: {b: c}":                    "f:1: found \"{b: c}\"",
		"a: |\n  b":                    "f:1: found \"|\"",
		"!!set {a: b}":                 "f:1: found \"!!set {a: b}\"",
		"a: b: c":                      "f:1: found \"b: c\", expected text, quoted",
		"a: [b, [c]]":                  "f:1: found \"[c]\"",
		"a: [{b: c}]":                  "f:1: found \"{b: c}\"",
		"a: [*x]":                      "f:1: found \"*x\"",
		"a: [b,,c]":                    "f:1: found \",c\"",
		"a: [\"b\" \"c\"]":             "f:1: found \"\\\"c\\\"\" after",
		"? a":                          "f:1: found \"? a\"",
		"a: [b":                        "f:1: found a list without ]",
		"a: \"b":                       "f:1: found \"\\\"b\", expected a text in quotes",
		"a: 'b":                        "f:1: found \"'b\", expected a text in quotes",
		"a: \"b\" c":                   "f:1: found \"c\" after",
		"a: b\n\tc: d":                 "f:2: found a tab",
		"a: \xff":                      "f: found invalid UTF-8",
		"a: \"\\q\"":                   "f:1: found \"\\\"\\\\q",
		"a: b\nc":                      "f:2: found \"c\", expected a key",
		strings.Repeat("- ", 30) + "a": "f:1: found lists and mappings nested deeper",
	} {
		if n, err := Parse("f", text); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q is %s, error %v, want %s", text, format(n), err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("a: &b [c, 'd']\ne:\n- *b # f\n- g: \"h\"\n  i: j\n")
	f.Fuzz(func(t *testing.T, text string) {
		if n, err := Parse("f", text); (n == nil) == (err == nil) {
			t.Errorf("%q is %v, %v", text, n, err)
		}
	})
}

// Vocabularies of Marian have a line for each token.
func BenchmarkParse(b *testing.B) {
	for _, quote := range []string{"", `"`} {
		var text strings.Builder
		for i := range 64000 {
			fmt.Fprintf(&text, "%s▁tok%d%s: %d\n", quote, i, quote, i)
		}
		b.Run("lines=64000/quote="+quote, func(b *testing.B) {
			b.SetBytes(int64(text.Len()))
			for b.Loop() {
				if _, err := Parse("f", text.String()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
