package main

import (
	"archive/zip"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"encoding/binary"
	"encoding/csv"
	"encoding/xml"
	"fmt"
	"html"
	"io"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"tfm/internal/hash"
	"tfm/text/detect/internal/profile"
)

// kinds are the formats of texts: the paths of their files with the locale, or the locale of all,
// the functions that return their lines, and the weights of their samples.
var kinds = []struct {
	path   *regexp.Regexp
	locale string
	read   func(data []byte) []string
	weight float64
}{
	{regexp.MustCompile(`/server/data/([^/]+)/[^/]+\.txt$`), "", lines, 8}, // Common Voice
	{regexp.MustCompile(`/server/data/[^/]+\.txt$`), "en", lines, 8},
	{regexp.MustCompile(`/(?:inaugural|state_union)/[^/]+\.txt$`), "en", paragraphs, 8},
	{regexp.MustCompile(`/udhr2/([^/]+)\.txt$`), "", lines, 4},
	{regexp.MustCompile(`/TM/all\.en-([^/]+)\.tmx\.zip$`), "", tmx, 3}, // TICO-19
	{regexp.MustCompile(`/f_en-([^/]+)\.csv$`), "", terms, 0.3},
	{regexp.MustCompile(`/Translation-([^/]+)\.bz2$`), "", descriptions, 2},
	{regexp.MustCompile(`/help/([^/]+)/.*\.page$`), "", page, 2},
	{regexp.MustCompile(`/UD_([^/]+)/[^/]+\.conllu$`), "", treebank, 6},
	{regexp.MustCompile(`/debian-edu-doc-([a-z-]+)/[^/]+\.html$`), "", page, 1},
	{regexp.MustCompile(`/installation-guide-amd64/([a-zA-Z_]+)/[^/]+\.html$`), "", page, 1},
	{regexp.MustCompile(`/[^/.]+\.([a-z]{2}(?:-[a-z]{2})?)\.html$`), "", page, 1}, // other guides
	{regexp.MustCompile(`/([^/]+)/LC_MESSAGES/wesnoth[^/]*\.mo$`), "", messages, 6},
	{regexp.MustCompile(`/([^/]+)/LC_MESSAGES/[^/]+\.mo$`), "", messages, 2},
	{regexp.MustCompile(`/de/LC_MESSAGES/wesnoth[^/]*\.mo$`), "en", originals, 4},
	{regexp.MustCompile(`/de/LC_MESSAGES/[^/]+\.mo$`), "en", originals, 3},
	{regexp.MustCompile(`/languages/(?:[a-z-]+-)??([a-z]{2,3}(?:_[A-Z]{2})?)\.mo$`), "", messages, 1},
	{regexp.MustCompile(`/man/([^/]+)/man\d/[^/]+\.gz$`), "", manual, 0.5},
	{regexp.MustCompile(`/langpack-([^/]+)@[^/]+\.xpi$`), "", fluent, 0.5},
}

// source is the lines of one kind, those to train and those held out.
type source struct {
	weight         float64
	train, heldOut []string
	size           int // bytes of train
}

// readTexts reads the texts of languages.
func readTexts(dir string, languages []language) (sources [][]source, err error) {
	found, err := findTexts(dir)
	if err != nil {
		return nil, err
	}
	for _, l := range languages {
		s, err := readLanguage(found, l)
		if err != nil {
			return nil, err
		}
		sources = append(sources, s)
	}
	return sources, nil
}

// findTexts returns the files of each kind by locale.
func findTexts(dir string) (map[string][][]string, error) {
	found := map[string][][]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		for i, kind := range kinds {
			if m := kind.path.FindStringSubmatch(path); m != nil {
				locale := kind.locale + strings.Join(m[1:], "")
				if found[locale] == nil {
					found[locale] = make([][]string, len(kinds))
				}
				found[locale][i] = append(found[locale][i], path)
			}
		}
		return nil
	})
	return found, err
}

// readFile returns the content of a file, decompressed.
func readFile(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	switch filepath.Ext(path) {
	case ".bz2":
		return io.ReadAll(bzip2.NewReader(bytes.NewReader(data)))
	case ".gz":
		z, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, err
		}
		return io.ReadAll(z)
	case ".zip", ".xpi":
		archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return nil, err
		}
		var all []byte
		for _, f := range archive.File {
			if ext := filepath.Ext(f.Name); ext != ".ftl" && ext != ".tmx" {
				continue
			}
			r, err := f.Open()
			if err != nil {
				return nil, err
			}
			content, err := io.ReadAll(r)
			if err != nil {
				return nil, err
			}
			all = append(all, content...)
		}
		return all, nil
	}
	return data, nil
}

// maxSize is the limit of the text of one kind and language, in bytes.
const maxSize = 3 << 20

// readLanguage reads the texts of a language.
func readLanguage(found map[string][][]string, l language) (sources []source, err error) {
	seen := map[uint64]bool{}
	for i, kind := range kinds {
		s := source{weight: kind.weight}
		for _, locale := range slices.Sorted(maps.Keys(found)) {
			if !l.has(locale) {
				continue
			}
			for _, path := range found[locale][i] {
				data, err := readFile(path)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", path, err)
				}
				for _, line := range kind.read(data) {
					if s.size > maxSize {
						break
					}
					line = clean(line)
					if l.tag == "sr-Latn" {
						line = latin.Replace(line)
					}
					if h, _ := hash.Text(line); !seen[h] && utf8.ValidString(line) && mostlyIn(line, l.script) {
						seen[h] = true
						if h%20 == 0 {
							s.heldOut = append(s.heldOut, line)
						} else {
							s.train = append(s.train, line)
							s.size += len(line)
						}
					}
				}
			}
		}
		if len(s.train) > 0 {
			s.weight *= min(1, float64(s.size)/50e3)
			sources = append(sources, s)
		}
	}
	if len(sources) == 0 {
		return nil, fmt.Errorf("%s: found no texts of %s, expected some", l.tag, l.names)
	}
	return sources, nil
}

var markup = regexp.MustCompile(`<[^<>]*>|\{[^{}]*\}|%\([a-z_]+\)`)

// clean returns the words of a line, without markup, placeholders, addresses, options and names of
// programs, and marks of keys.
func clean(line string) string {
	if strings.ContainsAny(line, "&") {
		line = html.UnescapeString(line)
	}
	if strings.ContainsAny(line, "<{%") {
		line = markup.ReplaceAllString(line, " ")
	}
	var b strings.Builder
	for word := range strings.FieldsSeq(line) {
		if strings.ContainsAny(word, "0123456789@/\\=%$|") || strings.HasPrefix(word, "-") || strings.Contains(strings.TrimRight(word, ".…"), ".") {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		for _, r := range word {
			if r != '&' && r != '_' && r != '~' {
				b.WriteRune(r)
			}
		}
	}
	return b.String()
}

// mostlyIn reports whether a line has a word, and nearly all of its letters are in a script.
func mostlyIn(line string, s profile.Script) bool {
	in, all := 0, 0
	for _, r := range line {
		if of := profile.ScriptOf(r); of == s {
			in++
		} else if of != profile.None {
			all++
		}
	}
	all += in
	return in >= 2 && 10*in >= 9*all
}

// latin writes Serbian in Latin letters.
var latin = strings.NewReplacer(strings.Fields(`а a б b в v г g д d ђ đ е e ж ž з z и i ј j к k л l љ lj м m н n њ nj о o п p р r с s т t ћ ć у u
	ф f х h ц c ч č џ dž ш š А A Б B В V Г G Д D Ђ Đ Е E Ж Ž З Z И I Ј J К K Л L Љ Lj М M Н N Њ Nj О O П P Р R С S Т T Ћ Ć У U
	Ф F Х H Ц C Ч Č Џ Dž Ш Š`)...)

func lines(data []byte) []string { return strings.Split(string(data), "\n") }

// paragraphs returns the paragraphs of wrapped text.
func paragraphs(data []byte) []string {
	return strings.Split(strings.ReplaceAll(string(data), "\r", ""), "\n\n")
}

// tmx returns the segments of the second language of each unit.
func tmx(data []byte) (found []string) {
	for unit := range bytes.SplitSeq(data, []byte("</tu>")) {
		if segments := bytes.Split(unit, []byte("<seg>")); len(segments) > 2 {
			segment, _, _ := bytes.Cut(segments[2], []byte("</seg>"))
			found = append(found, string(segment))
		}
	}
	return found
}

// descriptions returns the paragraphs of an index of translated descriptions.
func descriptions(data []byte) (found []string) {
	var text strings.Builder
	end := func() {
		found = append(found, text.String())
		text.Reset()
	}
	in := false
	for line := range strings.Lines(string(data)) {
		line = strings.TrimRight(line, "\n")
		switch {
		case strings.HasPrefix(line, "Description-") && !strings.HasPrefix(line, "Description-md5"):
			end()
			_, line, _ = strings.Cut(line, ":")
			found = append(found, line)
			in = true
		case in && strings.HasPrefix(line, " ") && line != " .":
			text.WriteString(line)
		default:
			end()
			in = line == " ."
		}
	}
	return found
}

// page returns the paragraphs of a page of help.
func page(data []byte) (found []string) {
	d := xml.NewDecoder(bytes.NewReader(data))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	var text strings.Builder
	for {
		t, err := d.Token()
		if err != nil {
			return found
		}
		switch t := t.(type) {
		case xml.CharData:
			text.Write(t)
		case xml.EndElement:
			if name := t.Name.Local; name == "p" || name == "title" || name == "desc" || name == "li" || name == "h2" || name == "pre" {
				found = append(found, text.String())
				text.Reset()
			}
		}
	}
}

// messages returns the translations of a catalogue of gettext that differ from the messages.
func messages(data []byte) (found []string) {
	for message, translation := range catalogue(data) {
		for form := range strings.SplitSeq(translation, "\x00") {
			if !strings.Contains(message, form) {
				found = append(found, strings.Split(form, "\n\n")...)
			}
		}
	}
	return found
}

// originals returns the English messages of a catalogue.
func originals(data []byte) (found []string) {
	for message, translation := range catalogue(data) {
		if message != translation {
			_, message, _ = strings.Cut("\x04"+message, "\x04") // context
			found = append(found, message)
		}
	}
	return found
}

// catalogue returns the messages and translations of a catalogue of gettext.
func catalogue(data []byte) iter.Seq2[string, string] {
	return func(yield func(message, translation string) bool) {
		if len(data) < 20 || binary.LittleEndian.Uint32(data) != 0x950412de {
			return
		}
		word := func(at uint32) uint32 { return binary.LittleEndian.Uint32(data[at:]) }
		text := func(table, i uint32) string {
			length, at := word(table+8*i), word(table+8*i+4)
			return string(data[at : at+length])
		}
		for i := range word(8) {
			if message := text(word(12), i); message != "" && !yield(message, text(word(16), i)) {
				return
			}
		}
	}
}

// treebank returns the sentences of a treebank of Universal Dependencies.
func treebank(data []byte) (found []string) {
	for line := range strings.Lines(string(data)) {
		if text, ok := strings.CutPrefix(line, "# text = "); ok {
			found = append(found, text)
		}
	}
	return found
}

// manual returns the paragraphs of a manual page.
func manual(data []byte) (found []string) {
	var text strings.Builder
	for line := range strings.Lines(string(data)) {
		switch {
		case strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'"):
			if text.Len() > 0 {
				found = append(found, text.String())
				text.Reset()
			}
		default:
			text.WriteString(roff.ReplaceAllString(line, ""))
		}
	}
	return found
}

var roff = regexp.MustCompile(`\\f.|\\\(..|\\[-&|:~]|\\`)

// fluent returns the values of messages of Firefox.
func fluent(data []byte) (found []string) {
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		if _, value, ok := strings.Cut(line, "= "); ok {
			line = value
		} else if !strings.HasPrefix(line, "  ") {
			continue
		}
		if at := strings.Index(line, "] "); at >= 0 {
			line = line[at+2:]
		}
		found = append(found, line)
	}
	return found
}

// terms returns the last column of a list of terms.
func terms(data []byte) (found []string) {
	rows, _ := csv.NewReader(bytes.NewReader(data)).ReadAll()
	for _, row := range rows {
		if len(row) == 5 && row[3] != row[4] {
			found = append(found, row[4])
		}
	}
	return found
}
