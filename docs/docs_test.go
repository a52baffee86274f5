package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The pictures in the tree are those that the program draws.
func TestPicturesAreUpToDate(t *testing.T) {
	for name, draw := range pictures {
		want, err := draw(".")
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Errorf("%s differs from what go run ./docs draws", name)
		}
		if len(got) >= 30_000 {
			t.Errorf("%s has %d bytes, want less than 30,000", name, len(got))
		}
		for _, want := range []string{"<title id", "<desc id", "prefers-color-scheme: dark", "<text "} {
			if !strings.Contains(string(got), want) {
				t.Errorf("%s has no %s", name, want)
			}
		}
		d := xml.NewDecoder(strings.NewReader(string(got)))
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
}

// Every figure of peers.svg is in the sections of BENCHMARKS.md about training steps and peers.
func TestFiguresAreThoseOfBenchmarks(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "BENCHMARKS.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, sections, ok := strings.Cut(string(data), "\n## A training step\n")
	if !ok {
		t.Fatal(`BENCHMARKS.md has no section "A training step"`)
	}
	sections, _, _ = strings.Cut(sections, "\n## Matrix products\n")
	words := strings.FieldsFunc(sections, func(r rune) bool { return strings.ContainsRune(" \n*|()", r) })
	found := map[string]bool{}
	for _, w := range words {
		found[strings.TrimRight(w, ",;.")] = true
	}
	for _, ch := range peers {
		for _, p := range ch.programs {
			if p.value > 0 && !found[p.figure] {
				t.Errorf("%s, %s: BENCHMARKS.md has no figure %s", ch.title, p.name, p.figure)
			}
		}
	}
}
