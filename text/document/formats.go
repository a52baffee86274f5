package document

import (
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"tfm/text/charset"
)

// A format is one kind of document.
type format struct {
	name       string
	extensions []string // lower case, without the dot

	// is reports whether a file that begins with head has this format, for certain. Without is
	// the extension decides.
	is func(head string) bool

	translate func(*document) error
}

// formats lists the formats. Of several whose is returns true, the first is taken.
var formats = []format{
	{"docx", []string{"docx", "docm", "dotx", "dotm", "doc", "dot"}, isOffice("word/"), translateOffice},
	{"pptx", []string{"pptx", "pptm", "ppsx", "ppsm", "potx", "potm", "ppt", "pps"}, isOffice("ppt/"), translateOffice},
	{"xlsx", []string{"xlsx", "xlsm", "xltx", "xltm", "xls"}, isOffice("xl/"), translateOffice},
	{"odt", []string{"odt", "ott"}, isODF("text"), translateODF},
	{"odp", []string{"odp", "otp", "odg", "otg"}, isODF("presentation"), translateODF},
	{"ods", []string{"ods", "ots"}, isODF("spreadsheet"), translateODF},
	{"epub", []string{"epub"}, isEPUB, translateEPUB},
	{"txt", []string{"txt", "text"}, nil, textFileIn(charset.OfLanguage, translateTxt)},
	{"xhtml", []string{"xhtml"}, isXHTML, translateXHTML},
	{"html", []string{"html", "htm"}, isHTML, translateHTML},
	{"markdown", []string{"md", "markdown", "mdown", "mkd"}, nil, textFile(translateMarkdown)},
	{"srt", []string{"srt"}, nil, textFileIn(charset.OfLanguage, translateSRT)},
	{"vtt", []string{"vtt"}, isVTT, textFile(translateVTT)},
	{"po", []string{"po", "pot"}, nil, textFile(translatePO)},
	{"xliff", []string{"xlf", "xliff"}, isXLIFF, textFile(translateXLIFF)},
	{"properties", []string{"properties"}, nil, textFileIn(latin1, translateProperties)},
	{"json", []string{"json", "arb", "jsonl"}, nil, textFile(translateJSON)},
}

// headBytes is the number of bytes by which the content of a file is recognized.
const headBytes = 4096

// Formats returns the names of the formats.
func Formats() []string {
	names := make([]string, len(formats))
	for i, f := range formats {
		names[i] = f.name
	}
	return names
}

// Extensions returns the extensions of names by which formats are recognized, such as ".docx".
func Extensions() (extensions []string) {
	for _, f := range formats {
		for _, e := range f.extensions {
			extensions = append(extensions, "."+e)
		}
	}
	return extensions
}

// formatOf returns the format with a name, or if that is "" the format of a file.
func formatOf(file string, in io.ReaderAt, size int64, name string) (*format, error) {
	if name != "" {
		i := slices.IndexFunc(formats, func(f format) bool { return f.name == name })
		if i < 0 {
			return nil, fmt.Errorf("format %q: expected one of %s", name, strings.Join(Formats(), ", "))
		}
		return &formats[i], nil
	}
	head := make([]byte, min(headBytes, size))
	if _, err := in.ReadAt(head, 0); err != nil && err != io.EOF {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	text := decodeHead(head)
	for i, f := range formats {
		if f.is != nil && f.is(text) {
			return &formats[i], nil
		}
	}
	extension := strings.ToLower(strings.TrimPrefix(path.Ext(file), "."))
	for i, f := range formats {
		if slices.Contains(f.extensions, extension) {
			return &formats[i], nil
		}
	}
	return nil, fmt.Errorf("%s: unknown format; name one of %s", file, strings.Join(Formats(), ", "))
}
