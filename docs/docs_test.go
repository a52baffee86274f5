package main

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"math"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"tfm/translate"
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

var (
	recordModel    = flag.String("model", "", "model file to translate -sentence with, for attention.json")
	recordSentence = flag.String("sentence", "", "sentence whose attention to write to attention.json")
	recordNote     = flag.String("note", "", "how the model was trained")
)

// With -model and -sentence, the test writes attention.json:
//
//	go test ./docs -run TestRecord -model zh-en.safetensors -sentence 我喜欢学习。 -note "…"
func TestRecord(t *testing.T) {
	if *recordModel == "" {
		t.Skip("optional: no -model")
	}
	tr, err := translate.Open(*recordModel, translate.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	results, err := tr.Do(context.Background(), translate.Request{Texts: []string{*recordSentence}, Attention: true})
	if err != nil {
		t.Fatal(err)
	}
	best := results[0].Translations[0]
	a := attention{Model: *recordNote}
	for _, token := range results[0].Tokens {
		a.Source = append(a.Source, (*recordSentence)[token.Start:token.End])
	}
	for _, token := range best.Tokens {
		a.Target = append(a.Target, best.Text[token.Start:token.End])
	}
	a.Source, a.Target = append(a.Source, "</s>"), append(a.Target, "</s>")
	for _, s := range append(a.Source, a.Target...) {
		if !utf8.ValidString(s) {
			t.Fatalf("token %q is a part of a character", s)
		}
	}
	for _, row := range best.Attention {
		var rounded []float64
		for _, w := range row {
			rounded = append(rounded, math.Round(float64(w)*1000)/1000)
		}
		a.Weights = append(a.Weights, rounded)
	}
	data, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(data), "],[", "],\n[") + "\n"
	if err := os.WriteFile("attention.json", []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}
