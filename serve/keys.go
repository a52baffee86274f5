package serve

import (
	"bufio"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// clientKeys are the keys of clients, by their SHA-256. They are safe for concurrent use.
type clientKeys map[[sha256.Size]byte]*clientKey

// clientKey is a key of a client with its limits; 0 is no limit.
type clientKey struct {
	name       string // in logs
	perMinute  int    // requests
	perDay     int    // requests
	characters int    // of a request

	mu     sync.Mutex
	minute window
	day    window
}

// window counts requests since a time.
type window struct {
	start time.Time
	count int
}

// readKeys reads a file of keys: a line for each, with its SHA-256 in hexadecimal, its name, and
// limits as per-minute=N, per-day=N and characters=N. Blank lines and those that begin with # are
// skipped. Errors name the line, without the key.
func readKeys(r io.Reader, name string) (clientKeys, error) {
	keys := clientKeys{}
	scanner := bufio.NewScanner(r)
	for n := 1; scanner.Scan(); n++ {
		fields := strings.Fields(scanner.Text())
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		fail := func(found, expected string) (clientKeys, error) {
			return nil, fmt.Errorf("%s:%d: found %s, expected %s", name, n, found, expected)
		}
		var hash [sha256.Size]byte
		if k, err := hex.Decode(hash[:], []byte(fields[0][:min(len(fields[0]), 2*sha256.Size)])); err != nil || k != sha256.Size || len(fields[0]) != 2*sha256.Size {
			return fail("another first word", "the SHA-256 of a key in 64 hexadecimal digits; 'tfm serve -new-key NAME' prints a line")
		}
		if len(fields) < 2 {
			return fail("no name", "one after the SHA-256")
		}
		key := &clientKey{name: fields[1]}
		limits := map[string]*int{"per-minute": &key.perMinute, "per-day": &key.perDay, "characters": &key.characters}
		for _, f := range fields[2:] {
			option, value, _ := strings.Cut(f, "=")
			limit, err := strconv.Atoi(value)
			if limits[option] == nil || err != nil || limit < 1 {
				return fail(strconv.Quote(f), "per-minute=N, per-day=N or characters=N")
			}
			*limits[option] = limit
		}
		if keys[hash] != nil {
			return fail("a key that is in an earlier line", "another one")
		}
		keys[hash] = key
	}
	if err := scanner.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return keys, nil
}

// readKeyFile reads the keys of a file.
func readKeyFile(path string) (clientKeys, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readKeys(f, path)
}

// NewKey returns a random key, and the line of a file of keys for it. The line does not have the
// key, which is nowhere else.
func NewKey(name string) (key, line string) {
	var secret [20]byte
	rand.Read(secret[:])
	key = "tfm-" + strings.ToLower(base32.StdEncoding.EncodeToString(secret[:]))
	hash := sha256.Sum256([]byte(key))
	return key, hex.EncodeToString(hash[:]) + " " + name
}

// find returns the key, or nil for an unknown one. The time does not depend on how much of a key is
// right, because its hash is looked up.
func (k clientKeys) find(key string) *clientKey { return k[sha256.Sum256([]byte(key))] }

// keepCounts continues the windows of the keys of old, which may be nil.
func (k clientKeys) keepCounts(old clientKeys) {
	for hash, key := range k {
		if before := old[hash]; before != nil {
			before.mu.Lock()
			key.minute, key.day = before.minute, before.day
			before.mu.Unlock()
		}
	}
}

// maxCharacters returns the largest limit of a key, 0 without one.
func (k clientKeys) maxCharacters() (n int) {
	for _, key := range k {
		n = max(n, key.characters)
	}
	return n
}

// admit counts a request, or refuses it with status 429.
func (k *clientKey) admit(now time.Time) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, l := range []struct {
		window *window
		length time.Duration
		limit  int
		text   string
	}{{&k.minute, time.Minute, k.perMinute, "minute"}, {&k.day, 24 * time.Hour, k.perDay, "day"}} {
		if age := now.Sub(l.window.start); age >= l.length {
			*l.window = window{start: now}
		} else if l.limit > 0 && l.window.count >= l.limit {
			return &statusError{
				status:     http.StatusTooManyRequests,
				message:    fmt.Sprintf("Slowdown: %d per 1 %s", l.limit, l.text),
				retryAfter: l.length - age,
			}
		}
	}
	k.minute.count++
	k.day.count++
	return nil
}

// keyOf returns the key of a request, from a parameter or the header Authorization, or "".
func keyOf(r *http.Request, p *params) string {
	for _, name := range []string{"api_key", "auth_key", "token"} {
		if key := p.text(name); key != "" {
			return key
		}
		if key := r.URL.Query().Get(name); key != "" {
			return key
		}
	}
	if _, key, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok {
		return strings.TrimSpace(key)
	}
	return ""
}
