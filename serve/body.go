package serve

import (
	"io"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"
)

// bodies limits the memory of all bodies in progress together. It is safe for concurrent use.
type bodies struct{ bytes atomic.Int64 }

// maxBodies is the limit of the bytes of bodies in progress.
const maxBodies = 256 << 20

var errBodies = &statusError{status: http.StatusServiceUnavailable, message: "Server is overloaded", retryAfter: time.Second}

// limitedBody is a body of limited size that counts in bodies until release.
type limitedBody struct {
	io.ReadCloser
	all   *bodies
	limit int64
	read  int64
}

func (b *limitedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.read += int64(n)
	total := b.all.bytes.Add(int64(n))
	switch {
	case b.read > b.limit:
		return 0, &statusError{status: http.StatusRequestEntityTooLarge, message: "Request exceeds " + strconv.FormatInt(b.limit, 10) + " bytes"}
	case total > maxBodies:
		return 0, errBodies
	}
	return n, err
}

func (b *limitedBody) release() { b.all.bytes.Add(-b.read) }

// maxBytesPerCharacter is the largest size of a character in a request: two escapes such as \u1234,
// or as many bytes in the encoding of forms.
const maxBytesPerCharacter = 12

// limitBody sets the limits of the size and time of the body of r. release must be called when the
// request has been answered.
func (s *Server) limitBody(w http.ResponseWriter, r *http.Request) (release func()) {
	const others = 64 << 10 // bytes of other parameters
	limit := int64(maxBytesPerCharacter*s.maxCharacters() + others)
	if r.URL.Path == "/translate_file" {
		limit = s.options.MaxBody
	}
	b := &limitedBody{ReadCloser: r.Body, all: &s.bodies, limit: limit}
	r.Body = b
	http.NewResponseController(w).SetReadDeadline(time.Now().Add(s.times.limit(int(min(max(r.ContentLength, 0), limit)))))
	return b.release
}

// bodyRead ends the time limit of the body: from here on the connection is read only to see that
// the client has gone.
func bodyRead(w http.ResponseWriter) { http.NewResponseController(w).SetReadDeadline(time.Time{}) }
