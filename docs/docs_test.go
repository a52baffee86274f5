package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
)

// The pictures in the tree are those that the program draws, or were drawn for good.
func TestPictures(t *testing.T) {
	for _, name := range []string{"peers.svg", "peers.zh.svg", "attention.svg", "attention.zh.svg"} {
		got, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if draw := pictures[name]; draw != nil {
			want, err := draw(".")
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != want {
				t.Errorf("%s differs from what go run ./docs draws", name)
			}
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

// A cell is found by the first cells of its table and row and the header of its column.
func TestCell(t *testing.T) {
	const document = "\n| a | x | y | x |\n| - | - | - | - |\n| r | 1 | | 3 |\n\n| b | x |\n| - | - |\n| q | 4 |\n"
	for _, c := range []struct{ table, row, column, want string }{
		{"a", "r", "x", "1"}, {"a", "r", "y", ""}, {"b", "q", "x", "4"},
		{"a", "q", "x", "no cell"}, {"b", "q", "y", "no cell"}, {"c", "r", "x", "no cell"},
	} {
		got, err := cell(document, c.table, c.row, c.column)
		if err != nil {
			got = "no cell"
		}
		if got != c.want {
			t.Errorf("cell of %s, %s, %s = %q, want %q", c.table, c.row, c.column, got, c.want)
		}
	}
}
