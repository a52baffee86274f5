package serve

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tfm/translate"
)

// glossaries are the glossaries that requests choose by name. They are immutable.
type glossaries struct {
	names []string // sorted
	files map[string]glossaryFile
}

type glossaryFile struct {
	*translate.Glossary
	path     string
	modified time.Time
}

// maxGlossaryBytes is the limit of a file of a glossary.
const maxGlossaryBytes = 64 << 20

// readGlossaries reads files of translate.ReadGlossary. The name of a glossary is that of its file
// without the extension.
func readGlossaries(paths []string) (*glossaries, error) {
	g := &glossaries{files: map[string]glossaryFile{}}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
		if other, ok := g.files[name]; ok {
			return nil, fmt.Errorf("%s and %s: both are named %q, expected names of their own", other.path, path, name)
		}
		info, err := os.Stat(path)
		if err == nil && info.Size() > maxGlossaryBytes {
			err = fmt.Errorf("%s: found %d bytes, expected up to %d", path, info.Size(), maxGlossaryBytes)
		}
		if err != nil {
			return nil, err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		read, err := translate.ReadGlossary(bytes.NewReader(data), path)
		if err != nil {
			return nil, err
		}
		g.files[name] = glossaryFile{read, path, info.ModTime().UTC()}
		g.names = append(g.names, name)
	}
	slices.Sort(g.names)
	return g, nil
}

// find returns the glossary of a name.
func (g *glossaries) find(name string) (*translate.Glossary, error) {
	file, ok := g.files[name]
	if !ok {
		return nil, badRequest(fmt.Sprintf("Invalid request: found no glossary %q, expected %s", name, g.list()))
	}
	return file.Glossary, nil
}

// list returns the names for an error.
func (g *glossaries) list() string {
	if len(g.names) == 0 {
		return "none, because the server has no glossary"
	}
	return "one of " + strings.Join(g.names, ", ")
}
