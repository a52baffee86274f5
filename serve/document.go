package serve

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"tfm/text/document"
	"tfm/text/markup"
)

// answerDocument answers /translate_file of LibreTranslate with the address of the translation, as
// the last of server-sent events if the client accepts them.
func answerDocument(c *call) (any, error) {
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
	j, p, err := c.newJob(source, target, c.text("glossary"))
	if err != nil {
		return nil, err
	}
	j.isDocument = true
	q, err := c.admit(j, nil)
	if err != nil {
		return nil, err
	}
	if !c.acceptsEvents() {
		defer q.end()
		return c.runDocument(q, j, p, func(int) {})
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
	answer, err := c.runDocument(q, j, p, progress)
	if err != nil {
		send.fail(err)
		return err
	}
	send.event("file", answer)
	return nil
}

// textBytes returns the bytes of text in the uploaded document.
func (c *call) textBytes() (n int, err error) {
	err = c.readDocument(io.Discard, "", "", func(texts []markup.Text) ([]markup.Text, error) {
		for _, t := range texts {
			n += len(t.Plain)
		}
		return texts, nil
	})
	return n, err
}

// runDocument translates the uploaded document and holds the translation. It calls progress
// with the bytes of each text that is translated; the calls do not overlap.
func (c *call) runDocument(q *queued, j *job, p pair, progress func(n int)) (answer translatedFileURL, err error) {
	var out bytes.Buffer
	err = c.readDocument(&out, p.source, p.target, func(texts []markup.Text) ([]markup.Text, error) { return c.markedBy(q, j, texts, progress) })
	if err != nil {
		return answer, err
	}
	id, ok := c.store.add(c.file.name, out.Bytes(), time.Now())
	if !ok {
		return answer, &statusError{status: http.StatusServiceUnavailable, message: "Too many translated files wait to be downloaded", retryAfter: fileLife}
	}
	scheme := "http"
	if c.request.TLS != nil || c.options.isProxy(remote(c.request)) && c.request.Header.Get("X-Forwarded-Proto") == "https" {
		scheme = "https"
	}
	return translatedFileURL{scheme + "://" + c.request.Host + c.options.Prefix + "/download_file/" + id}, nil
}

// readDocument writes the uploaded document with what f returns for its texts. Errors of the
// document are those of a request.
func (c *call) readDocument(w io.Writer, source, target string, f document.Func) error {
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
	err := c.readDocument(io.Discard, "", "", func(texts []markup.Text) ([]markup.Text, error) {
		for _, t := range texts {
			b.WriteString(t.Plain + "\n")
		}
		return nil, enough
	})
	if err != nil && !errors.Is(err, enough) {
		return "", err
	}
	return c.languageOf(b.String()).Language, nil
}

// markedBy translates texts of a document by one step after another, each text in its turn. It
// calls progress with the bytes of each, one call at a time.
func (c *call) markedBy(q *queued, j *job, texts []markup.Text, progress func(n int)) ([]markup.Text, error) {
	out := make([]markup.Text, len(texts))
	var mu sync.Mutex
	return out, c.schedule(q, len(texts), func(i int) int { return j.workOf(texts[i].Plain) }, func(ctx context.Context, i int) error {
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
