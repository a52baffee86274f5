package text

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"

	"tfm/text/charset"
)

// tmx returns a TMX file with the units of a body.
func tmx(srcLang, body string) string {
	return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE tmx SYSTEM \"tmx14.dtd\">\n<tmx version=\"1.4\"><header srclang=\"" + srcLang + "\"><note xml:lang=\"fi\">x</note></header>\n<body>\n" + body + "</body></tmx>\n"
}

// unit returns a unit of segments with their languages.
func unit(segments ...string) string {
	s := "<tu>"
	for i := 0; i < len(segments); i += 2 {
		s += fmt.Sprintf("<tuv xml:lang=\"%s\"><prop type=\"a\">b</prop><seg>%s</seg></tuv>\n", segments[i], segments[i+1])
	}
	return s + "</tu>\n"
}

// inUTF16 returns s in UTF-16 with a byte order mark.
func inUTF16(s string, order binary.ByteOrder) string {
	return string(charset.EncodeUTF16(charset.Mark+s, order))
}

func TestTMX(t *testing.T) {
	two := unit("en-US", "A &lt;dog&gt;.", "de", "Ein &#72;und.")
	astral := tmx("en", unit("en", strings.Repeat("😀 ", 5000), "de", "ü"))
	astralPair := strings.TrimRight(strings.Repeat("😀 ", 5000), " ") + "\tü"
	for name, c := range map[string]struct {
		file     string
		from, to string
		likely   bool
		want     []string
		oneSided int
		err      string
	}{
		"two languages":       {file: tmx("en-us", two+two), want: []string{"A <dog>.\tEin Hund.", "A <dog>.\tEin Hund."}},
		"reversed":            {file: tmx("de", two), want: []string{"Ein Hund.\tA <dog>."}},
		"chosen":              {file: tmx("en", unit("fr", "Un", "en", "One", "de", "Ein")), from: "de", to: "fr", want: []string{"Ein\tUn"}},
		"only target given":   {file: tmx("*all*", unit("de", "Ein", "en", "One")), to: "de", want: []string{"One\tEin"}},
		"first of a language": {file: tmx("en", unit("en", "a", "de", "b", "de-AT", "c")), want: []string{"a\tb"}},
		"one side":            {file: tmx("en", unit("en", "a")+unit("en", "a", "de", " ")+unit("en", "a", "de", "b")), want: []string{"a\tb"}, oneSided: 2},
		"codes": {file: tmx("en", unit("en", `a <bpt i="1">&lt;b><sub>x</sub></bpt>b<ept i="1">&lt;/b></ept> <hi>c <ph>y<ph/>z</ph></hi><ut>q</ut>`, "de", "d<it pos='begin'>r</it>")),
			want: []string{"a b c\td"}},
		"white space":        {file: tmx("en", unit("en", "\n  a\t\n b  c ", "de", "<![CDATA[d\r\ne]]>\u00a0")), want: []string{"a b  c\td e\u00a0"}},
		"lang without xml":   {file: strings.ReplaceAll(tmx("EN", two), "xml:lang", "lang"), want: []string{"A <dog>.\tEin Hund."}},
		"UTF-16":             {file: inUTF16(astral, binary.LittleEndian), want: []string{astralPair}},
		"UTF-16, big":        {file: inUTF16(strings.Replace(astral, "UTF-8", "UTF-16", 1), binary.BigEndian), want: []string{astralPair}},
		"byte order mark":    {file: charset.Mark + tmx("en", two), want: []string{"A <dog>.\tEin Hund."}},
		"gzip":               {file: gzipped(tmx("en", two)), want: []string{"A <dog>.\tEin Hund."}},
		"utf8":               {file: strings.Replace(tmx("en", two), "UTF-8", "utf8", 1), want: []string{"A <dog>.\tEin Hund."}},
		"header of another":  {file: tmx("fr", two+two), want: []string{"A <dog>.\tEin Hund.", "A <dog>.\tEin Hund."}},
		"regions by header":  {file: tmx("en", two+unit("en-GB", "a", "de", "b")), want: []string{"A <dog>.\tEin Hund.", "a\tb"}},
		"target of header":   {file: tmx("de", two), to: "de", want: []string{"A <dog>.\tEin Hund."}},
		"exact tags":         {file: tmx("pt", unit("pt-BR", "a", "pt", "b")+unit("pt-BR", "c", "pt-PT", "d")+unit("pt", "e")), from: "pt", to: "pt-BR", want: []string{"b\ta", "d\tc"}, oneSided: 1},
		"likely reversed":    {file: tmx("en", two), from: "de", to: "en", likely: true, want: []string{"Ein Hund.\tA <dog>."}},
		"a region's script":  {file: tmx("en", unit("en", "a", "zh-TW", "貓", "zh_CN", "猫")), from: "en", to: "zh-Hans", want: []string{"a\t猫"}},
		"another script":     {file: tmx("en", unit("en", "a", "zh-TW", "貓")), from: "en", to: "zh-Hans", err: "found no unit in two languages, expected en and zh-Hans"},
		"names of a script":  {file: tmx("en", unit("en", "a", "zh-Hans", "猫")+unit("en", "b", "zh-CN", "狗")), want: []string{"a\t猫", "b\t狗"}},
		"names of a region":  {file: tmx("en", unit("en", "a", "nb-NO", "b")+unit("en", "c", "no", "d")), want: []string{"a\tb", "c\td"}},
		"ISO 639-3":          {file: tmx("en", unit("eng", "a", "deu", "b")), from: "en", to: "de", want: []string{"a\tb"}},
		"likely others":      {file: tmx("en", unit("en", "a", "zh-TW", "b")), from: "ja", to: "fr", likely: true, want: []string{"a\tb"}},
		"units of others":    {file: tmx("en", two+unit("fr", "a", "it", "b")+unit("en", "c", "fr", "d")), from: "en", to: "de", want: []string{"A <dog>.\tEin Hund."}, oneSided: 1},
		"nesting":            {file: tmx("en", "<tu><tuv xml:lang='en'><seg>a<b></seg></tuv></tu>"+two), err: ":5: element <b> closed by </seg>"},
		"comment before":     {file: strings.Replace(tmx("en", two), "<!DOCTYPE", "<!-- x --><?x?><!DOCTYPE", 1), want: []string{"A <dog>.\tEin Hund."}},
		"not TMX":            {file: "<a>\t<b>\n<tmx >\tb\n", want: []string{"<a>\t<b>", "<tmx >\tb"}, oneSided: -1},
		"long pair":          {file: tmx("en", unit("en", strings.Repeat("a ", MaxLine/4), "de", strings.Repeat("b ", MaxLine/4+1))), err: "found a pair longer than"},
		"many variants":      {file: tmx("en", "<tu>"+strings.Repeat("<tuv xml:lang='en'><seg>a</seg></tuv>", maxTMXUnit/tmxVariantMin)+"</tu>"), err: "found a unit longer than"},
		"long language":      {file: tmx("en", unit(strings.Repeat("x", 101), "a")), err: "found a language of 101 bytes"},
		"deep":               {file: tmx("en", strings.Repeat("<a>", maxTMXDepth)), err: "nested deeper than"},
		"third language":     {file: tmx("en", two+unit("fr", "a", "en", "b")), err: ":10: found text in fr beside en and de, expected two languages, or two that are named, as by -src-lang and -tgt-lang"},
		"no language":        {file: tmx("en", "<tu><tuv><seg>a</seg></tuv></tu>"), err: ":5: found a variant without xml:lang"},
		"no units":           {file: tmx("en", unit("en", "a", "de", "")), err: "found no unit in two languages, expected en and another"},
		"truncated":          {file: tmx("en", two)[:200], err: "the file ends before </tmx>"},
		"truncated in a tag": {file: tmx("en", two)[:170], err: "the file ends before </tmx>"},
		"truncated gzip":     {file: gzipped(tmx("en", two))[:150], err: "truncated gzip file"},
		"characters":         {file: tmx("en", unit("en", "a&#x1F;&#0;b\x01&nbsp;&hellip;&amp;", "de", "&unknown&#60;")), err: ":6: invalid character entity &unknown (no semicolon)"},
		"illegal characters": {file: tmx("en", unit("en", "a&#x1F;&#xD800;b\x01&nbsp;&hellip;&amp;"+strings.Repeat("x", 5000)+"&#8230;", "de", "&#60;&#38;#1;")), want: []string{"a\uFFFD\uFFFDb\uFFFD\u00a0…&" + strings.Repeat("x", 5000) + "…\t<&#1;"}},
		"UTF-16 by name":     {file: strings.Replace(tmx("en", two), "UTF-8", "UTF-16", 1), want: []string{"A <dog>.\tEin Hund."}},
		"a long comment":     {file: strings.Replace(tmx("en", two), "<!DOCTYPE", "<!--"+strings.Repeat("x ", 9000)+"--><!DOCTYPE", 1), want: []string{"A <dog>.\tEin Hund."}},
		"in UTF-16":          {file: inUTF16(strings.Replace(tmx("en", two), "<!DOCTYPE", "<!--"+strings.Repeat("x ", 9000)+"--><!DOCTYPE", 1), binary.LittleEndian), want: []string{"A <dog>.\tEin Hund."}},
		"entity":             {file: strings.Replace(tmx("en", unit("en", "&b;", "de", "c")), `SYSTEM "tmx14.dtd"`, `[<!ENTITY a "aaa"><!ENTITY b "&a;&a;">]`, 1), err: ":5: invalid character entity &b;"},
		"other encoding":     {file: strings.Replace(tmx("en", two), "UTF-8", "Windows-1252", 1), err: ":1: xml: opening charset \"Windows-1252\": found the encoding windows-1252, expected UTF-8 or UTF-16"},
		"invalid UTF-8":      {file: tmx("en", unit("en", "\xFC", "de", "a")), err: ":5: invalid UTF-8"},
		"long segment":       {file: tmx("en", unit("en", strings.Repeat("a ", MaxLine/2)+"<ph/>"+strings.Repeat("b", 9), "de", "c")), err: "longer than"},
		"odd UTF-16":         {file: inUTF16(tmx("en", two), binary.LittleEndian) + "x", err: "found an odd number of bytes in UTF-16"},
	} {
		path, oneSided := write(t, "m.tmx", c.file), -1
		var got []string
		var err error
		for p, e := range (Files{Source: path, SrcLang: c.from, TgtLang: c.to, Likely: c.likely, OneSided: &oneSided}).Pairs() {
			if err = e; err == nil {
				got = append(got, p.Source+"\t"+p.Target)
				if p.Line != len(got) {
					t.Errorf("%s: line %d, want %d", name, p.Line, len(got))
				}
			}
		}
		if c.err != "" {
			if err == nil || !strings.HasPrefix(err.Error(), path+":") || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: error %v, want %s", name, err, c.err)
			}
			continue
		}
		if err != nil || !slices.Equal(got, c.want) || oneSided != c.oneSided {
			t.Errorf("%s: %.100q, %d units with one side, error %v, want %.100q, %d", name, got, oneSided, err, c.want, c.oneSided)
		}
	}
}

// A file of any size, also of one that never ends a segment, a comment or its nested elements, is
// read in level memory.
func TestTMXMemory(t *testing.T) {
	head, _, _ := strings.Cut(tmx("en", ""), "</body>")
	repeat := func(s string) io.Reader {
		list := []io.Reader{strings.NewReader(head)}
		for range 16 << 20 / len(s) {
			list = append(list, strings.NewReader(s))
		}
		return io.MultiReader(list...)
	}
	long := strings.Repeat("x", 1<<16)
	for name, in := range map[string]io.Reader{
		"units": repeat(strings.Repeat(unit("en", "a b", "de", "c d"), 1000)), "text": repeat(long), "segment": io.MultiReader(strings.NewReader(head+"<tu><tuv xml:lang='en'><seg>"), repeat("<ph/>"+long)),
		"comment": io.MultiReader(strings.NewReader(head+"<!--"), repeat(long)), "elements": io.MultiReader(strings.NewReader(head), repeat(strings.Repeat("<a>", 1<<14))),
	} {
		r, err := newLineReader(in, name)
		if err != nil {
			t.Fatal(err)
		}
		r.readTMX(Files{Source: name})
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		for err == nil {
			_, err = r.next()
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); r.tmx == nil || grown > 4<<20 {
			t.Errorf("%s: %d bytes more after %v", name, grown, err)
		}
		runtime.KeepAlive(r)
	}
}

func FuzzTMX(f *testing.F) {
	f.Add([]byte(tmx("en", unit("en", "a <ph>b</ph>", "de", "c"))))
	f.Add([]byte(inUTF16(tmx("*all*", unit("en", "a", "de", "😀")), binary.BigEndian)))
	f.Fuzz(func(t *testing.T, file []byte) {
		r, err := newLineReader(bytes.NewReader(file), "f")
		if err != nil {
			return
		}
		for r.readTMX(Files{Source: "f"}); err == nil; {
			var line []byte
			if line, err = r.next(); err == nil && r.tmx != nil && (bytes.Count(line, []byte("\t")) != 1 || bytes.ContainsAny(line, "\r\n") || len(bytes.TrimSpace(line)) < 3) {
				t.Errorf("line %q of %q", line, file)
			}
		}
	})
}
