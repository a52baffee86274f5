package document

import (
	"strings"
	"testing"
)

const odfSpaces = `xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" ` +
	`xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0" xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0" ` +
	`xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0" ` +
	`xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" ` +
	`xmlns:officeooo="http://openoffice.org/2009/office"`

const odfStyles = `<style:style style:name="R1" style:family="text"><style:text-properties officeooo:rsid="1"/></style:style>` +
	`<style:style style:name="B1" style:family="text"><style:text-properties fo:font-weight="bold" officeooo:rsid="1"/></style:style>` +
	`<style:style style:name="B2" style:family="text"><style:text-properties officeooo:rsid="2" fo:font-weight="bold"/></style:style>`

// odt returns a text with a body.
func odt(t testing.TB, body string) string {
	t.Helper()
	return zipOf(t, "mimetype", "application/vnd.oasis.opendocument.text", "content.xml", `<office:document-content `+odfSpaces+`>`+odfStyles+body+`</office:document-content>`)
}

func TestODF(t *testing.T) {
	span := func(style, text string) string {
		return `<text:span text:style-name="` + style + `">` + text + `</text:span>`
	}
	for _, c := range []struct {
		content string
		want    []string
	}{
		{"  One\n\t text &amp;<text:s text:c=\"2\"/>more. ", []string{"One text &  more."}},
		{"A " + span("B1", "bold") + " word.", []string{"A bold word. [bold]"}},
		{"Typed " + span("R1", "in ") + span("B1", "two") + span("B2", "s") + span("R1", "essions"), []string{"Typed in twosessions [twos]"}},
		{"A " + span("Emphasis", "very "+span("B1", "bold")) + " word.", []string{"A very bold word. [very] [bold]"}},
		{"Name<text:tab/>Value<text:line-break/>Next", []string{"Name", "Value", "Next"}},
		{`A note<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>is below</text:p></text:note-body></text:note> here`,
			[]string{"is below", "A note here []"}},
		{`A <text:a xlink:href="x">link</text:a>.`, []string{"A link. [link]"}},
		{`Page <text:page-number>iv</text:page-number> of <text:page-count/>it`, []string{"Page iv of it [iv]! []"}},
		{`A <text:bookmark-start text:name="a"/>marked<text:soft-page-break/><text:bookmark-end text:name="a"/> word`, []string{"A marked word [marked]"}},
		{`See <office:annotation office:name="1"><dc:creator>me</dc:creator><text:p>A comment</text:p></office:annotation>this<office:annotation-end office:name="1"/> word`,
			[]string{"A comment", "See this word [this]"}},
		{`<text:ruby><text:ruby-base>漢字</text:ruby-base><text:ruby-text>reading</text:ruby-text></text:ruby>です`, []string{"漢字です"}},
		{`<draw:frame><draw:text-box><text:p>In a box</text:p></draw:text-box><svg:desc>A picture</svg:desc></draw:frame>beside`, []string{"In a box", "A picture", "beside"}},
		{"1,234.50", nil},
	} {
		checkDocument(t, "a.odt", odt(t, "<text:p>"+c.content+"</text:p>"), append([]string{}, c.want...)...)
	}
	checkDocument(t, "a.odt", odt(t, `<style:style style:family="text"><!-- a comment --><?x y?><style:text-properties/></style:style><text:p>A text</text:p>`), "A text")
	checkDocument(t, "a.odt", odt(t, "<text:tracked-changes><text:p>deleted</text:p></text:tracked-changes><text:h>A heading</text:h>"), "A heading")
	checkDocument(t, "a.ods", odt(t, `<table:table-cell office:value-type="string"><text:p>A cell</text:p></table:table-cell>`+
		`<table:table-cell office:value-type="date"><text:p>May 1</text:p></table:table-cell><table:table-cell table:formula="of:=A"><text:p>result</text:p></table:table-cell>`), "A cell")
}

// Equal automatic styles become one, spaces have elements, and the language is set.
func TestODFResult(t *testing.T) {
	src := odt(t, `<style:default-style><style:text-properties fo:language="en" fo:country="US" style:language-asian="zh"/></style:default-style>`+
		`<text:p>A<text:s/> <text:span text:style-name="B1">bo</text:span><text:span text:style-name="B2">ld</text:span> word</text:p><dc:title>a</dc:title><dc:language>en</dc:language><dc:language/>`)
	got, _, err := translateString("a.odt", src, Options{To: "de"}, upper)
	if err != nil {
		t.Fatal(err)
	}
	parts, _ := partsOf(t, got)
	if want := `<style:text-properties fo:language="de" fo:country="none" style:language-asian="zh"/></style:default-style>` +
		`<text:p>A <text:s/><text:span text:style-name="B1">BOLD</text:span> WORD</text:p><dc:title>A</dc:title><dc:language>de</dc:language><dc:language/></office`; !strings.Contains(parts["content.xml"], want) {
		t.Errorf("got %s, want %s", parts["content.xml"], want)
	}
	fails(t, "a.odt", zipOf(t, "META-INF/manifest.xml", "<manifest:encryption-data/>"), "a.odt: protected by a password")
}

func FuzzODF(f *testing.F) {
	f.Add(`<text:p>A <text:span text:style-name="B1">word<text:s text:c="3"/></text:span><text:tab/><text:note><text:p>x</text:p></text:note></text:p>`)
	f.Add(`<text:h><text:bookmark-start text:name="a"/>b<text:a>c</text:a><text:bookmark-end text:name="a"/><text:page-number>1</text:page-number></text:h>`)
	f.Fuzz(func(t *testing.T, body string) {
		checkFuzz(t, "<office:document "+odfSpaces+">"+odfStyles+body+"</office:document>", translateODFXML)
	})
}
