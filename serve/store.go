package serve

import (
	"crypto/rand"
	"mime"
	"net/http"
	"path/filepath"
	"sync"
	"time"
)

// store holds translated files until they expire. It is safe for concurrent use.
type store struct {
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
func (f *store) add(name string, data []byte, now time.Time) (id string, ok bool) {
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
func (f *store) find(id string, now time.Time) (*translatedFile, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	file, ok := f.byID[id]
	return file, ok && now.Before(file.expires)
}

// download answers /download_file.
func (f *store) download(w http.ResponseWriter, r *http.Request) {
	file, ok := f.find(r.PathValue("id"), time.Now())
	if !ok {
		writeError(w, &statusError{status: http.StatusNotFound, message: "File not found, or it has expired"})
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": filepath.Base(file.name)}))
	w.Write(file.data)
}
