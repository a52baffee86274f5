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

const maxHeader = 64 << 10 // bytes

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
