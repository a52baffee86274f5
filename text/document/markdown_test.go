package document

import (
	"strings"
	"testing"

	"tfm/text/markup"
)

func TestMarkdownInlines(t *testing.T) {
	for src, want := range map[string]string{
		"*a* **b** ***c*** _d_ ~~e~~ snake_case 2 * 3":  "a b c d e snake_case 2 * 3 [a] [b] [c] [c] [d] [e]",
		"`a*b*` ``c ` d`` <https://x.y/z_a_> <a@b.c> w": "a*b* c ` d https://x.y/z_a_ a@b.c w [a*b*]! [c ` d]! [https://x.y/z_a_]! [a@b.c]!",
		"[a *b*](u \"t\") [r][ref] [ref] [ref][] [no]":  "a b r ref ref [no] [a b] [b] [r] [ref] [ref]",
		"![alt](u) x [![i](u)](v)":                      "x|alt|i",
		"a <b>c</b><br> &amp; &copy; \\* [^1]":          "a c & © * [c] []",
		"hard  \nbreak\\\nand soft\nline":               "hard break and soft line [] []",
		"**unclosed *a* `b [c](":                        "**unclosed a `b [c]( [a]",
		"*a _b* c_ [d*](e)*":                            "a _b c_ d** [a _b] [d*]",
		"<!-- comment --> a":                            "a",
	} {
		_, texts, err := translateString("a.md", src+"\n\n[ref]: x\n", Options{}, nil)
		if got := strings.Join(describe(texts), "|"); err != nil || got != want {
			t.Errorf("%q: error %v, got %q, want %q", src, err, got, want)
		}
		checkDocument(t, "a.md", src+"\n\n[ref]: x\n")
	}
}

func TestMarkdownBlocks(t *testing.T) {
	checkDocument(t, "a.md", "---\ntitle: 'A title'\ndescription: Plain words\ntags: [x]\n---\n"+
		"# Heading #\n\nSet\next\n===\n\n> quote `x` and\n> more\nlazy\n\n- item\n  continued\n\n  second\n  1. [ ] task\n- [x] done\n\n"+
		"***\n\n    indented code\n\n```go\ncode\n```\n\n~~~\n# code\n\n***\n~~~\n***\n\n| a | b \\| c |\n|---|:-:|\n| *d* | `e\\|f` g |\n\nafter\n"+
		"[link]: http://x\n\n[link]: http://x\n[^1]: A note.\n\n<div>\nSome <b>bold</b> text.\n</div>\n\n<!-- a\n\ncomment -->\n",
		"A title", "Plain words", "Heading", "Set ext", "quote x and more lazy [x]!", "item continued", "second", "task", "done",
		"a", "b | c", "d", "e|f g [e|f]!", "after link: http://x [link]", "A note.", "Some bold text. [bold]")
	checkDocument(t, "a.md", "\ufeffOne\r\n\r\n* * *\r\nTwo\r\nthree\r\n-\r\nfour", "One", "Two three", "four")
	fails(t, "a.md", strings.Repeat("> ", 300)+"a", "quotes and lists nested deeper than 256")
}

// A translation that looks like a block or has characters with a meaning stays one text.
func TestMarkdownEscapes(t *testing.T) {
	for _, s := range []string{"1. no list", "# no heading", "- no item", "> no quote", "a *b* `c` [d](e) <b>f</b> &amp; \\*", "```no code", "=====", "[a]: b", "| no | table"} {
		got, _, err := translateString("a.md", "Word\n", Options{}, func(markup.Text) markup.Text { return markup.Text{Plain: s} })
		if err != nil {
			t.Fatal(err)
		}
		_, texts, err := translateString("a.md", got, Options{}, nil)
		if back := strings.Join(describe(texts), "|"); err != nil || back != s && strings.ContainsAny(s, "abcdefghijklmnopqrstuvwxyz") {
			t.Errorf("%q became %q, which is read as %q, error %v", s, got, back, err)
		}
	}
}

// A wrapped paragraph is wrapped again, and no line begins a block.
func TestMarkdownWrap(t *testing.T) {
	src := "> A paragraph of several words that is wrapped\n> by its author after about forty characters\n> of text.\n"
	got, _, err := translateString("a.md", src, Options{}, func(markup.Text) markup.Text {
		return markup.Text{Plain: "Ein Absatz aus vielen Wörtern und der Zahl 17. - und einem Strich und noch mehr Wörtern am Ende"}
	})
	want := "> Ein Absatz aus vielen Wörtern und der Zahl\n> 17. - und einem Strich und noch mehr Wörtern\n> am Ende\n"
	if want = strings.Replace(want, "Zahl\n> 17. -", "Zahl 17. -\n>", 1); err != nil || strings.Contains(got, "\n> 17") || strings.Contains(got, "\n> -") || strings.Count(got, "\n> ") != 2 {
		t.Errorf("error %v, got %q, want one like %q", err, got, want)
	}
}

func FuzzMarkdown(f *testing.F) {
	fuzz(f, "markdown", "# a *b* [c](d)\n\n> - e `f`\n>   g\n\n| h | i |\n|---|---|\n| j | k |\n", "---\ntitle: x\n---\n", "<div>\n\na</div>", "```\nx", "![a](b) **c_d*_")
}
