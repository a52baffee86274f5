package serve

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// suggestions appends translations that clients suggest to files. It is safe for concurrent use.
type suggestions struct{ mu sync.Mutex }

// maxSuggestionBytes is the limit of a file of suggestions.
const maxSuggestionBytes = 64 << 20

var errSuggestions = &statusError{status: http.StatusServiceUnavailable, message: "Suggestions have reached their limit"}

// suggest answers /suggest of LibreTranslate. A suggestion becomes a line of the file
// SOURCE-TARGET.tsv, which 'tfm train -tsv' reads.
func suggest(c *call) (any, error) {
	if c.options.Suggestions == "" {
		return nil, &statusError{status: http.StatusForbidden, message: "Suggestions are disabled on this server."}
	}
	for _, name := range []string{"q", "s", "source", "target"} {
		if c.text(name) == "" {
			return nil, missing(name)
		}
	}
	if err := c.checkTexts([]string{c.text("q"), c.text("s")}); err != nil {
		return nil, err
	}
	p, err := c.setSteps(new(job), c.text("source"), c.text("target"))
	if err != nil {
		return nil, err
	}
	oneLine := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	path := filepath.Join(c.options.Suggestions, p.source+"-"+p.target+".tsv")
	if err := c.suggestions.append(path, oneLine(c.text("q"))+"\t"+oneLine(c.text("s"))+"\n"); err != nil {
		return nil, err
	}
	return map[string]bool{"success": true}, nil
}

// append appends a line to a file.
func (s *suggestions) append(path, line string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil {
		return err
	} else if info.Size()+int64(len(line)) > maxSuggestionBytes {
		return errSuggestions
	}
	if _, err := f.WriteString(line); err != nil {
		return err
	}
	return f.Close()
}
