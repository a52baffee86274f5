//go:build unix

package e2e

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// server is a tfm serve in another process.
type server struct {
	*exec.Cmd
	url string
	log *bufio.Reader
}

// startServer starts a server and returns when it listens.
func startServer(t *testing.T, args ...string) *server {
	t.Helper()
	s := &server{Cmd: tfm(append([]string{"serve", "-addr", "127.0.0.1:0", "-threads", "1"}, args...)...)}
	stdout, err := s.StdoutPipe()
	noError(t, err)
	stderr, err := s.StderrPipe()
	noError(t, err)
	s.log = bufio.NewReader(stderr)
	noError(t, s.Start())
	t.Cleanup(func() { s.Process.Kill() })
	line, err := bufio.NewReader(stdout).ReadString('\n')
	found := regexp.MustCompile(`^Translating (\S.*) on (http://127\.0\.0\.1:\d+)/\n$`).FindStringSubmatch(line)
	if found == nil {
		rest, _ := io.ReadAll(s.log)
		t.Fatalf("the server said %q, %v\n%s", line, err, rest)
	}
	s.url = found[2]
	return s
}

// translate returns the status and the translation of a text.
func (s *server) translate(t *testing.T, text, key string) (status int, translated string) {
	t.Helper()
	r, err := http.PostForm(s.url+"/translate", url.Values{"q": {text}, "source": {"en"}, "target": {"fr"}, "api_key": {key}})
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	defer r.Body.Close()
	var answer struct{ TranslatedText string }
	if err := json.NewDecoder(r.Body).Decode(&answer); err != nil {
		t.Error(err)
	}
	return r.StatusCode, answer.TranslatedText
}

// waitFor reads the log up to a line with a message, which must be the next but those of requests.
func (s *server) waitFor(t *testing.T, message string) {
	t.Helper()
	for {
		line, err := s.log.ReadString('\n')
		if err != nil {
			t.Fatalf("no %q in the log: %v", message, err)
		}
		if strings.Contains(line, message) {
			return
		}
		if !strings.Contains(line, `"msg":"request"`) {
			t.Fatalf("the log has %s, want %q", line, message)
		}
	}
}

// newKey returns a key and its line in a file of keys.
func newKey(t *testing.T, name string) (key, line string) {
	t.Helper()
	said := mustRun(t, "", "serve", "-new-key", name).stdout
	found := regexp.MustCompile(`^key, which is shown only now: (\S+)\nline for -keys: +(\S+ ` + name + `)\n$`).FindStringSubmatch(said)
	if found == nil {
		t.Fatalf("serve -new-key prints %q", said)
	}
	return found[1], found[2]
}

// A server gives the translations of 'tfm translate', reads its keys again after SIGHUP, keeps them
// if the file is faulty, and ends after SIGTERM. Its log has no text, key or address.
func TestServe(t *testing.T) {
	needSignal(t, syscall.SIGHUP)
	needSignal(t, syscall.SIGTERM)
	m := inLanguages(t, toyModel(t), "en", "fr")
	first, firstLine := newKey(t, "first")
	second, secondLine := newKey(t, "second")
	keys := write(t, "keys", firstLine+"\n")
	s := startServer(t, "-keys", keys, m)
	lines := strings.Split(strings.TrimSpace(read(t, toy.testSrc)), "\n")
	want := strings.Split(mustRun(t, strings.Join(lines, "\n")+"\n", "translate", "-model", m).stdout, "\n")

	wantStatus := func(key string, want int) {
		t.Helper()
		if status, _ := s.translate(t, lines[0], key); status != want {
			t.Errorf("status %d, want %d", status, want)
		}
	}
	wantStatus("", http.StatusBadRequest)
	wantStatus(first, http.StatusOK)
	wantStatus(second, http.StatusForbidden)
	reload := func(content, message string) {
		t.Helper()
		noError(t, os.WriteFile(keys, []byte(content), 0o666))
		s.Process.Signal(syscall.SIGHUP)
		s.waitFor(t, message)
	}
	reload(secondLine+"\n", `"reloaded"`)
	wantStatus(first, http.StatusForbidden)
	wantStatus(second, http.StatusOK)
	reload("no key\n", filepath.Base(keys)+":1: found another first word, expected the SHA-256 of a key")
	wantStatus(second, http.StatusOK)

	var sent sync.WaitGroup
	for i, line := range lines {
		sent.Go(func() {
			if status, got := s.translate(t, line, second); status != http.StatusOK || got != want[i] {
				t.Errorf("%q: status %d, %q, want %q", line, status, got, want[i])
			}
		})
	}
	sent.Wait()
	s.Process.Signal(syscall.SIGTERM)
	log, err := io.ReadAll(s.log)
	if err := s.Wait(); err != nil {
		t.Error(err)
	}
	for _, secret := range []string{lines[0], second, "127.0.0.1"} {
		if err != nil || strings.Contains(string(log), secret) {
			t.Errorf("the log has %q, %v:\n%s", secret, err, log)
		}
	}
	if got, want := strings.Count(string(log), `"route":"/translate","status":200`), len(lines); got < want {
		t.Errorf("%d translations in the log, want %d or more:\n%s", got, want, log)
	}
}
