package serve

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"tfm/translate"
)

// glossaries are the glossaries that requests choose by name. They are safe for concurrent use.
type glossaries struct {
	names []string // sorted

	mu    sync.Mutex
	files map[string]glossaryFile
	read  map[glossaryOf]*translate.Glossary
}

type glossaryFile struct {
	path     string
	data     []byte
	modified time.Time
}

// glossaryOf is a glossary for a pair of languages, which select columns of TBX.
type glossaryOf struct {
	name string
	pair
}

// maxGlossaryBytes is the limit of a file of a glossary.
const maxGlossaryBytes = 64 << 20

// readGlossaries reads files of translate.ReadGlossary. The name of a glossary is that of its file
// without the extension.
func readGlossaries(paths []string) (*glossaries, error) {
	g := &glossaries{files: map[string]glossaryFile{}, read: map[glossaryOf]*translate.Glossary{}}
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
		if err == nil {
			_, err = translate.ReadGlossary(bytes.NewReader(data), path, "", "")
		}
		if err != nil {
			return nil, err
		}
		g.files[name] = glossaryFile{path, data, info.ModTime().UTC()}
		g.names = append(g.names, name)
	}
	slices.Sort(g.names)
	return g, nil
}

// find returns the glossary of a name for a pair.
func (g *glossaries) find(name string, p pair) (*translate.Glossary, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	key := glossaryOf{name, p}
	if found, ok := g.read[key]; ok {
		return found, nil
	}
	file, ok := g.files[name]
	if !ok {
		return nil, badRequest(fmt.Sprintf("Invalid request: found no glossary %q, expected %s", name, g.list()))
	}
	found, err := translate.ReadGlossary(bytes.NewReader(file.data), name, p.source, p.target)
	if err != nil {
		return nil, badRequest("Invalid request: glossary " + err.Error())
	}
	g.read[key] = found
	return found, nil
}

// list returns the names for an error.
func (g *glossaries) list() string {
	if len(g.names) == 0 {
		return "none, because the server has no glossary"
	}
	return "one of " + strings.Join(g.names, ", ")
}

// listGlossaries answers /v1/glossaries.
func listGlossaries(c *call) (any, error) {
	return map[string][]string{"glossaries": append([]string{}, c.catalog.glossaries.names...)}, nil
}
