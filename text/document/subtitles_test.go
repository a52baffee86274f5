package document

import (
	"strings"
	"testing"
	"unicode/utf8"

	"tfm/text/markup"
)

const srtText = "\ufeff1\r\n00:00:01,000 --> 00:00:03,500 X1:10\r\n{\\an8}<i>We went to the market,\r\nbecause the old</i>\r\n\r\n" +
	"2\r\n00:00:03,600 --> 00:00:05,000\r\nbaker had <b>fresh</b> bread.\r\n\r\n" +
	"3\r\n0:00:6,000 --> 0:00:7,000\r\n- Really?\r\n- Yes & <i>no.\r\n\r\n" +
	"4\r\n00:00:08,000 --> 00:00:09,000\r\n1984\r\n"

func TestSRT(t *testing.T) {
	checkDocument(t, "a.srt", strings.Replace(srtText, "old</i>\r\n", "old</i>.\r\n", 1),
		"We went to the market, because the old. [We went to the market, because the old]",
		"baker had fresh bread. [fresh]", "Really?", "Yes & no. []")
	long := func(t markup.Text) markup.Text {
		if !strings.HasPrefix(t.Plain, "We went") {
			return t
		}
		spans := append([]markup.Span(nil), t.Spans...)
		spans[0].Start, spans[0].End = 25, 55
		return markup.Text{Plain: "Wir gingen zum Markt, da der alte Bäcker frisches Brot hatte, sehr gutes frisches Brot, und viel davon", Spans: spans}
	}
	got, texts, err := translateString("a.srt", srtText, Options{}, long)
	want := strings.NewReplacer(
		"We went to the market,\r\nbecause the old", "Wir gingen zum Markt, da <b>der\r\nalte Bäcker frisches Brot</b> hatte,",
		"baker had <b>fresh</b> bread.", "sehr gutes frisches Brot, und viel davon").Replace(srtText)
	if err != nil || got != want {
		t.Errorf("error %v, got\n%q, want\n%q", err, got, want)
	}
	if got, want := describe(texts)[0], "We went to the market, because the old baker had fresh bread. [fresh]"; got != want {
		t.Errorf("text %q, want %q", got, want)
	}
	fails(t, "a.srt", "text", "a.srt:1: found no cue")
}

func TestVTT(t *testing.T) {
	src := "WEBVTT - Title\nKind: captions\n\nNOTE\nA note\n\nSTYLE\n::cue { color: red }\n\nid one\n01:02.000 --> 01:04.000 align:start\n" +
		"<v Anna>Tea &amp; <c.yellow>milk</c> <01:03.000>&lt;now&gt;?\n\n01:05.000 --> 01:06.000\nYes.\n02:05.000 --> 02:06.000\nNo blank line.\n"
	checkDocument(t, "a.vtt", src, "Tea & milk <now>? [milk] []", "Yes.", "No blank line.")
	if f, err := formatOf("a", strings.NewReader(src), int64(len(src)), ""); err != nil || f.name != "vtt" {
		t.Errorf("format %v, error %v, want vtt", f, err)
	}
}

// The parts of a text are all of it, in order, whatever its length.
func TestDivide(t *testing.T) {
	for _, s := range []string{"", "one", "one two three, four five", "一二三四，五六七八九十", "a 一b", strings.Repeat("word ", 50) + "end"} {
		for n := 1; n < 5; n++ {
			targets := make([]target, n)
			for i := range targets {
				targets[i] = target{share: i + 1, limit: 10}
			}
			at, all := 0, 0
			for _, r := range divide(s, targets) {
				if r.Start < at || r.End < r.Start || strings.TrimSpace(s[at:r.Start]) != "" || !utf8.ValidString(s[r.Start:r.End]) {
					t.Errorf("%q in %d parts: part %v", s, n, r)
				}
				at = r.End
				all++
			}
			if at != len(s) || all != n {
				t.Errorf("%q in %d parts: found %d parts of %d bytes", s, n, all, at)
			}
		}
	}
	got := divide("one two three, four five", []target{{15, 99}, {9, 99}})
	if got[0].End != len("one two three,") {
		t.Errorf("got %v, want a division after the comma", got)
	}
}

func FuzzSRT(f *testing.F) { fuzz(f, "srt", srtText, "1\n0:0:0,0-->0:0:0,0\n<i>") }

func FuzzVTT(f *testing.F) {
	fuzz(f, "vtt", "WEBVTT\n\n00:01.000 --> 00:02.000\n<v A>B &amp; <c>c</c>\n\n00:02.000 --> 00:03.000\nd</v>")
}
