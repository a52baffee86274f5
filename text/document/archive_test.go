package document

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"tfm/text/markup"
)

// zipOf returns an archive of parts, given as name and content in turn. mimetype is stored.
func zipOf(t testing.TB, parts ...string) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(parts); i += 2 {
		h := &zip.FileHeader{Name: parts[i], Method: zip.Deflate}
		if parts[i] == "mimetype" {
			h.Method = zip.Store
		}
		w, err := z.CreateHeader(h)
		if err == nil {
			_, err = w.Write([]byte(parts[i+1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// partsOf returns the parts of an archive by name, and their names in order.
func partsOf(t testing.TB, archive string) (map[string]string, []string) {
	t.Helper()
	r, err := zip.NewReader(strings.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	parts, names := map[string]string{}, []string{}
	for _, f := range r.File {
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if _, err := b.ReadFrom(in); err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
		parts[f.Name], names = b.String(), append(names, f.Name)
	}
	return parts, names
}

const word = `xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"`

// docx returns a document with a body.
func docx(t testing.TB, body string) string {
	t.Helper()
	return zipOf(t, "[Content_Types].xml", "<Types/>", "word/document.xml", `<w:document `+word+`><w:body>`+body+`</w:body></w:document>`)
}

// Parts that do not change are copied as they are compressed, in the same order, and the
// translation of an archive is the same each time.
func TestArchiveCopies(t *testing.T) {
	picture := strings.Repeat("\xff\x00picture", 100)
	src := zipOf(t, "mimetype", "application/vnd.oasis.opendocument.text", "META-INF/", "", "Pictures/a.png", picture,
		"content.xml", `<text:p xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0">A word</text:p>`, "settings.xml", "<s>A word</s>")
	var results []string
	for range 2 {
		got, _, err := translateString("a.odt", src, Options{}, upper)
		if err != nil {
			t.Fatal(err)
		}
		results = append(results, got)
	}
	if results[0] != results[1] {
		t.Error("two translations of an archive differ")
	}
	got, names := partsOf(t, results[0])
	want, wantNames := partsOf(t, src)
	if strings.Join(names, " ") != strings.Join(wantNames, " ") {
		t.Errorf("parts %q, want %q", names, wantNames)
	}
	want["content.xml"] = strings.ReplaceAll(want["content.xml"], "A word", "A WORD")
	for _, name := range names {
		if got[name] != want[name] {
			t.Errorf("%s: got %q, want %q", name, got[name], want[name])
		}
	}
	r, err := zip.NewReader(strings.NewReader(results[0]), int64(len(results[0])))
	if err != nil || r.File[0].Method != zip.Store {
		t.Errorf("mimetype is not stored, error %v", err)
	}
}

func upper(t markup.Text) markup.Text {
	b := []byte(t.Plain)
	for i, c := range b {
		kept := false
		for _, s := range t.Spans {
			kept = kept || s.Keep && s.Start <= i && i < s.End
		}
		if c >= 'a' && c <= 'z' && !kept {
			b[i] = c - 'a' + 'A'
		}
	}
	return markup.Text{Plain: string(b), Spans: t.Spans}
}

// Archives that are no documents, or that would do harm, are errors of one line.
func TestHostileArchives(t *testing.T) {
	valid := docx(t, "<w:p><w:r><w:t>A word</w:t></w:r></w:p>")
	fails(t, "a.docx", valid[:len(valid)-30], "a.docx: truncated or not a zip archive")
	fails(t, "a.docx", "", "a.docx: truncated or not a zip archive")
	fails(t, "a.docx", strings.Replace(valid, "word/document.xml", "../x/document.xml", 2), `part "../x/document.xml", expected a path in the archive`)
	fails(t, "a.docx", zipOf(t, "/etc/a.xml", ""), `part "/etc/a.xml", expected a path`)
	fails(t, "a.docx", zipOf(t, `..\a.xml`, ""), "expected a path")
	fails(t, "a.docx", zipOf(t, "a.xml", "<a/>", "a.xml", "<a/>"), `part "a.xml" is there twice`)
	fails(t, "a.docx", zipOf(t, "a.xml", "<a/>", "b.xml", strings.Repeat(" ", minPartBytes+1)), `part "b.xml" grows from`)
	fails(t, "a.docx", docx(t, strings.Repeat("<w:tbl>", maxDepth)), "nested deeper than")
	fails(t, "a.docx", docx(t, "<w:p>"), "a.docx: word/document.xml:1: found the end of <w:body>")
	fails(t, "a.docx", docx(t, "&bomb;"), "invalid character entity &bomb;")

	fails(t, "a.docx", docx(t, "<w:p>"+strings.Repeat("<w:r/>", maxNodes+2)+"</w:p>"), "elements in a paragraph")
	spaces := ""
	for i := range maxNamespaces {
		spaces += fmt.Sprintf(` xmlns:n%d=""`, i)
	}
	fails(t, "a.docx", docx(t, "<w:p"+spaces+"></w:p>"), "a.docx: word/document.xml:1: more than 200 namespaces")

	many := make([]string, 2*(maxParts+1))
	for i := range maxParts + 1 {
		many[2*i] = strings.Repeat("a", 1+i%200) + strings.Repeat("/b", i/200)
	}
	fails(t, "a.docx", zipOf(t, many...), "archive of 20001 parts, limit 20000")

	xxe := `<!DOCTYPE w:p [<!ENTITY e SYSTEM "file:///etc/passwd"><!ENTITY l "&e;&e;&e;">]><w:p ` + word + `><w:r><w:t>A word &e;</w:t></w:r></w:p>`
	fails(t, "a.docx", zipOf(t, "word/document.xml", xxe), "invalid character entity &e;")

	// The flag of encryption is in the directory, 8 bytes after its magic.
	encrypted := []byte(valid)
	at := bytes.Index(encrypted, []byte("PK\x01\x02"))
	encrypted[at+8] |= 1
	fails(t, "a.docx", string(encrypted), `part "[Content_Types].xml" is encrypted`)

	// A size in the directory that the content does not have: 24 bytes after its magic.
	lying := []byte(valid)
	at = bytes.LastIndex(lying, []byte("PK\x01\x02"))
	binary.LittleEndian.PutUint32(lying[at+24:], 10)
	fails(t, "a.docx", string(lying), `part "word/document.xml": zip: `)
}

// Documents of Office 97, and encrypted ones of later versions, are named.
func TestOLE(t *testing.T) {
	fails(t, "a.docx", oleMagic+strings.Repeat("\x00", 1000), "a file of Office 97 to 2003, or protected by a password")
}

func FuzzArchive(f *testing.F) {
	f.Add(docx(f, "<w:p><w:r><w:t>A word</w:t></w:r></w:p>"))
	f.Add(epub(f, "A word"))
	f.Add(odt(f, "<text:p>A word</text:p>"))
	f.Fuzz(func(t *testing.T, src string) {
		for _, name := range []string{"a.docx", "a.odt", "a.epub"} {
			if got, _, err := translateString(name, src, Options{}, nil); err == nil && got != src {
				t.Errorf("identity changes %s", name)
			}
		}
	})
}
