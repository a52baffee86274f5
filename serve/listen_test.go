package serve_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"tfm/serve"
)

// listen serves a model from en to de on a port, with a limit of the times of headers and bodies,
// and of connections at its end. It returns the address, and a function that ends the server and
// waits.
func listen(t *testing.T, limit, grace time.Duration, o serve.Options) (address string, end func()) {
	t.Helper()
	o.Models = []string{random(t, t.TempDir(), "en", "de", 1)}
	s, err := serve.New(o)
	if err != nil {
		t.Fatal(err)
	}
	s.SetTimes(limit, grace)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- s.Serve(ctx, l) }()
	end = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		s.Close()
	})
	t.Cleanup(end)
	return "http://" + l.Addr().String(), end
}

// isCut reports whether the server closes a connection that sends no more than s, with or without
// an answer.
func isCut(t *testing.T, address, s string) (answer string, cut bool) {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(address, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	io.WriteString(c, s)
	c.SetReadDeadline(time.Now().Add(10 * time.Second))
	data, err := io.ReadAll(c)
	return string(data), err == nil || !os.IsTimeout(err)
}

// No more connections are accepted than MaxConnections.
func TestMaxConnections(t *testing.T) {
	address, _ := listen(t, time.Minute, 0, serve.Options{MaxConnections: 2})
	var open []net.Conn
	for range 2 {
		c, err := net.Dial("tcp", strings.TrimPrefix(address, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		open = append(open, c)
		fmt.Fprint(c, "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
		if line, err := bufio.NewReader(c).ReadString('\n'); err != nil || line != "HTTP/1.1 200 OK\r\n" {
			t.Fatalf("%q, %v", line, err)
		}
	}
	answered := make(chan bool)
	go func() {
		status, _ := send(t, request("GET", address+"/health", "", ""))
		answered <- status == 200
	}()
	select {
	case <-answered:
		t.Error("a third connection is answered")
	case <-time.After(200 * time.Millisecond):
	}
	open[0].Close()
	if !<-answered {
		t.Error("no answer after a connection has closed")
	}
}

// Requests in progress are answered after the end, when /ready says so.
func TestEnd(t *testing.T) {
	address, end := listen(t, time.Minute, 2*time.Second, serve.Options{})
	const n = 30
	statuses := make(chan int, n)
	for range n {
		go func() {
			response, err := http.Post(address+"/translate", jsonObject, strings.NewReader(`{"q": "the red dog runs.", "source": "en", "target": "de"}`))
			if err != nil {
				t.Error(err)
				statuses <- 0
				return
			}
			response.Body.Close()
			statuses <- response.StatusCode
		}()
	}
	statuses <- <-statuses // one is answered, so that others are in progress
	end()
	for range n {
		if status := <-statuses; status != 200 {
			t.Errorf("status %d", status)
		}
	}
	if _, err := http.Get(address + "/ready"); err == nil {
		t.Error("answered after the end")
	}
}

// upload returns a request with a file.
func upload(url, name, content string) *http.Request {
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	w.WriteField("source", "en")
	w.WriteField("target", "de")
	part, _ := w.CreateFormFile("file", name)
	io.WriteString(part, content)
	w.Close()
	return request("POST", url, w.FormDataContentType(), body.String())
}

// Files are translated, have an absolute address, and their names cannot leave it.
func TestFiles(t *testing.T) {
	h, dir := newServer(t, serve.Options{})
	status, answer := send(t, upload(h.URL+"/translate_file", "../../etc/a\r\nX: b.txt", "the red dog runs.\n"))
	url, _ := answer["translatedFileUrl"].(string)
	if status != 200 || !strings.HasPrefix(url, h.URL+"/download_file/") {
		t.Fatalf("status %d, %v", status, answer)
	}
	response, data := bodyOf(t, request("GET", url, "", ""))
	if want := want(t, filepath.Join(dir, "en-de.safetensors"), "the red dog runs.") + "\n"; data != want {
		t.Errorf("the file has %q, want %q", data, want)
	}
	if d := response.Header.Get("Content-Disposition"); !strings.HasPrefix(d, "attachment") || strings.ContainsAny(d, "/\\\r\n") || response.Header.Get("X") != "" {
		t.Errorf("Content-Disposition %q", d)
	}
	if status, answer := send(t, upload(h.URL+"/translate_file", "a.pdf", "%PDF-1.4")); status != 400 {
		t.Errorf("PDF: status %d, %v", status, answer)
	}
}

// A glossary is chosen by its name.
func TestGlossaries(t *testing.T) {
	dir := t.TempDir()
	terms := filepath.Join(dir, "animals.tsv")
	err := os.WriteFile(terms, []byte("dog\tWauwau\n"), 0o600)
	if err == nil {
		err = os.Chtimes(terms, time.Time{}, time.Unix(1e9, 123456789))
	}
	if err != nil {
		t.Fatal(err)
	}
	h, _ := newServer(t, serve.Options{Glossaries: []string{terms}})
	post := func(path, body string) (int, map[string]any) {
		return send(t, request("POST", h.URL+path, jsonObject, body))
	}
	if _, answer := send(t, request("GET", h.URL+"/v1/glossaries", "", "")); fmt.Sprint(answer["glossaries"]) != "[animals]" {
		t.Errorf("glossaries %v", answer)
	}
	_, answer := send(t, request("GET", h.URL+"/v2/glossaries", "", ""))
	if list, _ := answer["glossaries"].([]any); len(list) != 2 || list[1].(map[string]any)["source_lang"] != "en" || list[1].(map[string]any)["entry_count"] != 1.0 {
		t.Errorf("DeepL's glossaries %v, want one for de to fr and one for en to de", answer)
	} else if created := list[0].(map[string]any)["creation_time"]; created != "2001-09-09T01:46:40.123Z" {
		t.Errorf("creation_time %v, want milliseconds", created)
	}
	status, answer := post("/translate", `{"q": "the red dog runs.", "source": "en", "target": "de", "glossary": "animals"}`)
	if s, _ := answer["translatedText"].(string); status != 200 || strings.Count(s, "Wauwau") != 1 {
		t.Errorf("status %d, %v, want the term once", status, answer)
	}
	status, answer = post("/translate", `{"q": "a", "source": "en", "target": "de", "glossary": "b"}`)
	if status != 400 || answer["error"] != `Invalid request: found no glossary "b", expected one of animals` {
		t.Errorf("status %d, %v", status, answer)
	}
	status, answer = post("/translate", `{"q": "a", "source": "en", "target": "fr", "glossary": "animals"}`)
	if status != 400 || answer["error"] != `Invalid request: glossary "animals" needs a model from en to fr; texts go through de here` {
		t.Errorf("status %d, %v", status, answer)
	}
}
