package serve

import (
	"io"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"
)

// minSpeed is the least bytes a second of a body or an answer.
const minSpeed = 32 << 10

// times are the limits of the times of connections. A client that takes longer is cut off.
type times struct {
	header   time.Duration
	idle     time.Duration // between requests
	transfer time.Duration // of a body or an answer, beside its size at minSpeed

	// grace is the time for which a server that ends accepts connections, so that those that the
	// system has accepted for it are answered.
	grace time.Duration
}

var defaultTimes = times{10 * time.Second, 2 * time.Minute, 30 * time.Second, time.Second}

// limit returns the time limit of a transfer of n bytes.
func (t times) limit(n int) time.Duration { return t.transfer + time.Duration(n)*time.Second/minSpeed }

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

// limitBody sets the limits of the size and time of the body of r. release must be called when the
// request has been answered.
func (b *bodies) limitBody(w http.ResponseWriter, r *http.Request, limit int64, t times) (release func()) {
	body := &limitedBody{ReadCloser: r.Body, all: b, limit: limit}
	r.Body = body
	http.NewResponseController(w).SetReadDeadline(time.Now().Add(t.limit(int(min(max(r.ContentLength, 0), limit)))))
	return body.release
}

// bodyRead ends the time limit of the body: from here on the connection is read only to see that
// the client has gone.
func bodyRead(w http.ResponseWriter) { http.NewResponseController(w).SetReadDeadline(time.Time{}) }

// timedWriter gives each part of an answer its time.
type timedWriter struct {
	http.ResponseWriter
	control *http.ResponseController
	times   times
}

func (w *timedWriter) Write(b []byte) (int, error) {
	w.control.SetWriteDeadline(time.Now().Add(w.times.limit(len(b))))
	return w.ResponseWriter.Write(b)
}

// Unwrap is for http.ResponseController.
func (w *timedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
