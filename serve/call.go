package serve

import (
	"context"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// call is a request with its parameters.
type call struct {
	*backend
	*params
	ctx     context.Context
	request *http.Request
	catalog *catalog
	key     *clientKey // nil without one
	caller  string     // for an equal share: of the key, or of the address without one

	characters int // of texts, for the log
}

// events is an answer that is written in parts. Its error is sent as the last one.
type events func(w http.ResponseWriter) error

// handler returns the handler of a route, which answers with what h returns: events, or a value as
// JSON.
func (b *backend) handler(route string, h func(*call) (any, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		c := &call{backend: b, ctx: r.Context(), request: r}
		var keys clientKeys
		var done func()
		c.catalog, keys, done = b.use()
		defer done()
		status := http.StatusOK
		err := c.prepare(w, keys)
		var answer any
		if err == nil {
			answer, err = h(c)
		}
		write, streams := answer.(events)
		switch {
		case err != nil:
			e := errorStatus(err)
			writeErrorAs(w, e, c.errorBody(e))
		case streams:
			err = write(w)
		default:
			writeJSON(w, status, answer)
		}
		if err != nil {
			status = errorStatus(err).status
		}
		d := time.Since(start)
		b.metrics.add(route, status, d, c.characters)
		if b.options.Log != nil {
			attrs := []slog.Attr{slog.String("route", route), slog.Int("status", status), slog.Duration("duration", d), slog.Int("characters", c.characters)}
			if c.key != nil {
				attrs = append(attrs, slog.String("key", c.key.name))
			}
			if status == http.StatusInternalServerError {
				attrs = append(attrs, slog.String("error", err.Error()))
			}
			b.options.Log.LogAttrs(c.ctx, slog.LevelInfo, "request", attrs...)
		}
	})
}

// errorBody returns the body of an error in the interface of the request.
func (c *call) errorBody(e *statusError) map[string]any {
	switch {
	case strings.HasPrefix(c.request.URL.Path, "/v2/"):
		return map[string]any{"message": e.message} // DeepL
	case c.params != nil && c.request.URL.Path == "/translate" && c.isDeepLX():
		return map[string]any{"code": e.status, "message": e.message}
	}
	return map[string]any{"error": e.message}
}

// prepare reads the parameters and checks the key.
func (c *call) prepare(w http.ResponseWriter, keys clientKeys) (err error) {
	if c.params, err = readParams(c.request); err != nil {
		w.Header().Set("Connection", "close") // the rest of the body is not read
		return err
	}
	bodyRead(w)
	if c.caller = c.options.address(c.request); keys != nil {
		return c.checkKey(keys)
	}
	return nil
}

// needsNoKey are the routes without a translation.
var needsNoKey = map[string]bool{"/languages": true, "/frontend/settings": true}

// checkKey sets the key of a request, which must have one.
func (c *call) checkKey(keys clientKeys) error {
	if needsNoKey[c.request.URL.Path] {
		return nil
	}
	text := keyOf(c.request, c.params)
	if text == "" {
		return badRequest("Please contact the server operator to get an API key")
	}
	if c.key = keys.find(text); c.key == nil {
		return &statusError{status: http.StatusForbidden, message: "Invalid API key"}
	}
	c.caller = "key " + c.key.name
	return c.key.admit(time.Now())
}

// checkTexts refuses more texts or characters than a request may have.
func (c *call) checkTexts(texts []string) error {
	limit := c.options.MaxCharacters
	if c.key != nil && c.key.characters > 0 {
		limit = c.key.characters
	}
	if n := len(texts); n > c.options.MaxTexts {
		return exceeds(n, c.options.MaxTexts)
	}
	if c.characters = characters(texts); c.characters > limit {
		return exceeds(c.characters, limit)
	}
	return nil
}

func exceeds(n, limit int) error {
	return badRequest("Invalid request: request (" + strconv.Itoa(n) + ") exceeds text limit (" + strconv.Itoa(limit) + ")")
}

// isDeepLX reports whether a request of /translate is one of DeepLX.
func (c *call) isDeepLX() bool { return !c.has("q") && c.has("text") }

// acceptsEvents reports whether the client accepts server-sent events.
func (c *call) acceptsEvents() bool {
	return strings.Contains(c.request.Header.Get("Accept"), "text/event-stream")
}
