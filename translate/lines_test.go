package translate_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tfm/model/decode"
	"tfm/text"
	"tfm/text/tokenizer/vocab"
	"tfm/translate"
)

func mended(s string) iter.Seq2[text.Line, error] {
	return text.RepairLines(strings.NewReader(s), "in")
}

// collect returns the translations of all lines and the error that ends the sequence.
func collect(tr *translate.Translator, lines iter.Seq2[text.Line, error], o translate.LineOptions) (out []string, err error) {
	for batch, err := range tr.Lines(background, lines, o) {
		for _, l := range batch {
			out = append(out, l.Best())
		}
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

// Lines yields a line for each line of input, for any input and any size of batches.
func TestLines(t *testing.T) {
	tr := open(t, translate.Options{Threads: 2})
	sources, targets := phrases()
	input := strings.Join(sources, "\n") + "\n\n \n\xff\nthe red dog\r\n" + strings.Repeat("the cat ", 200) + "\nthe old tree"
	texts := []string{"not", "to", "be", "changed"}
	for _, batch := range []int{0, 1, 3, 1000} {
		var warnings []string
		o := translate.LineOptions{Request: translate.Request{Texts: texts}, Batch: batch, Warn: func(w text.Warning) { warnings = append(warnings, w.Kind+" "+w.Message) }}
		got, err := collect(tr, mended(input), o)
		if err != nil || len(got) != len(sources)+6 {
			t.Fatalf("batches of %d: %d lines, error %v, want %d lines", batch, len(got), err, len(sources)+6)
		}
		tail := got[len(sources):]
		if !slices.Equal(got[:len(sources)], targets) || tail[0] != "" || tail[1] != "" || tail[3] != "le chien rouge" || tail[5] != "le arbre vieux" {
			t.Errorf("batches of %d: translations %q", batch, got)
		}
		want := []string{
			text.InvalidUTF8 + " in:19: invalid UTF-8 at byte 1, replaced by U+FFFD",
			fmt.Sprintf(translate.TruncatedLine+" in:21: %d tokens, truncated to 31", len(tr.Tokenizers().Source.Encode(nil, strings.Repeat("the cat ", 200)))),
		}
		if !slices.Equal(warnings, want) {
			t.Errorf("batches of %d: warnings %q, want %q", batch, warnings, want)
		}
		if texts[0] != "not" || texts[3] != "changed" {
			t.Errorf("Lines changed the options' Texts to %q", texts)
		}
	}
}

// The random streams are numbered through the lines that are not blank, for any size of batches.
func TestLinesNumberDraws(t *testing.T) {
	tr := open(t, translate.Options{Threads: 1})
	o := translate.LineOptions{}
	o.Decode = decode.DefaultOptions()
	o.Decode.Sample, o.Decode.Temperature = true, 5
	input := strings.Repeat("the red dog\n", 20)
	want, err := collect(tr, mended(input), o)
	if err != nil || len(slices.Compact(slices.Sorted(slices.Values(want)))) < 5 {
		t.Fatalf("drew %q, error %v, want at least 5 different translations", want, err)
	}
	for _, o.Batch = range []int{1, 7} {
		if got, err := collect(tr, mended(input), o); err != nil || !slices.Equal(got, want) {
			t.Errorf("batches of %d: drew %q, error %v, want %q", o.Batch, got, err, want)
		}
		got, err := collect(tr, mended(strings.ReplaceAll(input, "\n", "\n\n")), o)
		if err != nil || !slices.Equal(slices.DeleteFunc(got, func(s string) bool { return s == "" }), want) {
			t.Errorf("with blank lines: drew %q, error %v, want %q", got, err, want)
		}
	}
}

// Lines yields a line before the next one arrives.
func TestLinesYieldAtOnce(t *testing.T) {
	tr := open(t, translate.Options{Threads: 1})
	r, w := io.Pipe()
	translated := make(chan []translate.Line)
	go func() {
		defer close(translated)
		for batch, err := range tr.Lines(background, text.RepairLines(r, "pipe"), translate.LineOptions{}) {
			if err != nil {
				t.Error(err)
			}
			translated <- batch
		}
	}()
	for _, line := range []string{"the red dog", "", "the old tree"} {
		io.WriteString(w, line+"\n")
		if batch := <-translated; len(batch) != 1 || batch[0].Text != line {
			t.Errorf("after line %q: %+v, want one line", line, batch)
		}
	}
	w.Close()
	if batch, ok := <-translated; ok {
		t.Errorf("after the end of the input: %+v", batch)
	}
}

// Text selects the text of a line, and Number the draws: a shuffled part of the lines draws the
// same with the numbers of the lines.
func TestLinesTextAndNumber(t *testing.T) {
	tr := open(t, translate.Options{Threads: 2, Concurrent: 1})
	var rows []string
	for i := range 40 {
		rows = append(rows, fmt.Sprintf("%d\tthe red dog", i))
	}
	rows = slices.Insert(rows, 7, "100\t", "101\t ")
	o := translate.LineOptions{
		Text: func(l text.Line) string { _, s, _ := strings.Cut(l.Text, "\t"); return s },
		Number: func(l text.Line) uint64 {
			key, _, _ := strings.Cut(l.Text, "\t")
			n, err := strconv.ParseUint(key, 10, 64)
			if err != nil {
				t.Error(err)
			}
			return n
		},
	}
	o.Decode = decode.DefaultOptions()
	o.Decode.Sample, o.Decode.Temperature = true, 5
	translations := func(rows []string) map[string]string {
		found := map[string]string{}
		for lines, err := range tr.Lines(background, mended(strings.Join(rows, "\n")), o) {
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range lines {
				found[l.Text] = l.Best()
			}
		}
		return found
	}
	all := translations(rows)
	if n := len(slices.Compact(slices.Sorted(maps.Values(all)))); len(all) != len(rows) || n < 10 || all["100\t"] != "" {
		t.Errorf("%d translations of %d lines, %d different: %v", len(all), len(rows), n, all)
	}
	slices.Reverse(rows)
	for line, got := range translations(rows[5:]) {
		if got != all[line] {
			t.Errorf("%q in another order: %q, want %q", line, got, all[line])
		}
	}
}

// However long a line waits to be yielded, Lines reads a limited number of lines and bytes ahead.
func TestLinesReadAheadIsLimited(t *testing.T) {
	tr := open(t, translate.Options{Threads: 1})
	for _, c := range []struct{ length, limit int }{{20, 1025}, {5 << 20, 5}} {
		var read atomic.Int32
		line := strings.Repeat("x", c.length)
		stream := func(yield func(text.Line, error) bool) {
			for read.Add(1); yield(text.Line{Text: line}, nil); read.Add(1) {
			}
		}
		o := translate.LineOptions{Batch: 3, Text: func(text.Line) string { return "the red dog" }}
		for range tr.Lines(background, stream, o) {
			for last := int32(-1); last != read.Load(); time.Sleep(50 * time.Millisecond) {
				last = read.Load()
			}
			// The yielded lines made room for others.
			if n := int(read.Load()); n > 2*c.limit {
				t.Errorf("lines of %d bytes: %d were read, want at most %d", c.length, n, 2*c.limit)
			}
			break
		}
	}
}

// Lines yields all lines before an error, and its reading goroutine ends when the loop does.
func TestLinesEnd(t *testing.T) {
	tr := open(t, translate.Options{Threads: 1})
	cause := errors.New("read error")
	ended := make(chan bool, 1)
	stream := func(n int, err error) iter.Seq2[text.Line, error] {
		return func(yield func(text.Line, error) bool) {
			defer func() { ended <- true }()
			for i := range n {
				if !yield(text.Line{File: "in", Number: i + 1, Text: "the red dog"}, nil) {
					return
				}
			}
			if err != nil {
				yield(text.Line{}, err)
			}
		}
	}
	if got, err := collect(tr, stream(3, cause), translate.LineOptions{}); !errors.Is(err, cause) || len(got) != 3 {
		t.Errorf("%d lines, error %v, want 3 and %v", len(got), err, cause)
	}
	<-ended
	for range tr.Lines(background, stream(1000, nil), translate.LineOptions{Batch: 2}) {
		break
	}
	<-ended

	ctx, cancel := context.WithCancel(background)
	defer cancel()
	batches := 0
	for batch, err := range tr.Lines(ctx, stream(1000, nil), translate.LineOptions{Batch: 2}) {
		if batches++; batches == 1 {
			cancel()
		} else if !errors.Is(err, context.Canceled) || batch != nil || batches > 2 {
			t.Fatalf("cancelled: batch %d has %d lines, error %v", batches, len(batch), err)
		}
	}
	<-ended
	if _, err := collect(tr, stream(1, nil), translate.LineOptions{Batch: -1}); err == nil || err.Error() != "batch is -1, expected 0 or more" {
		t.Errorf("Batch -1: error %v", err)
	}
}

// panicker is a tokenizer that panics on one text.
type panicker struct{ text.Tokenizer }

func (p panicker) Encode(dst []int32, s string) []int32 {
	if s == "panic" {
		panic("Encode of " + s)
	}
	return p.Tokenizer.Encode(dst, s)
}

// A panic in the translation of a line is repeated on the goroutine of the caller, after the lines
// before it, and leaves the Translator usable.
func TestLinesRepeatPanics(t *testing.T) {
	toy := open(t, translate.Options{Threads: 1, KeepModel: true})
	tokens := toy.Tokenizers()
	tr := newTranslator(t, toy.Model(), vocab.Tokenizers{Source: panicker{tokens.Source}, Target: tokens.Target}, translate.Options{Threads: 1, Concurrent: 1})
	lines := 0
	func() {
		defer func() {
			if got := recover(); got != "Encode of panic" {
				t.Errorf("panic %v, want that of Encode", got)
			}
		}()
		for batch, err := range tr.Lines(background, mended("the red dog\npanic\nthe old tree\n"), translate.LineOptions{}) {
			if lines += len(batch); err != nil {
				t.Error(err)
			}
		}
	}()
	if lines != 1 {
		t.Errorf("%d lines before the panic, want 1", lines)
	}
	if got, err := tr.Translate(background, []string{"the red dog"}); err != nil || got[0] != "le chien rouge" {
		t.Errorf("after the panic: %q, %v", got, err)
	}
}
