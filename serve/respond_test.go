package serve

import (
	"net/http/httptest"
	"strings"
	"testing"
)

// An error in events has what Retry-After has in other answers.
func TestEventRetryAfter(t *testing.T) {
	w := httptest.NewRecorder()
	eventWriter(w).fail(errBodies)
	if got := w.Body.String(); !strings.Contains(got, `"status":503,"retry_after":1}`) {
		t.Errorf("event %q, want status 503 and retry_after 1", got)
	}
}
