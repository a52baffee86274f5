package serve

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"
)

// Limits of the time of connections. A client that sends or reads more slowly is cut off.
const (
	headerTime   = 10 * time.Second
	idleTime     = 2 * time.Minute
	transferTime = 30 * time.Second // of a body, beside its size at the least speed
	minSpeed     = 32 << 10         // bytes a second
	maxHeader    = 64 << 10         // bytes

	// graceTime is the time for which a server that ends accepts connections, so that those that
	// the system has accepted for it are answered.
	graceTime = time.Second
)

// transferLimit returns the time limit of n bytes.
func transferLimit(n int) time.Duration {
	return transferTime + time.Duration(n)*time.Second/minSpeed
}

// Serve answers the requests of connections of l until ctx ends. Then /ready answers 503, and Serve
// returns when the requests in progress have been answered. It limits connections, headers and
// times; the limits of requests are those of ServeHTTP. With Options.TLSCert connections are
// encrypted.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	h := &http.Server{
		Protocols:         &protocols,
		Handler:           s,
		ReadHeaderTimeout: headerTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          log.New(io.Discard, "", 0), // its lines have addresses
		TLSConfig:         &tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return s.certificate.Load(), nil }},
	}
	limited := &limitedListener{Listener: l, free: make(chan struct{}, s.options.MaxConnections)}
	ended := make(chan error, 1)
	go func() {
		if s.options.TLSCert != "" {
			ended <- h.ServeTLS(limited, "", "")
		} else {
			ended <- h.Serve(limited)
		}
	}()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	s.draining.Store(true)
	time.Sleep(graceTime)
	if err := h.Shutdown(context.Background()); err != nil {
		return err
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// limitedListener accepts no more than cap(free) connections at the same time.
type limitedListener struct {
	net.Listener
	free chan struct{} // has an element for each connection
}

func (l *limitedListener) Accept() (net.Conn, error) {
	l.free <- struct{}{}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.free
		return nil, err
	}
	return &limitedConn{Conn: c, release: sync.OnceFunc(func() { <-l.free })}, nil
}

type limitedConn struct {
	net.Conn
	release func()
}

func (c *limitedConn) Close() error {
	defer c.release()
	return c.Conn.Close()
}

// timedWriter gives each part of an answer its time.
type timedWriter struct {
	http.ResponseWriter
	control *http.ResponseController
}

func newTimedWriter(w http.ResponseWriter) *timedWriter {
	return &timedWriter{w, http.NewResponseController(w)}
}

func (w *timedWriter) Write(b []byte) (int, error) {
	w.control.SetWriteDeadline(time.Now().Add(transferLimit(len(b))))
	return w.ResponseWriter.Write(b)
}

// Unwrap is for http.ResponseController.
func (w *timedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
