package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"tfm/translate"
)

// statusError is an error with a status of HTTP.
type statusError struct {
	status     int
	message    string
	retryAfter time.Duration // 0 for no Retry-After
}

func (e *statusError) Error() string { return e.message }

// retrySeconds returns retryAfter in whole seconds, rounded up.
func (e *statusError) retrySeconds() int { return int((e.retryAfter + time.Second - 1) / time.Second) }

func badRequest(message string) error {
	return &statusError{status: http.StatusBadRequest, message: message}
}

func missing(name string) error {
	return badRequest("Invalid request: missing " + name + " parameter")
}

// statusClosed is the status in logs of a request whose client has gone.
const statusClosed = 499

// errorStatus returns the status and the message for an error. Those of a server's own faults are
// in its log only.
func errorStatus(err error) *statusError {
	if s := new(statusError); errors.As(err, &s) {
		return s
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return &statusError{status: statusClosed, message: "Request canceled"}
	}
	if errors.Is(err, translate.ErrNoTranslation) {
		return &statusError{status: http.StatusBadRequest, message: err.Error()}
	}
	return &statusError{status: http.StatusInternalServerError, message: "Cannot translate text"}
}

// writeJSON writes v with a status.
func writeJSON(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		status, body = http.StatusInternalServerError, []byte(`{"error":"Cannot encode the answer"}`)
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)+1))
	w.WriteHeader(status)
	w.Write(append(body, '\n'))
}

// writeError writes an error as {"error": message}.
func writeError(w http.ResponseWriter, err error) {
	e := errorStatus(err)
	writeErrorAs(w, e, map[string]any{"error": e.message})
}

// writeErrorAs writes an error with another body.
func writeErrorAs(w http.ResponseWriter, e *statusError, body map[string]any) {
	if e.retryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(e.retrySeconds()))
	}
	writeJSON(w, e.status, body)
}

// eventStream writes server-sent events.
type eventStream struct {
	w       http.ResponseWriter
	flusher *http.ResponseController
}

// eventWriter begins an answer of events.
func eventWriter(w http.ResponseWriter) eventStream {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // nginx would send all events together at the end
	return eventStream{w, http.NewResponseController(w)}
}

// event sends an event. v has strings and numbers only.
func (s eventStream) event(name string, v any) {
	data, _ := json.Marshal(v)
	fmt.Fprintf(s.w, "event: %s\ndata: %s\n\n", name, data)
	s.flusher.Flush()
}

// fail sends an error with its status, which is not that of the answer any more.
func (s eventStream) fail(err error) {
	e := errorStatus(err)
	s.event("error", struct {
		Error      string `json:"error"`
		Status     int    `json:"status"`
		RetryAfter int    `json:"retry_after,omitempty"` // seconds
	}{e.message, e.status, e.retrySeconds()})
}
