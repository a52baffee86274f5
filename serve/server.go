package serve

import (
	"cmp"
	"crypto/tls"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	pathpkg "path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"tfm/translate"
)

// Options are the options of a Server. The zero value of a limit is its default.
type Options struct {
	Models []string // model files, or folders of files *.safetensors
	Open   translate.Options

	Glossaries []string // files of translate.ReadGlossary, chosen by their names
	Memory     string   // file of translate.Translator.ReadMemory; "" for none
	Protect    bool     // copy the ranges of markup.Protected in texts too, as in documents

	// Keys is the file of keys, see ReadKeys. With "" no request needs a key.
	Keys string

	Hosts      []string       // names in Host that are answered besides localhost and addresses
	Origins    []string       // of pages of other sites that may read answers; "*" for all
	Prefix     string         // before the paths, such as /translate
	TrustProxy []netip.Prefix // proxies whose X-Forwarded-For is believed

	TLSCert, TLSKey string // PEM files for Serve; "" for connections without encryption

	MaxWait        time.Duration // expected wait beyond which a request is refused; 8 s
	MaxBody        int64         // bytes of a request with a document; 16 MB
	MaxCharacters  int           // of a request, unless its key has another limit; 200,000
	MaxTexts       int           // of a request; 1,000
	MaxAlternates  int           // alternatives of a text; 16
	MaxConnections int           // of Serve at a time; three quarters may have requests; 4,096

	Log *slog.Logger // a line for each request, without texts, keys or addresses; nil for none
}

// Server translates behind the interfaces of LibreTranslate, DeepLX and DeepL. It is an
// http.Handler, and safe for concurrent use. Close must be called after use.
type Server struct {
	options  Options
	mux      *http.ServeMux
	schedule *scheduler
	metrics  metrics
	files    files
	bodies   bodies
	times    times

	certificate atomic.Pointer[tls.Certificate]

	mu      sync.Mutex
	catalog *catalog
	keys    *Keys // nil without Options.Keys

	draining atomic.Bool
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
	o.MaxWait = cmp.Or(o.MaxWait, 8*time.Second)
	o.MaxBody = cmp.Or(o.MaxBody, 16<<20)
	o.MaxCharacters = cmp.Or(o.MaxCharacters, 200_000)
	o.MaxTexts = cmp.Or(o.MaxTexts, 1000)
	o.MaxAlternates = cmp.Or(o.MaxAlternates, 16)
	o.MaxConnections = cmp.Or(o.MaxConnections, 4096)
	o.Prefix = strings.TrimSuffix(o.Prefix, "/")
	s := &Server{options: o, times: defaultTimes}
	// The other connections are for refusals, which would wait to be accepted otherwise.
	s.schedule = newScheduler(o.MaxWait, maxRunning, max(o.MaxConnections*3/4, 1), maxDocuments)
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
	var keys *Keys
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

// use returns the models and keys of a request, which calls done at its end.
func (s *Server) use() (c *catalog, keys *Keys, done func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.catalog.users.Add(1)
	return s.catalog, s.keys, s.catalog.users.Done
}

// routes sets the handlers.
func (s *Server) routes() {
	s.mux = http.NewServeMux()
	handle := func(pattern string, h func(*call) (any, error)) {
		_, path, _ := strings.Cut(pattern, " ")
		s.mux.Handle(pattern, s.handler(path, h))
	}
	open := func(pattern string, h http.HandlerFunc) { s.mux.Handle(pattern, h) }
	handle("GET /translate", translateShared)
	handle("POST /translate", translateShared)
	handle("POST /detect", detectLibre)
	handle("POST /v1/translate", translateV1)
	handle("POST /v2/translate", translateDeepL)
	handle("POST /translate_file", translateFile)
	open("GET /download_file/{id}", s.download)
	handle("GET /v1/glossaries", listGlossaries)
	handle("GET /languages", languages)
	handle("GET /frontend/settings", settings)
	handle("GET /v2/languages", languagesDeepL)
	handle("GET /v2/usage", usageDeepL)
	handle("GET /v2/glossaries", glossariesDeepL)
	handle("GET /v2/glossary-language-pairs", glossaryPairsDeepL)
	open("GET /health", func(w http.ResponseWriter, r *http.Request) {
		writeJSON(w, http.StatusOK, map[string]string{"status": "ok"})
	})
	open("GET /ready", s.ready)
	open("GET /metrics", s.serveMetrics)
	open("GET /{$}", servePage)
	open("GET /page/{file}", servePage)
	open("GET /spec", s.serveSpec)
	open("/", s.noRoute)
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
	err := s.checkHost(r)
	if err == nil {
		err = s.checkOrigin(w, r)
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
	defer s.limitBody(w, r2)()
	s.mux.ServeHTTP(&timedWriter{w, http.NewResponseController(w), s.times}, r2)
}

// maxCharacters returns the largest limit of the characters of a request.
func (s *Server) maxCharacters() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(s.options.MaxCharacters, s.keys.maxCharacters())
}
