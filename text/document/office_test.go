package document

import (
	"fmt"
	"html"
	"io"
	"math/rand/v2"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"tfm/text"
	"tfm/text/markup"
)

// r returns a run with properties, which may be "".
func r(properties, text string) string {
	if properties != "" {
		properties = "<w:rPr>" + properties + "</w:rPr>"
	}
	return `<w:r>` + properties + `<w:t xml:space="preserve">` + text + `</w:t></w:r>`
}

const (
	fieldBegin    = `<w:r><w:fldChar w:fldCharType="begin"/></w:r>`
	fieldSeparate = `<w:r><w:fldChar w:fldCharType="separate"/></w:r>`
	fieldEnd      = `<w:r><w:fldChar w:fldCharType="end"/></w:r>`
)

func instruction(s string) string {
	return "<w:r><w:instrText>" + s + "</w:instrText></w:r>"
}

func TestWord(t *testing.T) {
	for _, c := range []struct {
		paragraph string
		want      []string // texts, each with those of its spans
	}{
		{r("", "One ") + r("", "text &amp; more."), []string{"One text & more."}},
		{r("", "A ") + r("<w:b/>", "bold") + r("", " word."), []string{"A bold word. [bold]"}},
		{r("<w:b/>", "All of it "+"is bold") + r("", "."), []string{"All of it is bold. [.]"}},
		{r(`<w:lang w:val="en-GB"/>`, "No ") + `<w:proofErr w:type="spellStart"/>` + r("", "difference"), []string{"No difference"}},
		{r("", "A very ") + r("<w:b/>", "bold") + r("<w:i/>", " ") + r("<w:b/>", "gap") + r("", " here."), []string{"A very bold gap here. [bold gap]"}},
		{"<w:r><w:t> trimmed\ntext </w:t></w:r>", []string{"trimmed text"}},
		{`<w:r><w:t>Name</w:t><w:tab/><w:t>Value</w:t><w:br/><w:t>E</w:t><w:noBreakHyphen/><w:t>mail</w:t><w:softHyphen/><w:t>box</w:t></w:r>`,
			[]string{"Name", "Value", "E\u2011mailbox"}},
		{`<w:r><w:t>A title over</w:t><w:br/><w:t>two lines</w:t></w:r>`, []string{"A title over two lines []"}},
		{r("", "A note") + `<w:r><w:footnoteReference w:id="1"/></w:r>` + r("", " here"), []string{"A note here []"}},
		{r("", "A ") + `<w:hyperlink r:id="a">` + r("<w:u/>", "link") + "</w:hyperlink>" + r("", "."), []string{"A link. [link]"}},
		{`<w:hyperlink>` + r("", "Heading") + "<w:r><w:tab/></w:r>" + r("", "12") + "</w:hyperlink>", []string{"Heading"}},
		{r("", "Old ") + `<w:del w:id="1"><w:r><w:delText>gone</w:delText></w:r></w:del><w:ins w:id="2">` + r("", "new") + "</w:ins>" + r("", " text"),
			[]string{"Old new text [] [new]"}},
		{r("", "See ") + fieldBegin + instruction(" REF a ") + fieldSeparate + r("", "Chapter One") + fieldEnd + r("", " now"), []string{"See Chapter One now [Chapter One]"}},
		{r("", "Page ") + fieldBegin + instruction("PAGE") + fieldSeparate + r("", "iv") + fieldEnd + r("", " of it"), []string{"Page iv of it [iv]!"}},
		{r("", "Page ") + `<w:fldSimple w:instr="PAGE">` + r("", "iv") + "</w:fldSimple>" + r("", " of it"), []string{"Page iv of it [iv]!"}},
		// The bookmark of a form field begins in its instruction and ends after it.
		{r("", "Agree ") + fieldBegin + `<w:bookmarkStart w:id="0"/>` + instruction("FORMTEXT") + fieldSeparate + r("", "to it") + fieldEnd + `<w:bookmarkEnd w:id="0"/>` + r("", " or"),
			[]string{"Agree to it or [to it] [to it]"}},
		// This field ends in another paragraph.
		{fieldBegin + instruction("TOC") + fieldSeparate + r("", "Title"), []string{"Title"}},
		{r("", "Sign ") + r("<w:u/>", "        ") + r("", "here"), []string{"Sign", "here"}},
		{r("", "A ") + `<w:sdt><w:sdtPr><w:dropDownList/></w:sdtPr><w:sdtContent>` + r("", "choice") + "</w:sdtContent></w:sdt>" + r("", " of"), []string{"A choice of [choice]!"}},
		{r("", "漢") + `<w:r><w:ruby><w:rt>` + r("", "reading") + `</w:rt><w:rubyBase>` + r("", "字") + `</w:rubyBase></w:ruby></w:r>`, []string{"漢字"}},
		{r("", "A ") + "<w:r><w:drawing><x:docPr descr='A &quot;cat&quot;' id='1' title=''/><w:txbxContent><w:p>" + r("", "In a box") + "</w:p></w:txbxContent></w:drawing></w:r>" + r("", "cat"),
			[]string{`A "cat"`, "In a box", "A cat []"}},
		{r("", "x is 1,234") + "<m:oMath>" + r("", "not text") + "</m:oMath>", []string{"x is 1,234"}},
		{r("", "1,234.50"), nil},
		{r("", "One&#13;two"), []string{"One\rtwo"}},
	} {
		texts := append([]string{}, c.want...)
		checkDocument(t, "a.docx", docx(t, "<w:p><w:pPr/>"+c.paragraph+"</w:p>"), texts...)
	}
}

// A document that names namespaces in its own way, as some libraries do.
func TestNamespaces(t *testing.T) {
	src := zipOf(t, "word/document.xml", `<document xmlns="http://purl.oclc.org/ooxml/wordprocessingml/main"><body><p><r><t>A </t></r><n:r xmlns:n="`+
		`http://purl.oclc.org/ooxml/wordprocessingml/main"><n:rPr><n:b/></n:rPr><n:t>word</n:t></n:r></p></body></document>`)
	checkDocument(t, "a.docx", src, "Aword [A]")
	got, _, err := translateString("a.docx", src, Options{}, upper)
	if err != nil {
		t.Fatal(err)
	}
	parts, _ := partsOf(t, got)
	if want := `<p><r><t xml:space="preserve">A</t></r><n:r xmlns:n="http://purl.oclc.org/ooxml/wordprocessingml/main"><n:rPr><n:b/></n:rPr>` +
		`<n:t xml:space="preserve">WORD</n:t></n:r></p>`; !strings.Contains(parts["word/document.xml"], want) {
		t.Errorf("got %s, want %s", parts["word/document.xml"], want)
	}
}

// Languages of styles and runs become that of the translation.
func TestOfficeLanguage(t *testing.T) {
	src := zipOf(t, "word/styles.xml", `<w:styles `+word+`><w:lang w:val="en-US" w:bidi="ar-SA"/></w:styles>`,
		"docProps/core.xml", `<c xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>A title</dc:title><dc:language>en</dc:language></c>`,
		"ppt/slides/slide1.xml", `<a:p xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><a:r><a:rPr lang="en" b="1" dirty="0"/><a:t>A </a:t></a:r>`+
			`<a:r><a:rPr lang="en-GB" b="1" err="1"/><a:t>word</a:t></a:r><a:endParaRPr/></a:p>`)
	for to, lang := range map[string]string{"de": `<w:lang w:val="de" w:bidi="ar-SA"/>`, "he": `<w:lang w:val="en-US" w:bidi="he"/>`, "zh-TW": `<w:lang w:eastAsia="zh-TW" w:val="en-US" w:bidi="ar-SA"/>`} {
		got, _, err := translateString("a.docx", src, Options{To: to}, upper)
		if err != nil {
			t.Fatal(err)
		}
		parts, _ := partsOf(t, got)
		for part, want := range map[string]string{
			"word/styles.xml": lang, "docProps/core.xml": "<dc:title>A TITLE</dc:title><dc:language>" + to + "</dc:language>",
			"ppt/slides/slide1.xml": `<a:r><a:rPr lang="` + to + `" b="1"/><a:t>A WORD</a:t></a:r><a:endParaRPr/></a:p>`,
		} {
			if !strings.Contains(parts[part], want) {
				t.Errorf("to %s: found %s in %s, want %s", to, parts[part], part, want)
			}
		}
	}
}

// Words in the numbers of lists are texts, but not bullets.
func TestNumbering(t *testing.T) {
	checkDocument(t, "a.docx", zipOf(t, "word/numbering.xml", "<w:numbering "+word+`><w:lvlText w:val="Chapter %1.%2:"/><w:lvlText w:val="o"/><w:lvlText w:val="%1.a"/></w:numbering>`),
		"Chapter %1.%2: [%1]! [%2]!")
}

func TestDrawing(t *testing.T) {
	const a = `xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart"`
	checkDocument(t, "a.pptx", zipOf(t, "ppt/slides/slide1.xml", `<p:sld `+a+`><p:cNvPr id="1" descr="A picture"/><a:p><a:pPr/><a:r><a:t>Slide </a:t></a:r>`+
		`<a:fld type="slidenum"><a:rPr/><a:t>No. 1</a:t></a:fld><a:r><a:rPr><a:hlinkClick/></a:rPr><a:t> linked</a:t></a:r><a:br/><a:r><a:t>End</a:t></a:r><a:endParaRPr/></a:p></p:sld>`,
		"ppt/charts/chart1.xml", `<c:chart `+a+`><c:strCache><c:ptCount val="1"/><c:pt idx="0"><c:v>A series</c:v></c:pt></c:strCache><c:numCache><c:pt><c:v>a1</c:v></c:pt></c:numCache></c:chart>`),
		"A picture", "Slide No. 1 linked [Slide] [No. 1]!", "End", "A series")
}

// Strings of sheets are texts, but not those that formulas name.
func TestSpreadsheet(t *testing.T) {
	const x = `xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"`
	checkDocument(t, "a.xlsx", zipOf(t, "xl/worksheets/sheet1.xml", `<worksheet `+x+`><c t="inlineStr"><is><t>In a cell</t></is></c><c t="str"><f>"a"</f><v>a formula</v></c></worksheet>`,
		"xl/tables/table1.xml", `<table `+x+`><tableColumn id="1" name="The_x000a_name"/></table>`,
		"xl/comments1.xml", `<comments `+x+`><author>me</author><comment><text><r><t>A comment</t></r></text></comment></comments>`,
		"xl/sharedStrings.xml", `<sst `+x+`><si><t>The_x000A_name</t></si><si><t>One_x000D_
two</t><phoneticPr/></si><si><r><t xml:space="preserve">A </t></r><r><rPr><b/></rPr><t>bold</t></r><r><t xml:space="preserve"> word</t></r><rPh sb="0" eb="1"><t>reading</t></rPh></si><si><t>_x005F_x0041_ is literal</t></si></sst>`),
		"In a cell", "A comment", "One\r\ntwo", "A bold word [bold]", "_x0041_ is literal")
}

// generator writes random paragraphs.
type generator struct {
	*rand.Rand
	id int
}

func (g *generator) next() int { g.id++; return g.id }

func (g *generator) word() string {
	return []string{"one", "two ", " three", "four &amp; five", " ", "   ", "6", ""}[g.IntN(8)]
}

// content returns random content of a paragraph. IDs of bookmarks that have begun are in open.
func (g *generator) content(depth int, open *[]int) string {
	s := ""
	for range g.IntN(8) {
		switch k := g.IntN(20); {
		case k < 8 || depth == 0:
			s += r([]string{"", "", "<w:b/>", "<w:i/>"}[g.IntN(4)], g.word())
		case k == 8:
			s += fmt.Sprintf(`<w:r><w:rPr><w:b/></w:rPr><w:tab w:n="%d"/><w:footnoteReference w:id="%d"/></w:r>`, g.next(), g.next())
		case k == 9:
			s += fmt.Sprintf(`<w:r><w:commentReference w:id="%d"/><w:t>x</w:t></w:r>`, g.next())
		case k == 10:
			s += fmt.Sprintf(`<w:hyperlink w:n="%d">`, g.next()) + g.content(depth-1, open) + "</w:hyperlink>"
		case k == 11:
			s += fmt.Sprintf(`<w:sdt w:n="%d"><w:sdtPr w:n="%d"/><w:sdtContent>`, g.next(), g.next()) + g.content(depth-1, open) + "</w:sdtContent></w:sdt>"
		case k == 12:
			s += fmt.Sprintf(`<w:del w:n="%d"/><w:ins w:n="%d">`, g.next(), g.next()) + g.content(depth-1, open) + "</w:ins>"
		case k == 13:
			s += fmt.Sprintf(`<w:r><w:pict w:n="%d"><w:p w:n="%d">`, g.next(), g.next()) + g.content(depth-1, open) + "</w:p></w:pict></w:r>"
		case k == 14:
			*open = append(*open, g.next())
			s += fmt.Sprintf(`<w:bookmarkStart w:id="%d"/>`, g.id)
		case k == 15 && len(*open) > 0:
			i := g.IntN(len(*open))
			s += fmt.Sprintf(`<w:bookmarkEnd w:id="%d"/>`, (*open)[i])
			*open = slices.Delete(*open, i, i+1)
		default:
			kind := []string{"begin", "separate", "end"}[g.IntN(3)]
			s += fmt.Sprintf(`<w:r><w:fldChar w:fldCharType="%s" w:n="%d"/></w:r>`, kind, g.next())
			if kind == "begin" {
				s += instruction([]string{"REF", "PAGE"}[g.IntN(2)])
			}
		}
	}
	return s
}

var (
	ownTag  = regexp.MustCompile(`<w:[^<>]* w:(?:id|n)="\d+"/?>`) // each is different
	allText = regexp.MustCompile(`<w:t(?: [^>]*)?>([^<]*)`)
)

// ownTags returns the tags of s that are different, sorted.
func ownTags(s string) []string {
	tags := ownTag.FindAllString(s, -1)
	slices.Sort(tags)
	return tags
}

// characters returns those of all text in s that are not white space, sorted.
func characters(s string) (sorted []string) {
	for _, m := range allText.FindAllStringSubmatch(s, -1) {
		sorted = append(sorted, strings.Split(strings.ReplaceAll(html.UnescapeString(m[1]), " ", ""), "")...)
	}
	slices.Sort(sorted)
	return sorted
}

// mirror reverses the bytes of a text in ASCII and the order of its spans. Kept text remains.
func mirror(t markup.Text) markup.Text {
	n := len(t.Plain)
	b := []byte(t.Plain)
	slices.Reverse(b)
	m := markup.Text{}
	for _, s := range t.Spans {
		if s.Keep {
			copy(b[n-s.End:], t.Plain[s.Start:s.End])
		}
		s.Range = text.Range{Start: n - s.End, End: n - s.Start}
		m.Spans = append(m.Spans, s)
	}
	m.Plain = string(b)
	order := map[int]int{}
	for i, s := range t.Spans {
		order[s.ID] = i
	}
	slices.SortStableFunc(m.Spans, func(a, b markup.Span) int {
		if a.Start != b.Start {
			return a.Start - b.Start
		}
		if a.End != b.End {
			return b.End - a.End
		}
		return order[a.ID] - order[b.ID]
	})
	return m
}

// Random paragraphs keep each element and character once, in well-formed XML, wherever a
// translation has its spans.
func TestRandomParagraphs(t *testing.T) {
	g := &generator{rand.New(rand.NewPCG(1, 2)), 0}
	for range 500 {
		var open []int
		body := "<w:p>" + g.content(3, &open) + "</w:p>"
		src := docx(t, body)
		if same, _, err := translateString("a.docx", src, Options{}, nil); err != nil || same != src {
			t.Fatalf("identity changes %s, error %v", body, err)
		}
		got, _, err := translateString("a.docx", src, Options{}, mirror)
		if err != nil {
			t.Fatalf("%v in %s", err, body)
		}
		parts, _ := partsOf(t, got)
		result := parts["word/document.xml"]
		if _, _, err := translateString("a.docx", got, Options{}, nil); err != nil {
			t.Fatalf("%v in %s", err, result)
		}
		for _, f := range []func(string) []string{ownTags, characters} {
			if got, want := f(result), f(body); !slices.Equal(got, want) {
				t.Fatalf("found %q, want %q, of %s\nin %s", got, want, body, result)
			}
		}
	}
}

func FuzzOffice(f *testing.F) {
	g := &generator{rand.New(rand.NewPCG(3, 4)), 0}
	for range 20 {
		var open []int
		f.Add("<w:p>" + g.content(3, &open) + "</w:p>")
	}
	f.Fuzz(func(t *testing.T, body string) {
		checkFuzz(t, "<w:document "+word+">"+body+"</w:document>", func(e *editor) {
			p := &officePart{editor: e}
			e.nodes(p.isUnit, p.unit)
		})
	})
}

// checkFuzz tests that an identity translation does not change a part, and that a translation can
// be translated.
func checkFuzz(t *testing.T, src string, translate func(*editor)) {
	run := func(src string, change func(markup.Text) markup.Text) (string, error) {
		var b strings.Builder
		f := func(texts []markup.Text) ([]markup.Text, error) {
			for i := range texts {
				texts[i] = change(texts[i])
			}
			return texts, nil
		}
		err := textFile(translate)(&document{name: "a.xml", in: strings.NewReader(src), size: int64(len(src)), w: &b, Options: Options{To: "de"}, f: f})
		return b.String(), err
	}
	same, err := run(src, func(t markup.Text) markup.Text { return t })
	if err != nil {
		return
	}
	if !strings.Contains(src, "lang") && same != src {
		t.Error("identity changes the document")
	}
	got, err := run(src, upper)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run(got, upper); err != nil {
		t.Fatal(err)
	}
}

// A document of 300 pages with 500 words each, in an average of 5 runs a paragraph.
func BenchmarkWord(b *testing.B) {
	paragraph := "<w:p>"
	for i := range 5 {
		paragraph += r([]string{"", "<w:b/>"}[i%2], strings.Repeat("some words of text ", 4))
	}
	src := docx(b, strings.Repeat(paragraph+"</w:p>", 300*500/80))
	parts, _ := partsOf(b, src)
	b.SetBytes(int64(len(parts["word/document.xml"])))
	var m runtime.MemStats
	peak := uint64(0)
	for b.Loop() {
		err := Translate(io.Discard, "a.docx", strings.NewReader(src), int64(len(src)), Options{}, func(texts []markup.Text) ([]markup.Text, error) {
			runtime.ReadMemStats(&m)
			peak = max(peak, m.HeapAlloc)
			for i := range texts {
				texts[i] = upper(texts[i])
			}
			return texts, nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(peak)/1e6, "peak-MB")
}
