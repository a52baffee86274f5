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

const (
	minSpeed  = 32 << 10 // bytes a second of a body or an answer
	maxHeader = 64 << 10 // bytes
)

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
		ReadHeaderTimeout: s.times.header,
		IdleTimeout:       s.times.idle,
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
	time.Sleep(s.times.grace)
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
	times   times
}

func (w *timedWriter) Write(b []byte) (int, error) {
	w.control.SetWriteDeadline(time.Now().Add(w.times.limit(len(b))))
	return w.ResponseWriter.Write(b)
}

// Unwrap is for http.ResponseController.
func (w *timedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
