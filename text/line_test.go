package text

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"
)

func repair(t *testing.T, r io.Reader) []Line {
	t.Helper()
	var lines []Line
	for l, err := range RepairLines(r, "in") {
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, l)
	}
	return lines
}

// Lines after one of invalid UTF-8 and after an overlong one are read, and warnings name both.
func TestRepairLines(t *testing.T) {
	long := strings.Repeat("é", MaxLine/2) // MaxLine bytes
	input := "\uFEFFgood\r\n\xffbad \xe4\xb8\n\nlast\uFFFD\n" + long + "\n" + long + "x\n" + "a" + long + "\xff\r\n" + strings.Repeat("y", 5*MaxLine) + "\nend"
	want := []struct {
		text     string
		warnings []Warning
	}{
		{"good", nil},
		{"\uFFFDbad \uFFFD", []Warning{{InvalidUTF8, "in:2: invalid UTF-8 at byte 1, replaced by U+FFFD"}}},
		{"", nil},
		{"last\uFFFD", nil}, // U+FFFD itself is valid
		{long, nil},
		{long, []Warning{{LongLine, "in:6: line of 1048577 bytes truncated to 1048576"}}},
		{"a" + long[:len(long)-2], []Warning{{LongLine, "in:7: line of 1048579 bytes truncated to 1048575"}}},
		{strings.Repeat("y", MaxLine), []Warning{{LongLine, "in:8: line of 5242880 bytes truncated to 1048576"}}},
		{"end", nil},
	}
	for name, r := range map[string]io.Reader{"at once": strings.NewReader(input), "in halves": iotest.HalfReader(strings.NewReader(input))} {
		lines := repair(t, r)
		if len(lines) != len(want) {
			t.Fatalf("%s: %d lines, want %d", name, len(lines), len(want))
		}
		for i, w := range want {
			if l := lines[i]; l.Text != w.text || !slices.Equal(l.Warnings, w.warnings) || l.File != "in" || l.Number != i+1 {
				t.Errorf("%s: line %d = %.40q… (%d bytes, %s:%d), warnings %v; want %.40q… (%d bytes, in:%d), %v",
					name, i+1, l.Text, len(l.Text), l.File, l.Number, l.Warnings, w.text, len(w.text), i+1, w.warnings)
			}
		}
	}
	if lines := repair(t, strings.NewReader("")); len(lines) != 0 {
		t.Errorf("RepairLines of an empty text = %v, want no lines", lines)
	}
	cause := errors.New("unplugged")
	n := 0
	for l, err := range RepairLines(io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(cause)), "in") {
		if n++; n == 1 && (l.Text != "a" || err != nil) || n == 2 && (!errors.Is(err, cause) || err.Error() != "in:2: unplugged") || n > 2 {
			t.Errorf("line %d = %+v, %v; want \"a\", then the error of the reader", n, l, err)
		}
	}
}

// For any input the lines are valid, and those before the first invalid one equal ReadLines's.
func FuzzRepairLines(f *testing.F) {
	f.Add([]byte("a\xffb\r\n\n\xef\xbb\xbf"))
	f.Add([]byte("\x1f\x8b"))
	f.Fuzz(func(t *testing.T, data []byte) {
		strict := []string{}
		for l, err := range ReadLines(strings.NewReader(string(data)), "in") {
			if err == nil {
				strict = append(strict, l)
			}
		}
		n := 0
		for l, err := range RepairLines(strings.NewReader(string(data)), "in") {
			if err != nil {
				break
			}
			if !utf8.ValidString(l.Text) || len(l.Text) > 3*MaxLine || strings.ContainsRune(l.Text, '\n') {
				t.Fatalf("line %d = %q, want valid UTF-8 without LF", l.Number, l.Text)
			}
			if n < len(strict) && (l.Text != strict[n] || l.Warnings != nil) {
				t.Fatalf("line %d = %q, warnings %v; want %q, as of ReadLines", l.Number, l.Text, l.Warnings, strict[n])
			}
			n++
		}
		if n < len(strict) {
			t.Fatalf("%d lines, want at least the %d of ReadLines", n, len(strict))
		}
	})
}

func TestWarningsAreCounted(t *testing.T) {
	var shown []string
	w := Warnings{Show: func(s string) { shown = append(shown, s) }}
	for i := range 13 {
		w.Add(Warning{LongLine, fmt.Sprint("long ", i)})
		if i < 10 {
			w.Add(Warning{InvalidUTF8, fmt.Sprint("bad ", i)})
		}
	}
	w.Summarize()
	if len(shown) != 22 || shown[1] != "bad 0" || shown[18] != "long 9" || shown[20] != "counting further overlong lines without showing them" || shown[21] != "13 overlong lines in total" {
		t.Errorf("%d messages, want 22: %q", len(shown), shown)
	}
}

func TestIsBlank(t *testing.T) {
	for s, want := range map[string]bool{"": true, " \t\u3000\u2028": true, "a": false, " . ": false, "\x00": false} {
		if IsBlank(s) != want {
			t.Errorf("IsBlank(%q) = %v, want %v", s, !want, want)
		}
	}
}

func TestOneLine(t *testing.T) {
	// marked is the result with a bar where each byte of raw begins.
	for _, c := range []struct{ raw, want, marked string }{
		{"a b", "a b", "|a| |b|"},
		{"a\r\nb\rc\n", "a b c ", "|a| ||b| |c| |"},
		{"é\xff\xfeé\xe4\xb8", "é\uFFFDé\uFFFD", "|\xc3|\xa9|\uFFFD||\xc3|\xa9|\uFFFD||"},
		{"", "", "|"},
	} {
		got, edits := OneLine(c.raw)
		var marked strings.Builder
		for i := range len(c.raw) {
			r := edits.Range(Range{i, i + 1})
			marked.WriteString("|" + got[r.Start:r.End])
		}
		marked.WriteString("|")
		if got != c.want || marked.String() != c.marked {
			t.Errorf("OneLine(%q) = %q, with ranges %q; want %q, %q", c.raw, got, marked.String(), c.want, c.marked)
		}
	}
}
