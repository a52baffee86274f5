package document

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"
)

// Limits of an archive.
const (
	maxParts = 20_000

	// A part that needs more than maxGrowth times its compressed size, and more than minPartBytes,
	// is refused. The largest growth found in a part of more than 1 MB is 79 times.
	maxGrowth    = 300
	minPartBytes = 8 << 20
)

// archive is a document that is a zip archive of parts.
type archive struct {
	*document
	*zip.Reader
	left uint64 // bytes that parts may still need
	err  error  // the first one, with which translate ends
}

// openArchive opens d. It refuses names that a folder cannot have, duplicate names and encrypted
// parts.
func openArchive(d *document) (*archive, error) {
	fail := func(format string, a ...any) (*archive, error) {
		return nil, fmt.Errorf("%s: %s", d.name, fmt.Sprintf(format, a...))
	}
	r, err := zip.NewReader(d.in, d.size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		begin := make([]byte, len(oleMagic))
		if d.in.ReadAt(begin, 0); string(begin) == oleMagic {
			return fail("a file of Office 97 to 2003, or protected by a password; save it as docx, pptx or xlsx, without a password")
		}
		return fail("truncated or not a zip archive, as office documents and e-books are")
	}
	if len(r.File) > maxParts {
		return fail("archive of %d parts, limit %d", len(r.File), maxParts)
	}
	seen := map[string]bool{}
	for _, f := range r.File {
		name := partName(f)
		switch {
		case !fs.ValidPath(strings.ToValidUTF8(strings.TrimSuffix(name, "/"), "_")):
			return fail("part %.80q, expected a path in the archive", f.Name)
		case seen[name]:
			return fail("part %.80q is there twice", f.Name)
		case f.Flags&1 != 0:
			return fail("part %.80q is encrypted; save the document without a password", f.Name)
		}
		seen[name] = true
	}
	return &archive{document: d, Reader: r, left: MaxBytes}, nil
}

// partName returns the name of a part with slashes. Some programs write backslashes.
func partName(f *zip.File) string { return strings.ReplaceAll(f.Name, `\`, "/") }

// read returns the content of a part. The reader compares it with its size and checksum.
func (a *archive) read(f *zip.File) ([]byte, error) {
	n := f.UncompressedSize64
	if n > a.left {
		return nil, fmt.Errorf("%s: part %.80q needs %d bytes, limit %d for all parts", a.name, f.Name, n, MaxBytes)
	}
	if n > minPartBytes && n/maxGrowth > f.CompressedSize64 {
		return nil, fmt.Errorf("%s: part %.80q grows from %d to %d bytes, limit %d times", a.name, f.Name, f.CompressedSize64, n, maxGrowth)
	}
	a.left -= n
	r, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("%s: part %.80q: %w", a.name, f.Name, err)
	}
	defer r.Close()
	b := bytes.NewBuffer(make([]byte, 0, n+bytes.MinRead))
	if _, err := b.ReadFrom(r); err != nil {
		return nil, fmt.Errorf("%s: part %.80q: %w", a.name, f.Name, err)
	}
	return b.Bytes(), nil
}

// part returns the content of the part with a name, or nil if there is no such part or an error.
func (a *archive) part(name string) (content []byte) {
	for _, f := range a.File {
		if partName(f) == name && a.err == nil {
			content, a.err = a.read(f)
			break
		}
	}
	return content
}

// attributes returns the values of attributes of each element with a name in a part, none if the
// archive has no such part.
func (a *archive) attributes(part, element string, names ...string) (values [][]string) {
	content := a.part(part)
	if content == nil {
		return nil
	}
	is := func(n *node) bool {
		if n.name == element {
			var v []string
			for _, name := range names {
				v = append(v, n.attr(name))
			}
			values = append(values, v)
		}
		return false
	}
	read := textFile(func(e *editor) { e.nodes(is, nil) })
	a.err = read(a.asDocument(part, content, io.Discard))
	return values
}

// asDocument returns a part as a document of its own, which is written to w.
func (a *archive) asDocument(part string, content []byte, w io.Writer) *document {
	d := *a.document
	d.name, d.in, d.size, d.w = a.name+": "+part, bytes.NewReader(content), int64(len(content)), w
	return &d
}

// translate writes the archive. formatOf returns the translate function of a part, nil to copy it.
// Parts that do not change are copied in their compressed form, in the same order, and an archive
// without changes byte for byte.
func (a *archive) translate(formatOf func(part string) func(*document) error) error {
	if a.err != nil {
		return a.err
	}
	changed := map[*zip.File][]byte{}
	for _, f := range a.File {
		content, err := a.translatePart(f, formatOf(partName(f)))
		if err != nil {
			return err
		}
		if content != nil {
			changed[f] = content
		}
	}
	if len(changed) == 0 {
		_, err := io.Copy(a.w, io.NewSectionReader(a.in, 0, a.size))
		return err
	}
	z := zip.NewWriter(a.w)
	for _, f := range a.File {
		var err error
		if content, ok := changed[f]; ok {
			err = writePart(z, f.FileHeader, content)
		} else {
			err = copyPart(z, f)
		}
		if err != nil {
			return fmt.Errorf("%s: part %.80q: %w", a.name, f.Name, err)
		}
	}
	if err := z.SetComment(a.Comment); err != nil {
		return err
	}
	return z.Close()
}

// translatePart returns the translation of a part, or nil if it is equal to the part.
func (a *archive) translatePart(f *zip.File, translate func(*document) error) ([]byte, error) {
	if translate == nil {
		return nil, nil
	}
	content, err := a.read(f)
	if err != nil {
		return nil, err
	}
	var w bytes.Buffer
	err = translate(a.asDocument(f.Name, content, &w))
	if err != nil || bytes.Equal(w.Bytes(), content) {
		return nil, err
	}
	return w.Bytes(), nil
}

// copyPart adds a part in its compressed form. A folder has no content, though some programs
// compress it.
func copyPart(z *zip.Writer, f *zip.File) error {
	if strings.HasSuffix(f.Name, "/") {
		return writePart(z, f.FileHeader, nil)
	}
	return z.Copy(f)
}

// writePart adds a part with the header of another, except for sizes, checksum and extra fields.
func writePart(z *zip.Writer, h zip.FileHeader, content []byte) error {
	h.Extra = nil
	h.Modified = time.Time{} // the fields of MS-DOS remain
	w, err := z.CreateHeader(&h)
	if err != nil {
		return err
	}
	_, err = w.Write(content)
	return err
}

// oleMagic begins files of the format of Office 97 to 2003, which also holds encrypted documents of
// later versions.
const oleMagic = "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"

// zipMagic begins the first part of a zip archive.
const zipMagic = "PK\x03\x04"

// hasMimetype reports whether an archive begins with a part mimetype that begins with a type, as
// OpenDocument and EPUB have.
func hasMimetype(head, mimetype string) bool {
	const name = "mimetype"
	return len(head) > 38 && strings.HasPrefix(head, zipMagic) && head[30:38] == name && strings.HasPrefix(strings.TrimPrefix(head[30:], name), mimetype)
}
