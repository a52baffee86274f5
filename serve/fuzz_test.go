package serve_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"tfm/serve"
)

const fuzzCharacters = 30 // limit of a request

// fuzzServer returns a server that translates from en to de and keeps its texts short.
func fuzzServer(f *testing.F) *serve.Server {
	dir := f.TempDir()
	random(f, dir, "en", "de", 1)
	s, err := serve.New(serve.Options{Models: []string{dir}, MaxCharacters: fuzzCharacters, MaxTexts: 3, MaxBody: 4 << 10})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(s.Close)
	return s
}

// documented are the statuses of /spec that a client alone can cause.
var documented = []int{200, 400, 403, 404, 405, 413}

// checkAnswer sends a request, whose answer must be JSON with a documented status, and returns the
// status and the answer.
func checkAnswer(t *testing.T, s *serve.Server, r *http.Request) (status int, body []byte) {
	t.Helper()
	if r.Host == "" {
		r.Host = "localhost"
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	body, err := io.ReadAll(w.Body)
	if err != nil || !slices.Contains(documented, w.Code) || !json.Valid(body) {
		t.Errorf("%s %s: status %d, %v, %q", r.Method, r.URL, w.Code, err, body)
	}
	if w.Code != http.StatusOK && !strings.Contains(string(body), `"error"`) && !strings.Contains(string(body), `"message"`) {
		t.Errorf("%s %s: status %d without a message: %q", r.Method, r.URL, w.Code, body)
	}
	return w.Code, body
}

// quoted returns a string as JSON.
func quoted(s string) string {
	data, _ := json.Marshal(s)
	return string(data)
}

// FuzzRequest sends any body, of JSON, of a form or of a form with parts that x separates, and the
// form in the query too, to any path. It follows no redirect.
func FuzzRequest(f *testing.F) {
	s := fuzzServer(f)
	types := []string{jsonObject, form, "multipart/form-data; boundary=x"}
	part := func(header, data string) string {
		return "--x\r\nContent-Disposition: form-data; name=" + header + "\r\n\r\n" + data + "\r\n"
	}
	languages := part(`"source"`, "en") + part(`"target"`, "de")
	for i, bodies := range [][]string{{
		`{"q": "the red dog", "source": "en", "target": "de", "format": "html", "alternatives": 2}`, `{"q": ["a", 1]}`,
		`{"texts": ["a cat"], "source": "en", "target": "de", "alignment": true, "prefix": "ein", "next": 2}`,
		`{"text": ["a <x>b</x>"], "target_lang": "DE", "tag_handling": "xml", "ignore_tags": ["x"], "glossary_id": "a"}`,
		`{"text": ["the <x id=\"1\">red</x> dog.", "<a"], "target_lang": "DE", "tag_handling": "xml", "ignore_tags": [",,"]}`,
		`{"text_list": ["a"], "source_lang": "auto", "target_lang": "de"}`, `{"q": null, "source": {}, "alternatives": -1e99}`,
	}, {
		"q=the+red+dog&source=en&target=de&alternatives=1", "q=100%&source=auto&target=de", "text=a&text=b&target_lang=DE", "q=%ff&q=;&source=en",
		"text=a<x/><y>b</y>&target_lang=DE&tag_handling=xml&ignore_tags=x,y",
	}, {
		languages + part(`"file"; filename="a.txt"`, "a red dog\nruns") + "--x--\r\n", languages + part(`"file"; filename="../a.html"`, "<p>a <b>dog</b>") + "--x--\r\n",
		languages + part(`"file"; filename="a.docx"`, "PK\x03\x04") + "--x--\r\n", languages + part(`"q"`, "a cat") + "--x--\r\n",
	}} {
		for _, body := range bodies {
			for _, path := range []string{"/translate", "/detect", "/v1/translate", "/v2/translate", "/translate_file", "/v2/languages"} {
				f.Add(path, uint8(i), body)
			}
		}
	}
	for _, path := range []string{"/download_file/../x", "//translate", "/translate/../spec", "/a/%2f..", "/v1/translate/", "/languages"} {
		f.Add(path, uint8(0), `{"q": "a", "source": "en", "target": "de"}`)
	}
	f.Fuzz(func(t *testing.T, path string, kind uint8, body string) {
		r := request("POST", "/", types[int(kind)%len(types)], body)
		r.URL.Path = path
		checkAnswer(t, s, r)
		if r.Header.Get("Content-Type") == form {
			r = request("POST", "/", "", "")
			r.URL.Path, r.URL.RawQuery = path, body
			checkAnswer(t, s, r)
		}
	})
}

// FuzzText translates any text in each interface. Whatever it holds, only its length is refused.
func FuzzText(f *testing.F) {
	s := fuzzServer(f)
	for i, text := range []string{"the red dog runs. a cat sleeps.", "<p>a <b>dog</b> &amp;", "a\r\n\nb\u2028c", "\u202e👩‍👩‍👧 <x", "1 2", "<!--", "]]>", "\x00\ufffd\ufeff"} {
		f.Add(uint8(i), text, "ein", uint8(i))
	}
	f.Add(uint8(0), "a", strings.Repeat("€", 15), uint8(1)) // more tokens than a translation has
	interfaces := []struct {
		path, name, rest string
		alternatives     bool
	}{
		{"/translate", "q", `"source": "en", "target": "de"`, true},
		{"/translate", "q", `"source": "auto", "target": "de", "format": "html"`, true},
		{"/translate", "text", `"source_lang": "EN", "target_lang": "DE"`, false},
		{"/translate", "text_list", `"source_lang": "auto", "target_lang": "de"`, false},
		{"/v1/translate", "texts", `"source": "en", "target": "de", "alignment": true`, true},
		{"/v2/translate", "text", `"target_lang": "DE"`, false},
		{"/v2/translate", "text", `"source_lang": "EN", "target_lang": "DE", "tag_handling": "html"`, false},
	}
	f.Fuzz(func(t *testing.T, which uint8, text, prefix string, n uint8) {
		i := interfaces[int(which)%len(interfaces)]
		body := fmt.Sprintf(`{%q: %s, %s}`, i.name, quoted(text), i.rest)
		if i.alternatives {
			body = fmt.Sprintf(`%s, "alternatives": %d}`, body[:len(body)-1], n%4)
		}
		want := http.StatusOK
		if text == "" && i.name != "text_list" || utf8.RuneCountInString(text) > fuzzCharacters {
			want = http.StatusBadRequest
		}
		if text == "" && (i.path == "/v1/translate" || i.path == "/v2/translate") {
			want = http.StatusOK // a list with one text
		}
		if status, answer := checkAnswer(t, s, request("POST", i.path, jsonObject, body)); status != want {
			t.Errorf("%s %s: status %d, %q, want %d", i.path, body, status, answer, want)
		}
		checkAnswer(t, s, request("POST", "/v1/translate", jsonObject, fmt.Sprintf(`{"texts": %s, "source": "en", "target": "de", "prefix": %s, "next": %d}`, quoted(text), quoted(prefix), n%4)))
	})
}

// FuzzHeaders sends any headers to a server that needs a key. No request is translated without it,
// and no answer holds it.
func FuzzHeaders(f *testing.F) {
	dir := f.TempDir()
	path := filepath.Join(dir, "keys")
	key, line := serve.NewKey("name")
	writeFile(f, path, line)
	random(f, dir, "en", "de", 1)
	s, err := serve.New(serve.Options{Models: []string{dir}, Keys: path, MaxCharacters: 30, TrustProxy: []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0")}})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(s.Close)
	f.Add("localhost", "", "Bearer x", "1.2.3.4, 5", form, "q=a&source=en&target=de")
	f.Add("[::1]:5000", "http://[::1]:5000", "DeepL-Auth-Key "+strings.ToUpper(key), "::", "multipart/form-data; boundary=", "--")
	f.Add("evil.example:80", "null", key, "", "application/x+json;charset=\"", `{"q": "a", "api_key": {}}`)
	f.Add("::1%evil", "https://::", "Basic", ",", "multipart/mixed; boundary=x", "--x\r\n")
	f.Fuzz(func(t *testing.T, host, origin, authorization, forwarded, contentType, body string) {
		r := request("POST", "/translate", "", body)
		r.Host, r.RemoteAddr = host, "1.1.1.1:1"
		for name, value := range map[string]string{"Origin": origin, "Authorization": authorization, "X-Forwarded-For": forwarded, "Content-Type": contentType} {
			r.Header.Set(name, value)
		}
		status, answer := checkAnswer(t, s, r)
		if status == http.StatusOK || strings.Contains(string(answer), key) {
			t.Errorf("status %d, %q", status, answer)
		}
	})
}

// FuzzFileName uploads a text by any name. Its download has a header that holds no path, and no
// other name is found.
func FuzzFileName(f *testing.F) {
	s := fuzzServer(f)
	for _, name := range []string{"a.txt", "../../etc/passwd.txt", `..\a.txt`, "a\r\nX: y.txt", "\"é;\x00.txt", ".txt", "/.md", "a.docx", ""} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		_, body := checkAnswer(t, s, upload("/translate_file", name, "12"))
		var answer struct {
			URL string `json:"translatedFileUrl"`
		}
		if json.Unmarshal(body, &answer) != nil {
			t.Fatalf("%q", body)
		}
		if path, ok := strings.CutPrefix(answer.URL, "http://localhost"); ok {
			w := httptest.NewRecorder()
			r := request("GET", path, "", "")
			r.Host = "localhost"
			s.ServeHTTP(w, r)
			d := w.Header().Get("Content-Disposition")
			if w.Code != http.StatusOK || !strings.HasPrefix(d, "attachment") || strings.ContainsAny(d, "/\r\n\x00") {
				t.Errorf("%q: status %d, Content-Disposition %q", name, w.Code, d)
			}
		}
		r := request("GET", "/", "", "")
		r.URL.Path = "/download_file/" + name
		if status, answer := checkAnswer(t, s, r); status != http.StatusNotFound {
			t.Errorf("%q: status %d, %q", name, status, answer)
		}
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
