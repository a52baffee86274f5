package serve

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// checkHost refuses a request whose Host is the name of another site, so that a page whose name was
// changed to resolve to this machine cannot read answers (DNS rebinding).
func (o *Options) checkHost(r *http.Request) error {
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
	if _, err := netip.ParseAddr(host); err == nil || host == "localhost" || host == "" || slices.Contains(o.Hosts, host) {
		return nil
	}
	return &statusError{status: http.StatusForbidden, message: "Host " + host + " is not served; the operator can allow it with -host"}
}

// checkOrigin refuses requests of browsers from pages of other sites, and answers those that
// Options allow with the headers of CORS.
func (o *Options) checkOrigin(w http.ResponseWriter, r *http.Request) error {
	origin := r.Header.Get("Origin")
	w.Header().Add("Vary", "Origin")
	if origin == "" {
		if site := r.Header.Get("Sec-Fetch-Site"); site == "cross-site" && r.Header.Get("Sec-Fetch-Mode") != "navigate" {
			return errCrossSite
		}
		return nil
	}
	_, host, _ := strings.Cut(origin, "://")
	if host == r.Host {
		return nil
	}
	if !slices.Contains(o.Origins, origin) && !slices.Contains(o.Origins, "*") {
		return errCrossSite
	}
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Allow-Methods", "GET, POST")
	h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type")
	h.Set("Access-Control-Max-Age", "86400")
	return nil
}

var errCrossSite = &statusError{status: http.StatusForbidden, message: "Requests of pages of other sites are not answered; the operator can allow them with -cors"}

// address returns the address of a client: that of the connection, or if it is one of trusted
// proxies the last one in X-Forwarded-For that is not.
func (o *Options) address(r *http.Request) string {
	host := remote(r)
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0 && o.isProxy(host); i-- {
		hop := strings.TrimSpace(hops[i])
		if _, err := netip.ParseAddr(hop); err != nil {
			break
		}
		host = hop
	}
	return host
}

// remote returns the address of a connection.
func remote(r *http.Request) string {
	if host, _, err := net.SplitHostPort(r.RemoteAddr); err == nil {
		return host
	}
	return r.RemoteAddr
}

func (o *Options) isProxy(host string) bool {
	addr, err := netip.ParseAddr(host)
	return err == nil && slices.ContainsFunc(o.TrustProxy, func(p netip.Prefix) bool { return p.Contains(addr.Unmap()) })
}
