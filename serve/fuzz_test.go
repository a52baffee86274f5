package serve_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"tfm/serve"
)

// fuzzServer returns a server that translates from en to de and keeps its texts short.
func fuzzServer(f *testing.F) *serve.Server {
	dir := f.TempDir()
	random(f, dir, "en", "de", 1)
	s, err := serve.New(serve.Options{Models: []string{dir}, MaxCharacters: 30, MaxTexts: 3, MaxBody: 4 << 10, Suggestions: dir})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(s.Close)
	return s
}

// documented are the statuses of /spec that a client alone can cause.
var documented = []int{200, 400, 404, 405, 413}

// checkAnswer sends a request, whose answer must be JSON with a documented status.
func checkAnswer(t *testing.T, s *serve.Server, r *http.Request) {
	t.Helper()
	r.Host = "localhost"
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	body, err := io.ReadAll(w.Body)
	if err != nil || !slices.Contains(documented, w.Code) || !json.Valid(body) {
		t.Errorf("%s %s: status %d, %v, %q", r.Method, r.URL, w.Code, err, body)
	}
	if w.Code != http.StatusOK && !strings.Contains(string(body), `"error"`) && !strings.Contains(string(body), `"message"`) {
		t.Errorf("%s %s: status %d without a message: %q", r.Method, r.URL, w.Code, body)
	}
}

// paths are the routes with parameters.
var paths = []string{"/translate", "/detect", "/v1/translate", "/v2/translate", "/translate_file", "/suggest", "/v2/languages"}

func FuzzJSON(f *testing.F) {
	s := fuzzServer(f)
	for i, body := range []string{
		`{"q": "the red dog", "source": "en", "target": "de", "format": "html", "alternatives": 2}`, `{"q": ["a", 1]}`,
		`{"texts": ["a cat"], "source": "en", "target": "de", "alignment": true, "prefix": "ein", "next": 2}`,
		`{"text": ["a <x>b</x>"], "target_lang": "DE", "tag_handling": "xml", "ignore_tags": ["x"], "glossary_id": "a"}`,
		`{"text_list": ["a"], "source_lang": "auto", "target_lang": "de"}`, `{"q": null, "source": {}, "alternatives": -1e99}`,
	} {
		f.Add(uint8(i), body)
		f.Add(uint8(0), body)
	}
	f.Fuzz(func(t *testing.T, path uint8, body string) {
		checkAnswer(t, s, request("POST", paths[int(path)%len(paths)], jsonObject, body))
	})
}

// FuzzForm sends a form in the body and in the query.
func FuzzForm(f *testing.F) {
	s := fuzzServer(f)
	for i, body := range []string{"q=the+red+dog&source=en&target=de&alternatives=1", "q=100%&source=auto&target=de", "text=a&text=b&target_lang=DE", "q=%ff&q=;&source=en"} {
		f.Add(uint8(i), body)
		f.Add(uint8(0), body)
	}
	f.Fuzz(func(t *testing.T, path uint8, body string) {
		to := paths[int(path)%len(paths)]
		checkAnswer(t, s, request("POST", to, form, body))
		r := request("POST", to, "", "")
		r.URL.RawQuery = body
		checkAnswer(t, s, r)
	})
}

// FuzzMultipart sends bodies whose parts are separated by x.
func FuzzMultipart(f *testing.F) {
	s := fuzzServer(f)
	part := func(header, data string) string {
		return "--x\r\nContent-Disposition: form-data; name=" + header + "\r\n\r\n" + data + "\r\n"
	}
	languages := part(`"source"`, "en") + part(`"target"`, "de")
	f.Add(uint8(4), languages+part(`"file"; filename="a.txt"`, "a red dog\nruns")+"--x--\r\n")
	f.Add(uint8(4), languages+part(`"file"; filename="../a.html"`, "<p>a <b>dog</b>")+"--x--\r\n")
	f.Add(uint8(4), languages+part(`"file"; filename="a.docx"`, "PK\x03\x04")+"--x--\r\n")
	f.Add(uint8(0), languages+part(`"q"`, "a cat")+"--x--\r\n")
	f.Fuzz(func(t *testing.T, path uint8, body string) {
		checkAnswer(t, s, request("POST", paths[int(path)%len(paths)], "multipart/form-data; boundary=x", body))
	})
}

// FuzzPath sends requests of any path, and follows no redirect.
func FuzzPath(f *testing.F) {
	s := fuzzServer(f)
	for _, path := range []string{"/download_file/../x", "//translate", "/translate/../spec", "/a/%2f..", "/v1/translate/", "/languages"} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		r := request("POST", "/", jsonObject, `{"q": "a", "source": "en", "target": "de"}`)
		r.URL.Path = path
		checkAnswer(t, s, r)
	})
}

func FuzzKeys(f *testing.F) {
	_, line := serve.NewKey("name")
	for _, s := range []string{line, line + " per-minute=1 per-day=2 characters=3\n# comment\n\n", line + "\n" + line, "a b", line + " per-day=x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if _, err := serve.ReadKeys(strings.NewReader(s), "keys"); err != nil && !strings.HasPrefix(err.Error(), "keys:") {
			t.Errorf("%q: error %q without the name of the file", s, err)
		}
	})
}
