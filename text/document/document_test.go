package document

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"tfm/text"
	"tfm/text/charset"
	"tfm/text/internal/xmltext"
	"tfm/text/markup"
)

// translateString translates src by f, which may be nil for none.
func translateString(name, src string, o Options, f func(markup.Text) markup.Text) (result string, texts []markup.Text, err error) {
	var b bytes.Buffer
	err = Translate(&b, name, strings.NewReader(src), int64(len(src)), o, func(group []markup.Text) ([]markup.Text, error) {
		texts = append(texts, group...)
		group = slices.Clone(group)
		if f != nil {
			for i, t := range group {
				group[i] = f(t)
			}
		}
		return group, nil
	})
	return b.String(), texts, err
}

// hard makes each text longer, with characters that formats give a meaning. Spans keep their text.
func hard(t markup.Text) markup.Text {
	return markup.Text{Plain: t.Plain + ` a < b && &lt; *a* _b_ "c" \d [e](f) 漢字 100% |g| # and so many words that no line could have been wrapped.`, Spans: t.Spans}
}

// describe returns the texts with their spans, for comparison.
func describe(texts []markup.Text) []string {
	var all []string
	for _, t := range texts {
		s := t.Plain
		for _, span := range t.Spans {
			s += " [" + t.Plain[span.Start:span.End] + "]"
			if span.Keep {
				s += "!"
			}
		}
		all = append(all, s)
	}
	return all
}

// checkDocument tests the promises of Translate for a document: an identity translation gives back
// its bytes, and a document with changed texts has these texts and no other change. want are
// the texts with the text of each span.
func checkDocument(t *testing.T, name, src string, want ...string) {
	t.Helper()
	same, texts, err := translateString(name, src, Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if same != src {
		t.Errorf("identity: got %q, want %q", same, src)
	}
	if got := describe(texts); want != nil && !slices.Equal(got, want) {
		t.Errorf("texts:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	checkChange(t, name, src, texts)
}

// checkChange tests that the document src with changed texts has the changed texts, and is src
// again with the texts that it had.
func checkChange(t *testing.T, name, src string, texts []markup.Text) {
	t.Helper()
	changed, _, err := translateString(name, src, Options{}, hard)
	if err != nil {
		t.Fatal(err)
	}
	var expected []markup.Text
	for _, text := range texts {
		expected = append(expected, hard(text))
	}
	again, got, err := translateString(name, changed, Options{}, nil)
	if err != nil {
		t.Fatalf("%v in %q", err, changed)
	}
	if again != changed {
		t.Errorf("identity of the result: got %q, want %q", again, changed)
	}
	if got, want := describe(got), describe(expected); !slices.Equal(got, want) {
		t.Errorf("texts of the result %q:\n%s\nwant:\n%s", changed, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// fails tests that a document is an error with some words, on one line.
func fails(t *testing.T, name, src, words string) {
	t.Helper()
	_, _, err := translateString(name, src, Options{}, nil)
	if err == nil || !strings.Contains(err.Error(), words) || strings.Contains(err.Error(), "\n") {
		t.Errorf("%s: error %v, want one with %q", name, err, words)
	}
}

func TestTxt(t *testing.T) {
	checkDocument(t, "a.txt", "A title\r\n\r\n  One line.  \r\nAnother one.", "A title", "One line.", "Another one.")
	checkDocument(t, "a.txt", charset.Mark+"42\n\n- An item\n\tAnother\n\n", "- An item", "Another")
	checkDocument(t, "a.txt", "")
	wrapped := "The first line of a paragraph that was wrapped\nby some program ends before the word that no\nlonger fits on it.\n\nA list:\n- one\n- two\n"
	_, texts, _ := translateString("a.txt", wrapped, Options{}, nil)
	if got, want := texts[0].Plain, strings.ReplaceAll(wrapped[:strings.Index(wrapped, "\n\n")], "\n", " "); got != want {
		t.Errorf("paragraph %q, want %q", got, want)
	}
	upper, _, _ := translateString("a.txt", wrapped, Options{}, func(t markup.Text) markup.Text {
		return markup.Text{Plain: strings.ToUpper(t.Plain)}
	})
	if upper != strings.ToUpper(wrapped) {
		t.Errorf("got %q, want the same line breaks", upper)
	}
}

func TestUTF16(t *testing.T) {
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		src := string(charset.EncodeUTF16(charset.Mark+"A word \U0001F600.\r\n", order))
		checkDocument(t, "a.txt", src, "A word \U0001F600.")
		fails(t, "a.txt", src+"\x00", "invalid UTF-16 at byte 26")
		fails(t, "a.txt", string(charset.EncodeUTF16(charset.Mark, order))+"\xd8\xd8", "invalid UTF-16 at byte 2")
	}
	fails(t, "a.txt", "one\ntwo\xff", "a.txt:2: invalid UTF-8")
	fails(t, "a.txt", "one\ntwo\x00", "a.txt:2: found a zero byte")
}

func TestLimits(t *testing.T) {
	fails(t, "a.txt", "one\n\n"+strings.Repeat("a", maxTextBytes+1), "a.txt:3: text of 1048577 bytes, limit 1048576")
	fails(t, "a.unknown", "text", "a.unknown: unknown format; name one of ")
	if err := Translate(nil, "a.txt", nil, MaxBytes+1, Options{}, nil); err == nil {
		t.Error("no error for a large file")
	}
}

// Groups are bounded, and a wrong result of f is an error.
func TestGroups(t *testing.T) {
	src := strings.Repeat("A line of a long file.\n", 10000)
	groups := 0
	run := func(f Func) error {
		return Translate(&bytes.Buffer{}, "a.txt", strings.NewReader(src), int64(len(src)), Options{}, f)
	}
	err := run(func(texts []markup.Text) ([]markup.Text, error) {
		groups++
		n := 0
		for _, t := range texts {
			n += len(t.Plain)
		}
		if n > maxGroupBytes+100 || len(texts) > maxGroupTexts+1 {
			t.Errorf("group of %d texts, %d bytes", len(texts), n)
		}
		return texts, nil
	})
	if err != nil || groups < 4 {
		t.Errorf("%d groups, error %v", groups, err)
	}
	if err := run(func(t []markup.Text) ([]markup.Text, error) { return t[1:], nil }); err == nil {
		t.Error("no error for a missing translation")
	}
	if err := run(func(t []markup.Text) ([]markup.Text, error) { t[0].Plain = "\xff"; return t, nil }); err == nil {
		t.Error("no error for invalid UTF-8")
	}
	if err := run(func(t []markup.Text) ([]markup.Text, error) { t[0].Spans = make([]markup.Span, 1); return t, nil }); err == nil {
		t.Error("no error for a new span")
	}
}

func TestBuildAndRender(t *testing.T) {
	m := build([]fragment{
		{plain: "a "}, {kind: openingTag, bytes: "<b>", key: "b"}, {kind: openingTag, bytes: "<a>", key: "a"}, {kind: emptyElement, bytes: "<img>"},
		{kind: closingTag, bytes: "</a>", key: "a"}, {plain: "bold "}, {kind: keptElement, bytes: "`x&lt;y`", plain: "x<y"}, {kind: openingTag, bytes: "<u>", key: "u"},
		{kind: closingTag, bytes: "</b>", key: "b"}, {kind: openingTag, bytes: "<i>", key: "i"}, {kind: closingTag, bytes: "</i>", key: "i"}, {kind: closingTag, bytes: "</s>", key: "s"},
		{plain: " & c"},
	}, false)
	if got, want := m.elements.render(m.Text, xmltext.Escape), "a <b><a><img></a>bold `x&lt;y`</b><u><i></i></s> &amp; c"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := strings.Join(describe([]markup.Text{m.Text}), ""), "a bold x<y & c [bold x<y] [] [x<y]! [] [] []"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for i := range m.Spans {
		m.Spans[i].Range = text.Range{}
	}
	if got, want := m.elements.render(m.Text, nil), "<b></b><a><img></a>`x&lt;y`<u><i></i></s>a bold x<y & c"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// fuzz runs f on documents of a format: identity gives back the bytes, and nothing panics.
func fuzz(f *testing.F, format string, seeds ...string) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		same, _, err := translateString("a", src, Options{Format: format}, nil)
		if err != nil {
			return
		}
		if same != src {
			t.Fatalf("identity: got %q, want %q", same, src)
		}
		if _, _, err = translateString("a", src, Options{Format: format}, hard); err != nil {
			t.Fatal(err)
		}
	})
}

func FuzzTxt(f *testing.F) {
	fuzz(f, "txt", "One.\r\nTwo.\n\n  Three\n", "\xff\xfe"+"a\x00", charset.Mark+"a")
}
