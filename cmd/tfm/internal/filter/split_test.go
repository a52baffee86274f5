package filter

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"tfm/text"
)

// paragraphs returns the lines of JoinParagraphs with their numbers and warnings.
func paragraphs(t *testing.T, input string) (lines []text.Line) {
	t.Helper()
	for l, err := range JoinParagraphs(text.RepairLines(strings.NewReader(input), "in")) {
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, l)
	}
	return lines
}

func TestJoinParagraphs(t *testing.T) {
	lines := paragraphs(t, "\na\nb \r\n \n\nc\xff\nd\xff\n")
	var texts []string
	var numbers []int
	for _, l := range lines {
		texts, numbers = append(texts, l.Text), append(numbers, l.Number)
	}
	if want := []string{"", "a\nb ", " ", "", "c\uFFFD\nd\uFFFD"}; !slices.Equal(texts, want) {
		t.Errorf("JoinParagraphs = %q, want %q", texts, want)
	}
	if want := []int{1, 2, 4, 5, 6}; !slices.Equal(numbers, want) {
		t.Errorf("numbers %v, want %v", numbers, want)
	}
	if n := len(lines[4].Warnings); n != 2 {
		t.Errorf("%d warnings, want 2", n)
	}
}

// Paragraphs are bounded, end with their file, and precede an error.
func TestJoinParagraphsEnds(t *testing.T) {
	long := strings.Repeat(strings.Repeat("x", 99)+"\n", text.MaxLine/100*3)
	for _, l := range paragraphs(t, long) {
		if n := len(l.Text); n > text.MaxLine+100 || n < text.MaxLine/2 {
			t.Errorf("paragraph of %d bytes, want up to %d", n, text.MaxLine)
		}
	}
	broken := errors.New("broken")
	var got []string
	for l, err := range JoinParagraphs(func(yield func(text.Line, error) bool) {
		_ = yield(text.Line{File: "a", Number: 1, Text: "one"}, nil) && yield(text.Line{File: "b", Number: 1, Text: "two"}, nil) && yield(text.Line{}, broken)
	}) {
		if err != nil {
			got = append(got, err.Error())
		} else {
			got = append(got, l.Text)
		}
	}
	if want := []string{"one", "two", "broken"}; !slices.Equal(got, want) {
		t.Errorf("JoinParagraphs = %q, want %q", got, want)
	}
}
