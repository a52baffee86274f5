package serve

import (
	"crypto/tls"
	"errors"
	"net/http"
	pathpkg "path"
	"slices"
	"strings"
	"sync/atomic"
)

// Server translates behind the interfaces of LibreTranslate, DeepLX and DeepL. It is an
// http.Handler, and safe for concurrent use. Close must be called after use.
type Server struct {
	backend
	mux         *http.ServeMux
	bodies      bodies
	times       times
	certificate atomic.Pointer[tls.Certificate]
	draining    atomic.Bool
}

const (
	maxRunning   = 80 // texts in the decoder; it has room for 64 with a beam of 4
	maxDocuments = 16 // documents that are translated; each is held in memory
)

// New opens the models and returns a Server. The error names a file.
func New(o Options) (*Server, error) {
	if len(o.Models) == 0 {
		return nil, errors.New("found no model, expected one or more")
	}
	o = o.withDefaults()
	s := &Server{backend: backend{options: o}, times: defaultTimes}
	// The other connections are for refusals, which would wait to be accepted otherwise.
	s.scheduler = newScheduler(o.MaxWait, maxRunning, max(o.MaxConnections*3/4, 1), maxDocuments)
	if err := s.Reload(); err != nil {
		return nil, err
	}
	s.routes()
	return s, nil
}

// Reload reads the models, glossaries, memory, keys and certificate again. Requests in progress end
// with the old ones. If there is an error, nothing changes.
func (s *Server) Reload() error {
	c, err := openCatalog(&s.options)
	if err != nil {
		return err
	}
	var keys clientKeys
	if s.options.Keys != "" {
		if keys, err = readKeyFile(s.options.Keys); err != nil {
			c.close()
			return err
		}
	}
	if s.options.TLSCert != "" {
		certificate, err := tls.LoadX509KeyPair(s.options.TLSCert, s.options.TLSKey)
		if err != nil {
			c.close()
			return err
		}
		s.certificate.Store(&certificate)
	}
	s.mu.Lock()
	old := s.catalog
	keys.keepCounts(s.keys)
	s.catalog, s.keys = c, keys
	s.mu.Unlock()
	if old != nil {
		go old.close()
	}
	return nil
}

// Pairs returns the pairs of languages that one model translates, as en-de, sorted.
func (s *Server) Pairs() (pairs []string) {
	c, _, done := s.use()
	defer done()
	for p := range c.pairs {
		pairs = append(pairs, p.source+"-"+p.target)
	}
	slices.Sort(pairs)
	return pairs
}

// Close closes the models after the requests in progress. No request may begin after it.
func (s *Server) Close() { s.catalog.close() }

// routes sets the handlers.
func (s *Server) routes() {
	s.mux = http.NewServeMux()
	handle := func(pattern string, h func(*call) (any, error)) {
		_, path, _ := strings.Cut(pattern, " ")
		s.mux.Handle(pattern, s.handler(path, h))
	}
	open := func(pattern string, h http.HandlerFunc) { s.mux.Handle(pattern, h) }
	handle("GET /translate", answerShared)
	handle("POST /translate", answerShared)
	handle("POST /detect", answerDetect)
	handle("POST /v1/translate", answerV1)
	handle("POST /v2/translate", answerDeepL)
	handle("POST /translate_file", answerDocument)
	open("GET /download_file/{id}", s.store.download)
	handle("GET /v1/glossaries", listGlossaries)
	handle("GET /languages", answerLanguages)
	handle("GET /frontend/settings", answerSettings)
	handle("GET /v2/languages", languagesDeepL)
	handle("GET /v2/usage", usageDeepL)
	handle("GET /v2/glossaries", glossariesDeepL)
	handle("GET /v2/glossary-language-pairs", glossaryPairsDeepL)
	open("GET /health", func(w http.ResponseWriter, r *http.Request) {
		writeJSON(w, http.StatusOK, map[string]string{"status": "ok"})
	})
	open("GET /ready", s.ready)
	open("GET /metrics", func(w http.ResponseWriter, r *http.Request) { s.metrics.answer(w, s.scheduler) })
	open("GET /{$}", servePage)
	open("GET /page/{file}", servePage)
	open("GET /spec", func(w http.ResponseWriter, r *http.Request) { serveSpec(w, s.options.Prefix) })
	open("/", s.noRoute)
}

// answerShared answers /translate, the path of LibreTranslate, DeepLX and Immersive Translate,
// which name their texts q, text and text_list.
func answerShared(c *call) (any, error) {
	if c.has("text_list") {
		return answerImmersive(c)
	}
	if c.isDeepLX() {
		return answerDeepLX(c)
	}
	return answerLibre(c)
}

var errNotFound = &statusError{status: http.StatusNotFound, message: "Not found"}

// noRoute answers requests of unknown paths, and of known ones with another method.
func (s *Server) noRoute(w http.ResponseWriter, r *http.Request) {
	var allowed []string
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		other := r.Clone(r.Context())
		other.Method = method
		if _, pattern := s.mux.Handler(other); pattern != "/" {
			allowed = append(allowed, method)
		}
	}
	if allowed == nil {
		writeError(w, errNotFound)
		return
	}
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	writeError(w, &statusError{status: http.StatusMethodNotAllowed, message: "Method not allowed"})
}

func (s *Server) ready(w http.ResponseWriter, r *http.Request) {
	if s.draining.Load() {
		writeError(w, &statusError{status: http.StatusServiceUnavailable, message: "Server is shutting down"})
		return
	}
	writeJSON(w, http.StatusOK, map[string]string{"status": "ok"})
}

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("Referrer-Policy", "no-referrer")
	err := s.options.checkHost(r)
	if err == nil {
		err = s.options.checkOrigin(w, r)
	}
	if err != nil {
		writeError(w, err)
		return
	}
	path, ok := strings.CutPrefix(r.URL.Path, s.options.Prefix)
	if ok && path == "" && s.options.Prefix != "" {
		// Addresses in the page are relative to its folder.
		http.Redirect(w, r, s.options.Prefix+"/", http.StatusPermanentRedirect)
		return
	}
	if !ok || !strings.HasPrefix(path, "/") {
		writeError(w, errNotFound)
		return
	}
	if r.Method == http.MethodOptions {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	if s.draining.Load() {
		h.Set("Connection", "close")
	}
	// //translate is a path of careless clients. A redirect, as of a path with dots, would turn
	// their POST into a GET.
	if path = "/" + strings.Trim(path, "/"); path != pathpkg.Clean(path) {
		writeError(w, errNotFound)
		return
	}
	r2 := r.Clone(r.Context())
	r2.URL.Path, r2.URL.RawPath = path, ""
	defer s.bodies.limitBody(w, r2, s.bodyLimit(path), s.times)()
	s.mux.ServeHTTP(&timedWriter{w, http.NewResponseController(w), s.times}, r2)
}

// maxBytesPerCharacter is the largest size of a character in a request: two escapes such as \u1234,
// or as many bytes in the encoding of forms.
const maxBytesPerCharacter = 12

// bodyLimit returns the limit of the bytes of the body of a request.
func (s *Server) bodyLimit(path string) int64 {
	if path == "/translate_file" {
		return s.options.MaxBody
	}
	const others = 64 << 10 // bytes of other parameters
	return int64(maxBytesPerCharacter*s.maxCharacters() + others)
}
