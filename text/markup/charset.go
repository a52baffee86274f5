package markup

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"tfm/text/charset"
)

// charset sets how the bytes of the document stand for characters: in UTF-8, or in a page of
// Windows, as in HTML that is not valid UTF-8. The error names another encoding.
func (b *builder) charset() error {
	if charset.UTF16(b.src) != nil {
		return fmt.Errorf("found text in UTF-16, expected UTF-8")
	}
	name := charset.Declared(b.src)
	if name == "" && !b.escape.xml && !utf8.ValidString(b.src) {
		name = charset.Windows1252.Name
	}
	if strings.HasPrefix(b.src, charset.Mark) || name == "" || name == "utf-8" || name == "utf8" {
		return nil
	}
	b.escape.ascii = true
	b.page = charset.Named(name)
	if b.page == nil && strings.ContainsFunc(b.src, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return fmt.Errorf("found text in %s, expected UTF-8", name)
	}
	return nil
}

// utf8 returns bytes of the document as valid UTF-8.
func (b *builder) utf8(s string) string {
	if b.page != nil {
		s, _ = b.page.Decode(s)
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
