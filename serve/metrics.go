package serve

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// metrics counts requests by route and status. It is safe for concurrent use.
type metrics struct {
	mu       sync.Mutex
	requests map[answered]int
	seconds  [len(durations) + 1]int // requests by duration
	total    time.Duration
	texts    int // characters
}

// answered is a route with a status.
type answered struct {
	route  string
	status int
}

// durations are the upper bounds of the histogram of durations.
var durations = [...]float64{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30}

// add counts a request.
func (m *metrics) add(route string, status int, d time.Duration, characters int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.requests == nil {
		m.requests = map[answered]int{}
	}
	m.requests[answered{route, status}]++
	i := 0
	for i < len(durations) && d.Seconds() > durations[i] {
		i++
	}
	m.seconds[i]++
	m.total += d
	m.texts += characters
}

// characters returns the number of characters of texts.
func (m *metrics) characters() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return int64(m.texts)
}

// answer answers /metrics in the text format of Prometheus.
func (m *metrics) answer(w http.ResponseWriter, q *scheduler) {
	var b strings.Builder
	family := func(name, kind, help string) { fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind) }
	m.mu.Lock()
	family("tfm_http_requests_total", "counter", "Requests by route and status.")
	var keys []answered
	for k := range m.requests {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b answered) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	for _, k := range keys {
		fmt.Fprintf(&b, "tfm_http_requests_total{route=%q,status=\"%d\"} %d\n", k.route, k.status, m.requests[k])
	}
	family("tfm_http_request_duration_seconds", "histogram", "Time to answer a request.")
	sum := 0
	for i, n := range m.seconds {
		sum += n
		bound := "+Inf"
		if i < len(durations) {
			bound = fmt.Sprint(durations[i])
		}
		fmt.Fprintf(&b, "tfm_http_request_duration_seconds_bucket{le=%q} %d\n", bound, sum)
	}
	fmt.Fprintf(&b, "tfm_http_request_duration_seconds_sum %g\ntfm_http_request_duration_seconds_count %d\n", m.total.Seconds(), sum)
	family("tfm_characters_total", "counter", "Characters of texts to translate.")
	fmt.Fprintf(&b, "tfm_characters_total %d\n", m.texts)
	m.mu.Unlock()

	q.mu.Lock()
	family("tfm_texts_running", "gauge", "Texts in the decoder.")
	fmt.Fprintf(&b, "tfm_texts_running{class=\"text\"} %d\ntfm_texts_running{class=\"document\"} %d\n", q.running[interactive], q.running[ofDocument])
	pending := 0
	for _, c := range q.callers {
		pending += c.pending
	}
	family("tfm_pending_bytes", "gauge", "Bytes of texts that wait or are translated, times the models they pass.")
	fmt.Fprintf(&b, "tfm_pending_bytes %d\n", pending)
	family("tfm_bytes_per_second", "gauge", "Speed that the expected wait is computed from; 0 before it is known.")
	fmt.Fprintf(&b, "tfm_bytes_per_second %g\n", q.meter.speed)
	q.mu.Unlock()
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	w.Write([]byte(b.String()))
}
