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
	if err := checkEncryption(a); err != nil {
		return err
	}
	formats := map[string]func(*document) error{}
	packages, err := a.attributes("META-INF/container.xml", "container:rootfile", "full-path")
	if err != nil {
		return err
	}
	for _, p := range packages {
		name := p[0]
		formats[name] = textFile(translateNamed("dc:title", "dc:description"))
		items, err := a.attributes(name, "opf:item", "href", "media-type")
		if err != nil {
			return err
		}
		for _, item := range items {
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
	if len(packages) == 0 {
		return fmt.Errorf("%s: META-INF/container.xml names no package", d.name)
	}
	return a.translate(func(part string) func(*document) error { return formats[part] })
}

// checkEncryption returns an error if parts are encrypted other than fonts, whose obfuscation is no
// encryption.
func checkEncryption(a *archive) error {
	methods, err := a.attributes("META-INF/encryption.xml", "enc:EncryptionMethod", "Algorithm")
	for _, m := range methods {
		if m[0] != "http://www.idpf.org/2008/embedding" && m[0] != "http://ns.adobe.com/pdf/enc#RC" {
			return fmt.Errorf("%s: protected by digital rights management (%.80s)", a.name, m[0])
		}
	}
	return err
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
			case !strings.Contains(n.content(), "</"): // escaped HTML
				p.edit(e, n, p.leaf(e, n))
			}
		})
	}
}

// isEPUB reports whether a file begins as an e-book.
func isEPUB(head string) bool { return hasMimetype(head, "application/epub+zip") }
