package document

import (
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"
)

// translateEPUB translates the pages of an e-book (EPUB 2 and 3), its title and description, and
// the table of contents.
func translateEPUB(d *document) error {
	a, err := openArchive(d)
	if err != nil {
		return err
	}
	checkEncryption(a)
	formats := map[string]func(*document) error{}
	packages := a.attributes("META-INF/container.xml", "container:rootfile", "full-path")
	for _, p := range packages {
		name := p[0]
		formats[name] = textFile(translateNamed("dc:title", "dc:description"))
		for _, item := range a.attributes(name, "opf:item", "href", "media-type") {
			href, err := url.PathUnescape(item[0])
			if err != nil {
				href = item[0]
			}
			switch part := path.Join(path.Dir(name), href); item[1] {
			case "application/xhtml+xml":
				formats[part] = translateXHTML
			case "application/x-dtbncx+xml":
				formats[part] = textFile(translateNamed("ncx:text"))
			}
		}
	}
	if len(packages) == 0 && a.err == nil {
		return fmt.Errorf("%s: META-INF/container.xml names no package", d.name)
	}
	return a.translate(func(part string) func(*document) error { return formats[part] })
}

// checkEncryption sets an error if parts are encrypted other than fonts, whose obfuscation is no
// encryption.
func checkEncryption(a *archive) {
	for _, m := range a.attributes("META-INF/encryption.xml", "enc:EncryptionMethod", "Algorithm") {
		if m[0] != "http://www.idpf.org/2008/embedding" && m[0] != "http://ns.adobe.com/pdf/enc#RC" {
			a.err = fmt.Errorf("%s: protected by digital rights management (%.80s)", a.name, m[0])
			return
		}
	}
}

// translateNamed returns a function that translates the text of elements with one of names, and
// sets the language.
func translateNamed(names ...string) func(*editor) {
	return func(e *editor) {
		is := func(n *node) bool {
			return n.name == "dc:language" && e.To != "" || slices.Contains(names, n.name)
		}
		e.nodes(is, func(n *node) {
			switch p := new(paragraph); {
			case n.name == "dc:language":
				e.setLanguage(n)
			case !strings.Contains(n.content(), "</"): // others are escaped HTML
				p.edit(e, n, p.leaf(e, n))
			}
		})
	}
}

// isEPUB reports whether a file begins as an e-book.
func isEPUB(head string) bool { return hasMimetype(head, "application/epub+zip") }
