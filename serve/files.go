package serve

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"mime"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"tfm/text/document"
	"tfm/text/markup"
)

// files holds translated files until they expire. It is safe for concurrent use.
type files struct {
	mu    sync.Mutex
	byID  map[string]*translatedFile
	bytes int
}

type translatedFile struct {
	name    string
	data    []byte
	expires time.Time
}

// Limits of the files that are held.
const (
	fileLife     = 30 * time.Minute
	maxFileBytes = 512 << 20
)

// add holds a file and returns its random name. It reports whether there is memory for it.
func (f *files) add(name string, data []byte, now time.Time) (id string, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for id, file := range f.byID {
		if now.After(file.expires) {
			f.bytes -= len(file.data)
			delete(f.byID, id)
		}
	}
	if f.bytes+len(data) > maxFileBytes {
		return "", false
	}
	if f.byID == nil {
		f.byID = map[string]*translatedFile{}
	}
	id = rand.Text()
	f.byID[id], f.bytes = &translatedFile{name, data, now.Add(fileLife)}, f.bytes+len(data)
	return id, true
}

// find returns a file that has not expired.
func (f *files) find(id string, now time.Time) (*translatedFile, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	file, ok := f.byID[id]
	return file, ok && now.Before(file.expires)
}

// translateFile answers /translate_file of LibreTranslate with the address of the translation, as
// the last of server-sent events if the client accepts them.
func translateFile(c *call) (any, error) {
	if c.file == nil {
		return nil, missing("file")
	}
	source, target := c.text("source"), c.text("target")
	switch {
	case source == "":
		return nil, missing("source")
	case target == "":
		return nil, missing("target")
	}
	if source == "auto" {
		var err error
		if source, err = c.detectFile(); err != nil {
			return nil, err
		}
	}
	j := &job{isDocument: true}
	p, err := c.setSteps(j, source, target)
	if err == nil {
		j.glossary, err = c.glossaryFor(c.text("glossary"), j.steps, p)
	}
	if err != nil {
		return nil, err
	}
	q, err := c.admit(j, nil)
	if err != nil {
		return nil, err
	}
	if !c.acceptsEvents() {
		defer q.end()
		return c.storeTranslation(q, j, p, func(int) {})
	}
	total, err := c.textBytes() // an error of the document is one before the events
	if err != nil {
		q.end()
		return nil, err
	}
	return events(func(w http.ResponseWriter) error {
		defer q.end()
		return c.streamFile(w, q, j, p, total)
	}), nil
}

// translatedFileURL is the answer of /translate_file.
type translatedFileURL struct {
	URL string `json:"translatedFileUrl"`
}

// streamFile writes events: progress, with the bytes of text that are translated and of all, once
// for each percent, and at the end error or file.
func (c *call) streamFile(w http.ResponseWriter, q *queued, j *job, p pair, total int) error {
	send := eventWriter(w)
	done, percent := 0, -1
	progress := func(n int) {
		if done += n; 100*done/max(total, 1) > percent {
			percent = 100 * done / max(total, 1)
			send.event("progress", map[string]int{"done": done, "total": total})
		}
	}
	progress(0)
	answer, err := c.storeTranslation(q, j, p, progress)
	if err != nil {
		send.error(err)
		return err
	}
	send.event("file", answer)
	return nil
}

// textBytes returns the bytes of text in the uploaded document.
func (c *call) textBytes() (n int, err error) {
	err = c.translateDocument(io.Discard, "", "", func(texts []markup.Text) ([]markup.Text, error) {
		for _, t := range texts {
			n += len(t.Plain)
		}
		return texts, nil
	})
	return n, err
}

// storeTranslation translates the uploaded document and holds the translation. It calls progress
// with the bytes of each text that is translated; the calls do not overlap.
func (c *call) storeTranslation(q *queued, j *job, p pair, progress func(n int)) (answer translatedFileURL, err error) {
	var out bytes.Buffer
	err = c.translateDocument(&out, p.source, p.target, func(texts []markup.Text) ([]markup.Text, error) { return c.markedBy(q, j, texts, progress) })
	if err != nil {
		return answer, err
	}
	id, ok := c.files.add(c.file.name, out.Bytes(), time.Now())
	if !ok {
		return answer, &statusError{status: http.StatusServiceUnavailable, message: "Too many translated files wait to be downloaded", retryAfter: fileLife}
	}
	scheme := "http"
	if c.request.TLS != nil || c.isProxy(remote(c.request)) && c.request.Header.Get("X-Forwarded-Proto") == "https" {
		scheme = "https"
	}
	return translatedFileURL{scheme + "://" + c.request.Host + c.options.Prefix + "/download_file/" + id}, nil
}

// translateDocument writes the uploaded document with what f returns for its texts. Errors of the
// document are those of a request.
func (c *call) translateDocument(w io.Writer, source, target string, f document.Func) error {
	var failed error // of f
	err := document.Translate(w, c.file.name, bytes.NewReader(c.file.data), int64(len(c.file.data)), document.Options{From: source, To: target},
		func(texts []markup.Text) (out []markup.Text, err error) {
			out, failed = f(texts)
			return out, failed
		})
	if err != nil && failed == nil {
		return badRequest("Invalid request: " + err.Error())
	}
	return err
}

// enough ends the reading of a document for its language.
var enough = errors.New("enough text")

// detectFile returns the language of the uploaded document, by its first group of texts.
func (c *call) detectFile() (string, error) {
	var b strings.Builder
	err := c.translateDocument(io.Discard, "", "", func(texts []markup.Text) ([]markup.Text, error) {
		for _, t := range texts {
			b.WriteString(t.Plain + "\n")
		}
		return nil, enough
	})
	if err != nil && !errors.Is(err, enough) {
		return "", err
	}
	return c.detect(b.String()).Language, nil
}

// markedBy translates texts of a document by one step after another, each text in its turn. It
// calls progress with the bytes of each, one call at a time.
func (c *call) markedBy(q *queued, j *job, texts []markup.Text, progress func(n int)) ([]markup.Text, error) {
	out := make([]markup.Text, len(texts))
	var mu sync.Mutex
	return out, c.each(q, len(texts), func(i int) int { return j.work(texts[i].Plain) }, func(ctx context.Context, i int) error {
		out[i] = texts[i]
		for k, d := range j.steps {
			marked, err := d.Marked(ctx, c.requestOf(j, d, k == len(j.steps)-1), out[i:i+1])
			if err != nil {
				return err
			}
			out[i] = marked[0]
		}
		mu.Lock()
		defer mu.Unlock()
		progress(len(texts[i].Plain))
		return nil
	})
}

// download answers /download_file.
func (s *Server) download(w http.ResponseWriter, r *http.Request) {
	file, ok := s.files.find(r.PathValue("id"), time.Now())
	if !ok {
		writeError(w, &statusError{status: http.StatusNotFound, message: "File not found, or it has expired"})
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": filepath.Base(file.name)}))
	w.Write(file.data)
}
