package translate_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"testing"

	"tfm/model/decode"
	"tfm/text"
	"tfm/translate"
)

func mended(s string) iter.Seq2[text.Line, error] {
	return text.RepairLines(strings.NewReader(s), "in")
}

// collect returns the translations of all lines, and the error at the end.
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

// A line of output for each of input, whatever is in it and however many are translated together.
func TestLines(t *testing.T) {
	tr := open(t, translate.Options{Threads: 2})
	sources, targets := phrases()
	input := strings.Join(sources, "\n") + "\n\n \n\xff\nthe red dog\r\n" + strings.Repeat("the cat ", 200) + "\nthe old tree"
	mine := []string{"not", "to", "be", "touched"}
	for _, batch := range []int{0, 1, 3, 1000} {
		var warnings []string
		o := translate.LineOptions{Request: translate.Request{Texts: mine}, Batch: batch, Warn: func(w text.Warning) { warnings = append(warnings, w.Message) }}
		got, err := collect(tr, mended(input), o)
		if err != nil || len(got) != len(sources)+6 {
			t.Fatalf("batches of %d: %d lines, %v, want %d", batch, len(got), err, len(sources)+6)
		}
		end := got[len(sources):]
		if !slices.Equal(got[:len(sources)], targets) || end[0] != "" || end[1] != "" || end[3] != "le chien rouge" || end[5] != "le arbre vieux" {
			t.Errorf("batches of %d: %q", batch, got)
		}
		want := []string{
			"in:19: invalid UTF-8 at byte 1, replaced by U+FFFD",
			fmt.Sprintf("in:21: %d tokens, truncated to 31", len(tr.Tokenizers().Source.Encode(nil, strings.Repeat("the cat ", 200)))),
		}
		if !slices.Equal(warnings, want) {
			t.Errorf("batches of %d: warned %q, want %q", batch, warnings, want)
		}
		if mine[0] != "not" || mine[3] != "touched" {
			t.Errorf("the options' texts have become %q", mine)
		}
	}
}

// Draws are numbered through the lines that have a word, however these are cut into batches.
func TestLinesNumberDraws(t *testing.T) {
	tr := open(t, translate.Options{Threads: 1})
	o := translate.LineOptions{}
	o.Decode = decode.DefaultOptions()
	o.Decode.Sample, o.Decode.Temperature = true, 5
	input := strings.Repeat("the red dog\n", 20)
	want, err := collect(tr, mended(input), o)
	if err != nil || len(slices.Compact(slices.Sorted(slices.Values(want)))) < 5 {
		t.Fatalf("drew %q, %v", want, err)
	}
	for _, o.Batch = range []int{1, 7} {
		if got, err := collect(tr, mended(input), o); err != nil || !slices.Equal(got, want) {
			t.Errorf("in batches of %d drew %q, %v, want %q", o.Batch, got, err, want)
		}
		got, err := collect(tr, mended(strings.ReplaceAll(input, "\n", "\n\n")), o)
		if err != nil || !slices.Equal(slices.DeleteFunc(got, func(s string) bool { return s == "" }), want) {
			t.Errorf("with empty lines between drew %q, %v, want %q", got, err, want)
		}
	}
}

// Who asks a question and waits for the answer before the next gets one at a time.
func TestLinesAnswerAtOnce(t *testing.T) {
	tr := open(t, translate.Options{Threads: 1})
	r, w := io.Pipe()
	answers := make(chan []translate.Line)
	go func() {
		defer close(answers)
		for batch, err := range tr.Lines(background, text.RepairLines(r, "pipe"), translate.LineOptions{}) {
			if err != nil {
				t.Error(err)
			}
			answers <- batch
		}
	}()
	for _, question := range []string{"the red dog", "", "the old tree"} {
		io.WriteString(w, question+"\n")
		if batch := <-answers; len(batch) != 1 || batch[0].Text != question {
			t.Errorf("asked %q, answered %+v", question, batch)
		}
	}
	w.Close()
	if batch, ok := <-answers; ok {
		t.Errorf("after the end %+v", batch)
	}
}

// What comes before an error is answered, and the reader ends when nobody reads any more.
func TestLinesEnd(t *testing.T) {
	tr := open(t, translate.Options{Threads: 1})
	cause := errors.New("unplugged")
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
		t.Errorf("%q before %v", got, err)
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
			t.Fatalf("cancelled: batch %d has %d lines, %v", batches, len(batch), err)
		}
	}
	<-ended
	if _, err := collect(tr, stream(1, nil), translate.LineOptions{Batch: -1}); err == nil || err.Error() != "batch is -1, expected 0 or more" {
		t.Errorf("a batch of -1: %v", err)
	}
}
