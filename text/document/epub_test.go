package document

import (
	"strings"
	"testing"
)

// epub returns a book with a page.
func epub(t testing.TB, page string, more ...string) string {
	t.Helper()
	return zipOf(t, append([]string{"mimetype", "application/epub+zip",
		"META-INF/container.xml", `<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="OPS/a.opf"/></rootfiles></container>`,
		"OPS/a.opf", `<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>A title</dc:title><dc:language>en</dc:language>` +
			`<dc:description>&lt;p&gt;HTML&lt;/p&gt;</dc:description><dc:creator>me</dc:creator><manifest><item href="page%201.xhtml" media-type="application/xhtml+xml"/>` +
			`<item href="toc.ncx" media-type="application/x-dtbncx+xml"/><item href="a.css" media-type="text/css"/></manifest></package>`,
		"OPS/page 1.xhtml", `<html xmlns="http://www.w3.org/1999/xhtml" lang="en"><body><p>` + page + `</p></body></html>`,
		"OPS/toc.ncx", `<!DOCTYPE ncx><ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navLabel><text>Chapter</text></navLabel></ncx>`,
		"OPS/a.css", "p {}"}, more...)...)
}

func TestEPUB(t *testing.T) {
	src := epub(t, "A <b>bold</b> word.")
	checkDocument(t, "a.epub", src, "A title", "A bold word. [bold]", "Chapter")
	got, _, err := translateString("a", src, Options{To: "de"}, upper)
	if err != nil {
		t.Fatal(err)
	}
	parts, _ := partsOf(t, got)
	for part, want := range map[string]string{
		"OPS/a.opf": "<dc:title>A TITLE</dc:title><dc:language>de</dc:language>", "OPS/page 1.xhtml": `lang="de"><body><p>A <b>BOLD</b> WORD.</p>`, "OPS/toc.ncx": "<text>CHAPTER</text>",
	} {
		if !strings.Contains(parts[part], want) {
			t.Errorf("%s: got %s, want %s", part, parts[part], want)
		}
	}
	checkDocument(t, "a.epub", epub(t, `If <m:math xmlns:m="http://www.w3.org/1998/Math/MathML"><m:mi>yes</m:mi></m:math> so`), "A title", "If yes so [yes]!", "Chapter")
	checkDocument(t, "a.epub", epub(t, `One <ruby>base<rp>(</rp><rt>reading</rt><rp>)</rp></ruby> only`), "A title", "One base only [base] [] [] []", "Chapter")
	fails(t, "a.epub", epub(t, "<p>"), "a.epub: OPS/page 1.xhtml: line 1: ")
	fails(t, "a.epub", zipOf(t, "mimetype", "application/epub+zip"), "a.epub: META-INF/container.xml names no package")

	const encryption = `<encryption xmlns:enc="http://www.w3.org/2001/04/xmlenc#"><enc:EncryptedData><enc:EncryptionMethod Algorithm="ALGORITHM"/></enc:EncryptedData></encryption>`
	checkDocument(t, "a.epub", epub(t, "A word.", "META-INF/encryption.xml", strings.Replace(encryption, "ALGORITHM", "http://www.idpf.org/2008/embedding", 1)))
	fails(t, "a.epub", epub(t, "A word.", "META-INF/encryption.xml", encryption), "a.epub: protected by digital rights management (ALGORITHM)")
}
