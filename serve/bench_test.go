package serve_test

import (
	"context"
	"io"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"tfm/serve"
	"tfm/translate"
)

// BenchmarkRequest is the time of a request of one sentence. ms-http is how much longer its median
// is than that of Translator.Translate with the same sentence.
func BenchmarkRequest(b *testing.B) {
	dir := b.TempDir()
	path := random(b, dir, "en", "de", 1)
	s, err := serve.New(serve.Options{Models: []string{path}})
	if err != nil {
		b.Fatal(err)
	}
	h := httptest.NewServer(s)
	defer s.Close()
	defer h.Close()
	t, err := translate.Open(path, translate.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer t.Close()
	const sentence = "the red dog runs."
	var direct, http []time.Duration
	measure := func(times *[]time.Duration, f func() error) {
		start := time.Now()
		if err := f(); err != nil {
			b.Fatal(err)
		}
		*times = append(*times, time.Since(start))
	}
	for b.Loop() {
		measure(&direct, func() error { _, err := t.Translate(context.Background(), []string{sentence}); return err })
		measure(&http, func() error {
			response, err := h.Client().Post(h.URL+"/translate", jsonObject, strings.NewReader(`{"q": "`+sentence+`", "source": "en", "target": "de"}`))
			if err != nil {
				return err
			}
			defer response.Body.Close()
			_, err = io.Copy(io.Discard, response.Body) // so that the connection stays
			return err
		})
	}
	median := func(times []time.Duration) time.Duration {
		slices.Sort(times)
		return times[len(times)/2]
	}
	b.ReportMetric((median(http)-median(direct)).Seconds()*1e3, "ms-http")
}
