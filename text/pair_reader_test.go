package text

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"tfm/internal/texttest"
)

// Seek returns to any place, of plain and gzipped files.
func TestPairReaderSeek(t *testing.T) {
	src, tgt, tsv := "\uFEFF", "", ""
	const n = 3000 // more than the buffers hold
	for i := range n {
		s, u := fmt.Sprint("source ", i, strings.Repeat("x", i%97)), fmt.Sprint("target ", i, strings.Repeat("é", i%31))
		src, tgt, tsv = src+s+"\r\n", tgt+u+"\n", tsv+s+"\t"+u+"\n"
	}
	for name, open := range map[string]func() (*PairReader, error){
		"plain": func() (*PairReader, error) {
			return Files{Source: write(t, "s", src), Target: write(t, "t", tgt)}.Open()
		},
		"gzip": func() (*PairReader, error) {
			return Files{Source: write(t, "s.gz", gzipped(src)), Target: write(t, "t.gz", gzipped(tgt))}.Open()
		},
		"mixed": func() (*PairReader, error) {
			return Files{Source: write(t, "s", src), Target: write(t, "t.gz", gzipped(tgt))}.Open()
		},
		"tsv":    func() (*PairReader, error) { return Files{Source: write(t, "p", tsv)}.Open() },
		"tsv.gz": func() (*PairReader, error) { return Files{Source: write(t, "p.gz", gzipped(tsv))}.Open() },
	} {
		r, err := open()
		if err != nil {
			t.Fatal(err)
		}
		var places []Place
		read := func(i int) {
			p, err := r.Next()
			want := Pair{fmt.Sprint("source ", i, strings.Repeat("x", i%97)), fmt.Sprint("target ", i, strings.Repeat("é", i%31)), i + 1}
			if err != nil || p != want {
				t.Fatalf("%s: pair %v, %v; want %v", name, p, err, want)
			}
		}
		for i := range n {
			places = append(places, r.Place())
			read(i)
		}
		if _, err := r.Next(); err != io.EOF {
			t.Errorf("%s: error %v after the last pair, want io.EOF", name, err)
		}
		for _, i := range []int{n - 1, 0, 1, 2, 1700, 1699, 2999, 5} {
			if err := r.Seek(places[i]); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for j := i; j < min(i+40, n); j++ {
				read(j)
			}
		}
		r.Close()
	}
}

func TestPairReaderSeekPastEnd(t *testing.T) {
	long, short := gzipped("a\nb\nc\n"), write(t, "s.gz", gzipped("a\n"))
	r, err := Files{Source: write(t, "long.gz", long)}.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for range 2 {
		r.source.next()
	}
	place := r.Place()
	s, err := Files{Source: short}.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	wantError(t, s.Seek(place), "s.gz", "ends after line 1, expected more than 2")
}

func TestPairReaderAllocatesNothing(t *testing.T) {
	const pairs = 4000
	r, err := Files{Source: write(t, "p", strings.Join(texttest.Lines(pairs), "\tx\n")+"\tx\n")}.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	read := func() {
		if err := r.Seek(Place{}); err != nil {
			t.Fatal(err)
		}
		for {
			if _, err := r.Next(); err == io.EOF {
				return
			} else if err != nil {
				t.Fatal(err)
			}
		}
	}
	read()
	if n := testing.AllocsPerRun(3, read); n > 0 {
		t.Errorf("%v allocations for %d pairs, want 0", n, pairs)
	}
}
