package shard

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The parts of a file have each line once, in order, for any number of parts and any lines.
func TestParts(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var b strings.Builder
		for range random.IntN(12) {
			b.WriteString(strings.Repeat("x", random.IntN(3)*random.IntN(20)) + "\n")
		}
		s := strings.TrimSuffix(b.String(), strings.Repeat("\n", random.IntN(2)))
		n := 1 + random.IntN(20)
		whole := ""
		end := int64(0)
		for i := range n {
			from, to, err := Part{i + 1, n}.in(strings.NewReader(s), int64(len(s)))
			if err != nil || from != end || to < from {
				t.Fatalf("%q: part %d of %d is %d to %d, %v, after %d", s, i+1, n, from, to, err, end)
			}
			if part := s[from:to]; part != "" && to < int64(len(s)) && !strings.HasSuffix(part, "\n") {
				t.Fatalf("%q: part %d of %d is %q", s, i+1, n, part)
			}
			whole, end = whole+s[from:to], to
		}
		if whole != s {
			t.Fatalf("%q: the parts are %q", s, whole)
		}
	}
	// A line that is longer than the buffer.
	long := bytes.Repeat([]byte("y"), 200_000)
	long[150_000] = '\n'
	if _, to, err := (Part{1, 3}).in(bytes.NewReader(long), int64(len(long))); err != nil || to != 150_001 {
		t.Errorf("a long line ends at %d, %v", to, err)
	}
}

// Of more parts than bytes most are empty.
func TestMorePartsThanBytes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "in")
	if err := os.WriteFile(path, []byte("a\nb"), 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	whole := ""
	for i := range 10 {
		d, err := stat(path, Part{i + 1, 10})
		if err != nil {
			t.Fatal(err)
		}
		part, err := io.ReadAll(d.section(f))
		if err != nil {
			t.Fatal(err)
		}
		whole += string(part)
	}
	if whole != "a\nb" {
		t.Errorf("the parts are %q", whole)
	}
}

func TestParsePart(t *testing.T) {
	for s, want := range map[string]Part{"": {}, "1/1": {1, 1}, "3/64": {3, 64}} {
		if p, err := ParsePart(s); err != nil || p != want {
			t.Errorf("%q is %v, %v", s, p, err)
		}
	}
	for _, s := range []string{"0/3", "4/3", "1", "/", "1/", "a/b", "1/2/3", "-1/2"} {
		if p, err := ParsePart(s); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q", s)) {
			t.Errorf("%q is %v, %v", s, p, err)
		}
	}
}
