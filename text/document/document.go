package document

import (
	"fmt"
	"io"

	"tfm/text/markup"
)

// Func translates a group of texts and returns their translations in the same order, each with the
// same spans: IDs once, sorted and well nested. Plain is not empty, has a letter, and begins and
// ends without white space. It may have line breaks, which the translation need not keep.
type Func func([]markup.Text) ([]markup.Text, error)

// Options are the options of Translate.
type Options struct {
	// Format is one of Formats. "" recognizes the format by content and name.
	Format string

	// From and To are the languages of the document and of its translation as BCP 47 tags. They
	// are written where a format names its languages. "" is unknown.
	From, To string

	// Warn, if not nil, is called with what a reader of the translation should know: an encoding
	// that was guessed from From.
	Warn func(message string)

	// Review marks translations as not reviewed, in formats that can: "fuzzy" in po files,
	// needs-review-translation in XLIFF.
	Review bool

	// Bilingual, if not "", writes the texts of any format with their translations in place of
	// the document: "tsv" as two columns, "xliff" as XLIFF 1.2.
	Bilingual string
}

// MaxBytes is the size limit of a document. Of an archive it is also that of all parts together.
const MaxBytes = 256 << 20

// Limits of a document. A file that exceeds one is an error.
const (
	maxTextBytes = 1 << 20 // of a text
	maxDepth     = 256     // of nested elements, lists or objects
)

// Translate reads the document of size bytes from in, and writes it to w with the texts that f
// returns for those of the document. All other bytes are copied, and so is a text whose translation
// is equal to it or blank. Formats that hold source and translation, as po does, get
// the missing translations.
//
// f is called from one goroutine, with groups of at most maxGroupBytes of text, except for a single
// longer text. name is the name of the document in errors, and its extension says the format if the
// content does not. Errors of the document name it and the line.
func Translate(w io.Writer, name string, in io.ReaderAt, size int64, o Options, f Func) error {
	if size > MaxBytes {
		return fmt.Errorf("%s: %d bytes, limit %d", name, size, int64(MaxBytes))
	}
	format, err := formatOf(name, in, size, o.Format)
	if err != nil {
		return err
	}
	d := document{name, in, size, w, o, f}
	if o.Bilingual != "" {
		return translateBilingual(d, format.translate)
	}
	return format.translate(&d)
}

// document is the input of a format, and the output.
type document struct {
	name string // in errors
	in   io.ReaderAt
	size int64
	w    io.Writer
	Options
	f Func
}
