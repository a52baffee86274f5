package markup

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// inBraces returns the plain text with its spans in braces; those of kept ones are square.
func inBraces(x Text) string {
	var b strings.Builder
	for i := 0; i <= len(x.Plain); i++ {
		for k := len(x.Spans) - 1; k >= 0; k-- {
			if s := x.Spans[k]; s.End == i && s.Start < i {
				b.WriteByte("}]"[btoi(s.Keep)])
			}
		}
		for _, s := range x.Spans {
			if s.Start == i {
				b.WriteByte("{["[btoi(s.Keep)])
				if s.End == i {
					b.WriteByte('}')
				}
			}
		}
		if i < len(x.Plain) {
			b.WriteByte(x.Plain[i])
		}
	}
	return b.String()
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// checkTexts checks the texts of documents, separated by |, with their spans in braces.
func checkTexts(t *testing.T, read func(string) (*Document, error), wants map[string]string) {
	t.Helper()
	for s, want := range wants {
		d, err := read(s)
		if err != nil {
			t.Errorf("%q: %v", s, err)
			continue
		}
		var got []string
		for _, x := range d.Texts {
			got = append(got, inBraces(x))
		}
		if got := strings.Join(got, "|"); got != want {
			t.Errorf("%q:\ngot  %q\nwant %q", s, got, want)
		}
	}
}

func TestReadHTML(t *testing.T) {
	checkTexts(t, ReadHTML, map[string]string{
		// Spans and white space
		`<p>Hello <b>big</b> world, <a href="?a=1&b=2">this &amp; <i>that</i></a>.</p>`: `Hello {big} world, {this & {that}}.`,
		"<p> \n a\n  b<b> c </b>d <b> e</b> </p>":                                       `a b {c} d {e}`,
		`a<br>b <br/> c<br>`:                             "a{}\nb{}\nc",
		`<p><b>all</b></p>`:                              `all`,
		`<a name=x></a>a <img> b<!--c-->`:                `a {}b`,
		`<p>&copy; &lt;b&gt;&#x80;&notit; &nbsp;&bogus;`: "© <b>€¬it; \u00a0&bogus;",
		`a <code>x  &lt; y</code> b <kbd></kbd>c <span translate=no>d</span> e`: `a [x < y] b {}c [d] e`,
		`a <i class="x notranslate">b <b translate=yes>c</b></i> d`:             `a [b c] d`,
		`<pre>a</pre><code>b</code> 1 <script>"<b>"</script>`:                   ``,
		`<div translate=no>a<p translate=yes>b</div>c`:                          `b|c`,
		// Attributes
		`<img alt="a &quot;b&quot;" title=c><input value=d><input type=Submit value=e>`: `a "b"|c|e`,
		`<meta name=Description content="a&copy=b &copy c"><img alt=a alt=b>`:           `a&copy=b © c|a`,
		// Blocks with optional end tags
		`<ul><li>a<li>b<ul><li>c</ul>d</ul>e<p>f<div>g</div>h</p>i`:     `a|b|c|d|e|f|g|h|i`,
		`<table>a<tr><td>b<th>c<tr><td>d<table><td>e</table>f</table>g`: `a|b|c|d|e|f|g`,
		`<select><option>a<option>b<optgroup>c</select>d`:               `a|b|c|d`,
		`a</div>b<tr>c</td>d`: `a{}b{}c{}d`,
		// Misnested elements
		`<b>x <i>y</b> z</i>`:                   `{x {}y} z`,
		`a <b>x <i>y</b> z</i> c`:               `a {x {}y} z{} c`,
		`<p>a <b>b<p>c</b> d`:                   `a {}b|c{} d`,
		`<b><span>x</b>y</span>z`:               `{{}x}y{}z`,
		`<a href=1>x <a href=2>y</a> z`:         `x {y} z`,
		`<a><div>x</div><p>y</p></a>`:           `x|y`,
		`<b>1</b><b>one<p>two<b>three</b></b>4`: `{1}{}one|two{three}{}4`,
		// Text without tags in it
		`<title>a <b> &amp;</title><textarea>b <i></textarea>c<xmp>d</xmp>`: `a <b> &|c`,
		`<script><!-- <script> </script> a </script> --></script>b`:         `-->{}b`,
		`a <!-- b --!> c <!-> d <!--> e <? f> g </ h> i </> j < k <3`:       `a {}c {}d {}e {}g {}i {}j < k <3`,
		// SVG and MathML
		`a <svg><title>b</title><br>c`:                 ``,
		`a <math><mi>x</math> b <svg><a>c</a></svg> d`: `a {{}[x]} b {}d`,
		`<![CDATA[a]]>b <svg><![CDATA[ > ]]></svg> c`:  `b {}c`,
		// Encodings
		"<meta charset=latin1>é":       "é", // of a document that was decoded
		"<meta charset=UTF-8>a\xFF":    "a\uFFFD",
		"<title>a</title><p lang=en>b": "a|b",
	})
}

func TestReadXML(t *testing.T) {
	checkTexts(t, ReadXML, map[string]string{
		`<?xml version="1.0"?><!DOCTYPE d [<!ENTITY x "<y>">]><d><p>a <b>c</b> &x; d</p><p><b>e</b></p><B>f</B></d>`: `a {c} {}d|e|f`,
		`a <g id="1">b</g><x/> <ph>%s</ph> <mrk mtype="protected">c</mrk>`:                                           `a {b}{} {}[c]`,
		`<d>a &lt;<![CDATA[ <b> ]]>c</d>`:                        `a < <b> c`,
		`<d><s><![CDATA[a & b]]></s><s translate="no">c</s></d>`: `a & b`,
		`<html><p title="a">b<br/>c <a id="x"/>d</p></html>`:     "a|b{}\nc {}d",
	})
}

// Errors name the line, what was found and what was expected.
func TestErrors(t *testing.T) {
	for s, want := range map[string]string{
		"<a>\n</b>":                       `line 2: found </b>, expected </a>`,
		"<a>":                             `line 1: found the end, expected </a>`,
		"\n</a>":                          `line 2: found </a>, expected no end tag`,
		"<a b>":                           `line 1: found the attribute "b" without a value in <a>`,
		"<a b=c>":                         `line 1: found a value of the attribute "b" without quotation marks in <a>`,
		"a < b":                           `line 1: found "< b", expected a tag, or &lt; in the place of <`,
		"<!-- ":                           `line 1: found the end after "<!-- ", expected "-->"`,
		"<a b='":                          `line 1: found the end of the document in the tag <a>`,
		"<!DOCTYPE a [":                   `line 1: found the end of the document in a declaration, expected ">"`,
		strings.Repeat("<a>", maxDepth+1): `line 1: found more than 4096 elements in one another`,
	} {
		if _, err := ReadXML(s); err == nil || err.Error() != want {
			t.Errorf("%.30q: error %v, want %s", s, err, want)
		}
	}
	for s, want := range map[string]string{
		strings.Repeat("<b>", maxDepth+1): `line 1: found more than 4096 elements in one another`,
	} {
		if _, err := ReadHTML(s); err == nil || err.Error() != want {
			t.Errorf("%.30q: error %v, want %s", s, err, want)
		}
	}
	d, err := ReadHTML("<p>a <b>b</b> é")
	if err != nil {
		t.Fatal(err)
	}
	for want, texts := range map[string][]Text{
		"found 0 texts, expected 1":                                                  nil,
		"text 0: found spans [], expected [0]":                                       {{Plain: "a"}},
		"text 0: found invalid UTF-8":                                                {{Plain: "\xFF"}},
		"text 0: found spans [2], expected [0]":                                      {{Plain: "a", Spans: []Span{{ID: 2}}}},
		"text 0: found span 0 at 1 to 1, expected characters of the text of 2 bytes": {{Plain: "é", Spans: []Span{{Range: rangeOf(1, 1)}}}},
	} {
		if _, err := d.Append(nil, texts, ""); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// A document is written with other texts, in its own encoding and with another language.
func TestAppend(t *testing.T) {
	for _, test := range [][3]string{
		{`<html lang="en"><p title=a>a <b>b</b><br>  c <i lang=en>d</i>`, "x é “y” & <z>", `<html lang="zh"><p title="x é “y” &amp; &lt;z>">x é “y” &amp; &lt;z&gt;<b></b><br>  <i lang="zh"></i>`},
		{"<p>é <b title='a'>b</b>", "é'狗\u00A0", "<p>é'狗&nbsp;<b title='é&#39;狗&nbsp;'></b>"},
	} {
		d, err := ReadHTML(test[0])
		if err != nil {
			t.Fatal(err)
		}
		texts := slices.Clone(d.Texts)
		for i := range texts {
			texts[i].Plain, texts[i].Spans = test[1], slices.Clone(texts[i].Spans)
			for k := range texts[i].Spans {
				texts[i].Spans[k].Range = rangeOf(len(test[1]), len(test[1]))
			}
		}
		out, err := d.Append(nil, texts, "zh")
		if err != nil || string(out) != test[2] {
			t.Errorf("got  %s\nwant %s, error %v", out, test[2], err)
		}
	}
	// White space in an element that is kept is the one between words.
	d, err := ReadHTML("<p>a <code>b </code>c<code> d</code>. <code> e</code>")
	if err != nil {
		t.Fatal(err)
	}
	other := slices.Clone(d.Texts)
	other[0].Plain = "A b C d. e"
	out, err := d.Append(nil, other, "")
	if want := "<p>A <code>b </code>C<code> d</code>.<code> e</code>"; err != nil || string(out) != want {
		t.Errorf("got  %s\nwant %s, error %v", out, want, err)
	}
	d, err = ReadXML(`<a><![CDATA[b]]></a><a>c <b><![CDATA[d]]></b></a>`)
	if err != nil {
		t.Fatal(err)
	}
	texts := slices.Clone(d.Texts)
	texts[0].Plain, texts[1].Plain = "x]]>&", "& <"
	texts[1].Spans = []Span{{Range: rangeOf(2, 3)}}
	out, err = d.Append(nil, texts, "")
	if want := `<a>x]]&gt;&amp;</a><a>&amp; <b>&lt;</b></a>`; err != nil || string(out) != want {
		t.Errorf("got  %s\nwant %s, error %v", out, want, err)
	}
}

// Reading takes time in proportion to the length, not to its square, for documents that make
// parsers slow.
func BenchmarkReadHTML(b *testing.B) {
	for name, part := range map[string]string{
		"plain": "<p>Some <b>bold</b> text, <a href=x>a link</a>.", "formatting": "<p><b><i>x", "nested": "<b>x<p></b>", "attributes": "<a b=c ", "entities": "&amp",
	} {
		for _, n := range []int{1000, 10_000} {
			s := strings.Repeat(part, n)
			b.Run(fmt.Sprintf("kind=%s/parts=%d", name, n), func(b *testing.B) {
				b.SetBytes(int64(len(s)))
				for b.Loop() {
					ReadHTML(s)
				}
			})
		}
	}
}
