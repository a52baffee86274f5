package marian

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"tfm/model/convert/internal/parts"
)

const metadataFile = "metadata.json"

// studentMetadata is the part of a file of Firefox's models that is used.
type studentMetadata struct {
	SourceLanguage string `json:"sourceLanguage"`
	TargetLanguage string `json:"targetLanguage"`
}

// studentLanguages returns the languages of a model of Firefox, one of each side: those that
// metadata.json or data.json names, or those of a file's name, as in model.ende.intgemm.alphas.bin
// and lex.50.50.ende.s2t.bin. One of them is English.
func studentLanguages(f parts.Folder, name string) (src, tgt []string) {
	for _, file := range []string{metadataFile, "data.json"} {
		var meta studentMetadata
		if f.ReadJSON(file, false, &meta) == nil && meta.SourceLanguage != "" && meta.TargetLanguage != "" {
			tag := func(name string) []string { return []string{strings.ReplaceAll(name, "_", "-")} }
			return tag(meta.SourceLanguage), tag(meta.TargetLanguage)
		}
	}
	names := []string{name}
	for _, name := range slices.Sorted(maps.Keys(f.Files)) {
		if strings.HasPrefix(name, "lex.") {
			names = append(names, name)
		}
	}
	for _, name := range names {
		for _, field := range strings.Split(strings.ReplaceAll(name, "_", "-"), ".")[1:] {
			if other, ok := strings.CutPrefix(field, "en"); ok && parts.KnownLanguage(other) != "" {
				return []string{"en"}, []string{other}
			}
			if other, ok := strings.CutSuffix(field, "en"); ok && parts.KnownLanguage(other) != "" {
				return []string{other}, []string{"en"}
			}
		}
	}
	return nil, nil
}

// releaseLanguages returns the languages of each side of a release of OPUS-MT, as its README.md
// names them.
func releaseLanguages(f parts.Folder) (src, tgt []string) {
	if !f.Has("README.md") {
		return nil, nil
	}
	data, _ := f.Read("README.md") // optional
	for line := range strings.Lines(string(data)) {
		m := readmeLanguages.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			continue
		}
		list := &src
		if m[1] == "target" {
			list = &tgt
		}
		*list = strings.Fields(strings.ReplaceAll(m[2], "_", "-"))
	}
	return src, tgt
}

// onlyLanguage returns the tag of the only language of a list, or "".
func onlyLanguage(list []string) string {
	if len(list) != 1 {
		return ""
	}
	return parts.KnownLanguage(list[0])
}

var readmeLanguages = regexp.MustCompile(`^\* (source|target) language(?:s|\(s\))?: (.*)$`)
