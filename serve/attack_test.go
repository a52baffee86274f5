package serve_test

import (
	"archive/zip"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"tfm/serve"
)

// Browsers learn before a request from another site whether it is allowed.
func TestPreflight(t *testing.T) {
	h, _ := newServer(t, serve.Options{Origins: []string{"https://app.example"}})
	for origin, status := range map[string]int{
		"https://app.example": 204, "https://evil.example": 403, "http://app.example": 403, "https://app.example.evil.example": 403,
		"https://app.example:444": 403, "null": 403, "https://127.0.0.1": 403, h.URL + ".evil.example": 403,
	} {
		r := request("OPTIONS", h.URL+"/translate", "", "")
		r.Header.Set("Origin", origin)
		r.Header.Set("Access-Control-Request-Method", "POST")
		r.Header.Set("Access-Control-Request-Headers", "content-type")
		response, _ := bodyOf(t, r)
		allowed := response.Header.Get("Access-Control-Allow-Origin")
		if response.StatusCode != status || (allowed == origin) != (status == 204) || response.Header.Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("%s: status %d, allowed %q, want status %d", origin, response.StatusCode, allowed, status)
		}
		if response.Header.Get("Vary") != "Origin" {
			t.Errorf("%s: Vary %q, so that a cache could give the answer to another origin", origin, response.Header.Get("Vary"))
		}
	}
}

// A form in a page of another site, which needs no preflight, translates nothing.
func TestCrossSiteForm(t *testing.T) {
	h, _ := newServer(t, serve.Options{})
	const fields = "q=a+red+dog&s=b&source=en&target=de"
	for name, header := range map[string]map[string]string{
		"origin":       {"Origin": "https://evil.example", "Content-Type": form},
		"no referrer":  {"Origin": "null", "Content-Type": form},
		"other port":   {"Origin": "http://127.0.0.1:1", "Content-Type": form},
		"plain text":   {"Origin": "https://evil.example", "Content-Type": "text/plain"},
		"image":        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"},
		"fetch":        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors", "Content-Type": form},
		"form in page": {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Origin": "https://evil.example", "Content-Type": form},
	} {
		for _, path := range []string{"/translate", "/v2/translate"} {
			r := request("POST", h.URL+path+"?"+fields, "", fields)
			for key, value := range header {
				r.Header.Set(key, value)
			}
			if status, answer := send(t, r); status != 403 {
				t.Errorf("%s: %s: status %d, %v, want 403", name, path, status, answer)
			}
		}
	}
	if _, m := bodyOf(t, request("GET", h.URL+"/metrics", "", "")); !strings.Contains(m, "\ntfm_characters_total 0\n") {
		t.Errorf("characters were translated: %s", m)
	}
}

// 1,000 connections that send their headers and bodies slowly are cut off, and others are answered
// meanwhile.
func TestSlowClients(t *testing.T) {
	n := 1000
	if testing.Short() {
		n = 10
	}
	address, _ := listen(t, 2*time.Second, 0, serve.Options{})
	var waiting sync.WaitGroup
	for i := range n {
		c, err := net.Dial("tcp", strings.TrimPrefix(address, "http://"))
		if errors.Is(err, syscall.EMFILE) {
			t.Skip("optional: needs more open files: ", err)
		}
		if err != nil {
			t.Fatalf("connection %d: %v", i, err)
		}
		defer c.Close()
		s := "GET /health HTTP/1.1\r\nHost: localhost\r\nX: "
		if i%2 == 0 {
			s = "POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: " + form + "\r\nContent-Length: 99\r\n\r\nq=a"
		}
		if _, err := io.WriteString(c, s); err != nil {
			t.Fatalf("connection %d: %v", i, err)
		}
		waiting.Go(func() {
			c.SetReadDeadline(time.Now().Add(time.Minute))
			if answer, err := io.ReadAll(c); os.IsTimeout(err) || strings.HasPrefix(string(answer), "HTTP/1.1 200") {
				t.Errorf("connection %d stays, %q", i, answer)
			}
		})
	}
	for range 5 {
		if status, answer := send(t, request("POST", address+"/translate", form, "q=a+red+dog&source=en&target=de")); status != 200 {
			t.Errorf("status %d, %v beside slow clients", status, answer)
		}
	}
	waiting.Wait()
}

// Whatever is too much of something is refused with the status of the client's fault.
func TestOversized(t *testing.T) {
	address, _ := listen(t, time.Minute, 0, serve.Options{MaxCharacters: 1000, MaxTexts: 10, MaxBody: 1 << 20})
	var bomb bytes.Buffer
	z := zip.NewWriter(&bomb)
	w, err := z.CreateRaw(&zip.FileHeader{Name: "word/document.xml", UncompressedSize64: 1 << 40})
	if err == nil {
		_, err = io.WriteString(w, "<w>")
	}
	if err != nil {
		t.Fatal(err)
	}
	z.Close()
	rest := `, "source": "en", "target": "de"`
	object := func(path, body string) *http.Request { return request("POST", address+path, jsonObject, body) }
	endless := request("POST", address+"/translate", form, "")
	endless.Body, endless.ContentLength = io.NopCloser(zeros{}), -1
	for name, c := range map[string]struct {
		r      *http.Request
		status int
	}{
		"characters":          {object("/translate", `{"q": "`+strings.Repeat("a", 1001)+`"`+rest+`}`), 400},
		"characters of all":   {object("/translate", `{"q": ["`+strings.Repeat("a", 600)+`", "`+strings.Repeat("a", 600)+`"]`+rest+`}`), 400},
		"texts":               {object("/translate", `{"q": ["a"`+strings.Repeat(`, "a"`, 10)+`]`+rest+`}`), 400},
		"alternatives":        {object("/translate", `{"q": "a", "alternatives": 17`+rest+`}`), 400},
		"largest number":      {object("/translate", `{"q": "a", "alternatives": 1e999`+rest+`}`), 400},
		"texts of DeepL":      {object("/v2/translate", `{"text": ["a"`+strings.Repeat(`, "a"`, 10)+`], "target_lang": "de"}`), 400},
		"texts of Immersive":  {object("/translate", `{"text_list": ["a"`+strings.Repeat(`, "a"`, 10)+`], "target_lang": "de"}`), 400},
		"text of DeepLX":      {object("/translate", `{"text": "`+strings.Repeat("a", 1001)+`", "target_lang": "de"}`), 400},
		"text to detect":      {object("/detect", `{"q": "`+strings.Repeat("a", 1001)+`"}`), 400},
		"prefix":              {object("/v1/translate", `{"texts": "a", "prefix": "`+strings.Repeat("a", 1000)+`"`+rest+`}`), 400},
		"depth of JSON":       {object("/translate", strings.Repeat("[", 50_000)), 400},
		"depth of q":          {object("/translate", `{"q": `+strings.Repeat("[", 5000)+strings.Repeat("]", 5000)+rest+`}`), 400},
		"body":                {object("/translate", `{"x": "`+strings.Repeat("a", 1<<20)+`"}`), 413},
		"body without a size": {endless, 413},
		"file":                {upload(address+"/translate_file", "a.txt", strings.Repeat("a", 1<<20)), 413},
		"expansion":           {upload(address+"/translate_file", "a.docx", bomb.String()), 400},
		"fields":              {request("POST", address+"/translate_file", "multipart/form-data; boundary=x", strings.Repeat("--x\r\nContent-Disposition: form-data; name=a\r\n\r\n\r\n", 2001)+"--x--\r\n"), 400},
	} {
		status, answer := send(t, c.r)
		if message := cmp.Or(answer["error"], answer["message"]); status != c.status || message == nil {
			t.Errorf("%s: status %d, %v, want %d and a message", name, status, answer, c.status)
		}
	}
	for name, s := range map[string]string{
		"header":             "GET /health HTTP/1.1\r\nHost: localhost\r\nX: " + strings.Repeat("x", 1<<20),
		"body by its length": "POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999\r\n\r\n" + strings.Repeat("x", 8<<20),
	} {
		if answer, cut := isCut(t, address, s); !cut || strings.HasPrefix(answer, "HTTP/1.1 200") {
			t.Errorf("%s: the connection stays, %q", name, answer)
		}
	}
	const laughs = `<!DOCTYPE a [<!ENTITY b 'cc'><!ENTITY d '&b;&b;'>]><a>&d;</a>`
	status, answer := send(t, object("/v2/translate", `{"text": "`+laughs+`", "target_lang": "de", "tag_handling": "xml"}`))
	if status != 200 || strings.Contains(fmt.Sprint(answer), "cccc") {
		t.Errorf("entities: status %d, %v, want them as they are", status, answer)
	}
}

// zeros is an endless text.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '0'
	}
	return len(p), nil
}

// Requests that a proxy and a server could read differently are refused.
func TestSmuggling(t *testing.T) {
	address, _ := listen(t, 2*time.Second, 0, serve.Options{})
	const hidden = "GET /spec HTTP/1.1\r\nHost: localhost\r\n\r\n"
	for name, headers := range map[string]string{
		"two lengths":         "Content-Length: 0\r\nContent-Length: 40\r\n",
		"negative length":     "Content-Length: -1\r\n",
		"length and chunks":   "Content-Length: 5\r\nTransfer-Encoding: xchunked\r\n",
		"space before colon":  "Transfer-Encoding : chunked\r\n",
		"two hosts":           "Host: evil.example\r\nContent-Length: 0\r\n",
		"line break in value": "X: a\x00b\r\n",
	} {
		answer, cut := isCut(t, address, "POST /translate HTTP/1.1\r\nHost: localhost\r\n"+headers+"\r\n"+hidden)
		if !cut || strings.Contains(answer, "200 OK") || !strings.HasPrefix(answer, "HTTP/1.1 4") && !strings.HasPrefix(answer, "HTTP/1.1 501") {
			t.Errorf("%s: %q, want one error", name, answer)
		}
	}
}

// Names with dots, escapes, separators of Windows and null bytes lead nowhere.
func TestPathTricks(t *testing.T) {
	dir := t.TempDir()
	secret := filepath.Join(dir, "secret.tsv")
	writeFile(t, secret, "dog\tWauwau\n")
	address, _ := listen(t, time.Minute, 0, serve.Options{})
	for _, base := range []string{"/download_file/", "/page/", "/", "/translate/", "/translate/../", "/./"} {
		for _, trick := range []string{"../secret.tsv", "..%2fsecret.tsv", "%2e%2e/secret.tsv", "%252e%252e%252fsecret.tsv", `..\secret.tsv`, "..%5csecret.tsv", "..%00/secret.tsv",
			"....//secret.tsv", "%c0%ae%c0%ae/secret.tsv", "file://" + secret, "%2f" + secret, ".;/secret.tsv"} {
			answer, _ := isCut(t, address, "GET "+base+trick+" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
			if !strings.HasPrefix(answer, "HTTP/1.1 404") && !strings.HasPrefix(answer, "HTTP/1.1 400") {
				t.Errorf("%s%s: %q", base, trick, answer)
			}
		}
	}
	for _, name := range []string{secret, "../secret", "secret", "/etc/passwd"} {
		body := fmt.Sprintf(`{"q": "a dog", "source": "en", "target": "de", "glossary": %q}`, name)
		if status, answer := send(t, request("POST", address+"/translate", jsonObject, body)); status != 400 {
			t.Errorf("glossary %q: status %d, %v", name, status, answer)
		}
	}
}

// Nothing but the key is the key: not a part of it, nor what the server's file has of it.
func TestGuessedKeys(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys")
	key, line := serve.NewKey("mastodon")
	writeFile(t, path, line+"\n")
	h, _ := newServer(t, serve.Options{Keys: path})
	hash := sha256.Sum256([]byte(key))
	guesses := []string{line, hex.EncodeToString(hash[:]), string(hash[:]), "mastodon", strings.ToUpper(key), key + "\x00", key + " ", " " + key, key + key, "%", "*", "[]", strings.Repeat("a", 10_000)}
	for i := 1; i < len(key); i++ {
		guesses = append(guesses, key[:i], key[i:])
	}
	for _, guess := range guesses {
		r := request("POST", h.URL+"/translate", jsonObject, fmt.Sprintf(`{"q": "a", "source": "en", "target": "de", "api_key": %s}`, quoted(guess)))
		if status, answer := send(t, r); status != 403 || answer["error"] != "Invalid API key" {
			t.Errorf("%q: status %d, %v", guess, status, answer)
		}
	}
	for _, body := range []string{`{"api_key": {"$ne": ""}}`, `{"api_key": ["` + key + `"]}`, `{"api_key": true}`, `{"api_key": 0}`} {
		if status, answer := send(t, request("POST", h.URL+"/translate", jsonObject, body)); status != 403 {
			t.Errorf("%s: status %d, %v", body, status, answer)
		}
	}
	for _, path := range []string{"/translate", "/detect", "/translate_file", "/v1/translate", "/v2/translate"} {
		if status, answer := send(t, request("POST", h.URL+path, form, "q=a&source=en&target=de&text=a&target_lang=de")); status != 400 {
			t.Errorf("%s without a key: status %d, %v", path, status, answer)
		}
	}
	if status, _ := send(t, request("POST", h.URL+"/translate", form, "q=a&source=en&target=de&api_key="+key)); status != 200 {
		t.Errorf("the key: status %d", status)
	}
}

// Logs and metrics have none of what requests hold, no key and no address, whatever becomes of
// them, and Prometheus reads the metrics.
func TestPlantedSecrets(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys")
	key, line := serve.NewKey("mastodon")
	writeFile(t, path, line+"\n")
	var log bytes.Buffer
	h, _ := newServer(t, serve.Options{Keys: path, Log: slog.New(slog.NewJSONHandler(&log, nil)), MaxBody: 4000})
	const secret = "SECRET"
	upload := func(name, content string) *http.Request {
		return upload(h.URL+"/translate_file?api_key="+key, name, content)
	}
	requests := []*http.Request{
		upload(secret+".txt", secret), upload(secret+".docx", secret), upload("a."+secret, secret), upload("a.txt", strings.Repeat(secret, 1000)),
		upload("a.xliff", "<"+secret), request("GET", h.URL+"/"+secret+"%22%0A", "", ""), request(secret, h.URL+"/translate", "", ""),
		request("GET", h.URL+"/download_file/"+secret, "", ""),
		request("POST", h.URL+"/translate?api_key=SECRET&q=SECRET&target=SECRET&%53ECRET=%zz", form, "q=SECRET"),
	}
	for _, body := range []string{
		`{"q": "SECRET dog", "source": "en", "target": "de"}`, `{"q": "SECRET", "source": "SECRET", "target": "de"}`, `{"q": "a", "source": "en", "target": "SECRET"}`,
		`{"q": "a", "source": "en", "target": "de", "glossary": "SECRET"}`, `{"q": "a", "source": "en", "target": "de", "format": "SECRET"}`, `{"q": "a", "alternatives": "SECRET"}`,
		`{"SECRET`, `{"text": "SECRET", "target_lang": "de"}`, `{"text": "<SECRET>", "target_lang": "de", "tag_handling": "xml"}`, `{"texts": "SECRET", "source": "en", "target": "de", "prefix": "SECRET"}`,
	} {
		for _, path := range []string{"/translate", "/v1/translate", "/v2/translate", "/detect"} {
			requests = append(requests, request("POST", h.URL+path+"?api_key="+key, jsonObject, body))
		}
	}
	statuses := map[int]int{}
	for _, r := range requests {
		r.Header.Set("User-Agent", secret)
		r.Header.Set("Referer", "https://"+secret+".example/")
		r.Header.Set("X-Request-Id", secret)
		r.Header.Set("X-Forwarded-For", "10.20.30.40")
		response, _ := bodyOf(t, r)
		statuses[response.StatusCode]++
	}
	if statuses[200] == 0 || statuses[400] == 0 || statuses[413] == 0 || statuses[404] == 0 {
		t.Errorf("statuses %v, want some of each", statuses)
	}
	_, metrics := bodyOf(t, request("GET", h.URL+"/metrics", "", ""))
	h.Close() // ends the last lines of the log
	for name, s := range map[string]string{"log": log.String(), "metrics": metrics} {
		if strings.Contains(strings.ToUpper(s), secret) || strings.Contains(s, key) || strings.Contains(s, line[:64]) ||
			strings.Contains(s, "10.20.30.40") || strings.Contains(s, "127.0.0.1") || s == "" {
			t.Errorf("%s: %s", name, s)
		}
	}
	if _, err := exec.LookPath("promtool"); err != nil {
		t.Skip("optional: needs promtool, for example from 'apt-get install prometheus'")
	}
	c := exec.Command("promtool", "check", "metrics")
	c.Stdin = strings.NewReader(metrics)
	if out, err := c.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("promtool: %v, %s", err, out)
	}
}
