package text

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"tfm/internal/texttest"
)

func collect[T any](seq iter.Seq2[T, error]) ([]T, error) {
	var all []T
	for x, err := range seq {
		if err != nil {
			return all, err
		}
		all = append(all, x)
	}
	return all, nil
}

func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func gzipped(s string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, s)
	z.Close()
	return b.String()
}

func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if err == nil || !strings.Contains(err.Error(), p) {
			t.Errorf("error %v, want one with %q", err, p)
		}
	}
}

func TestLines(t *testing.T) {
	long := strings.Repeat("é", MaxLine/2)
	for _, c := range []struct {
		name, content string
		want          []string
	}{
		{"lf", "a\nb c\n", []string{"a", "b c"}},
		{"crlf", "a\r\nb\r\n", []string{"a", "b"}},
		{"mixed", "a\r\nb\n\r\nc\rd\n", []string{"a", "b", "", "c\rd"}},
		{"no final newline", "a\nb", []string{"a", "b"}},
		{"final CR", "a\r", []string{"a\r"}},
		{"empty lines", "\n\n", []string{"", ""}},
		{"one empty line", "\n", []string{""}},
		{"byte order mark", "\uFEFFa\n\uFEFFb\n", []string{"a", "\uFEFFb"}},
		{"spaces kept", "  a\t b \n", []string{"  a\t b "}},
		{"other line ends kept", "a\u2028b\vc\fd\u0085e\n", []string{"a\u2028b\vc\fd\u0085e"}},
		{"longest", "a\n" + long + "\n", []string{"a", long}},
		{"longest with mark and CRLF", "\uFEFF" + long + "\r\nb", []string{long, "b"}},
		{"longest at the end", long, []string{long}},
		{"longer than the buffer", strings.Repeat("x", 1<<17) + "\ny\n", []string{strings.Repeat("x", 1<<17), "y"}},
		{"a byte of gzip", "\x1f", []string{"\x1f"}},
		{"name.gz", gzipped("a\nb\n"), []string{"a", "b"}},
		{"gzip without .gz", gzipped("\uFEFFa\r\nb"), []string{"a", "b"}},
		{"members.gz", gzipped("a\nb") + gzipped("c\n"), []string{"a", "bc"}},
	} {
		path := write(t, c.name, c.content)
		for range 2 {
			if got, err := collect(Lines(path)); err != nil || !slices.Equal(got, c.want) {
				t.Errorf("%s: lines %.100q, error %v; want %.100q", c.name, got, err, c.want)
			}
		}
	}
}

func TestLinesErrors(t *testing.T) {
	compressed := gzipped(strings.Repeat("0123456789\n", 1000))
	for name, c := range map[string]struct {
		content string
		want    string
	}{
		"empty":          {"", "empty: empty file"},
		"empty gzip":     {gzipped(""), "empty gzip: empty file"},
		"utf8":           {"ok\nab\xffc\n", "utf8:2: invalid UTF-8 at byte 3"},
		"utf8 truncated": {"é\nü\xc3", "utf8 truncated:2: invalid UTF-8 at byte 3"},
		"utf8 surrogate": {"\xed\xa0\x80", "utf8 surrogate:1: invalid UTF-8 at byte 1"},
		"utf8 overlong":  {"a\xc0\x80", "utf8 overlong:1: invalid UTF-8 at byte 2"},
		"utf8 mark":      {"\uFEFF\uFFFD\xff", "utf8 mark:1: invalid UTF-8 at byte 4"},
		"utf16":          {"\xff\xfea\x00\n\x00", "utf16:1: invalid UTF-8 at byte 1"},
		"long":           {"a\n" + strings.Repeat("x", MaxLine+1) + "\nb\n", "long:2: line longer than 1048576 bytes"},
		"long end":       {strings.Repeat("x", MaxLine+1), "long end:1: line longer than 1048576 bytes"},
		"very long":      {strings.Repeat("x", 3*MaxLine), "very long:1: line longer than 1048576 bytes"},
		"gzip bomb":      {gzipped(strings.Repeat("x", 3*MaxLine)), "gzip bomb:1: line longer than 1048576 bytes"},
		"plain.gz":       {"a\nb\n", "plain.gz: not a gzip file"},
		"empty.gz":       {"", "empty.gz: not a gzip file"},
		"header only":    {"\x1f\x8b", "header only: not a gzip file"},
		"truncated gzip": {compressed[:len(compressed)-3], "truncated gzip:1001: truncated gzip file: unexpected EOF"},
		"altered gzip":   {compressed[:len(compressed)-8] + "12345678", "altered gzip:1001: gzip: invalid checksum"},
		"gzip and plain": {compressed + "more", "gzip and plain:1001: "},
	} {
		_, err := collect(Lines(write(t, name, c.content)))
		wantError(t, err, c.want)
	}
	dir := t.TempDir()
	_, err := collect(Lines(dir))
	wantError(t, err, dir)
	_, err = collect(Lines(filepath.Join(dir, "missing")))
	wantError(t, err, filepath.Join(dir, "missing"))
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v, want one that wraps os.ErrNotExist", err)
	}
}

// Complete lines before a read error are yielded; the partial one is not.
func TestReadLinesFailure(t *testing.T) {
	got, err := collect(ReadLines(io.MultiReader(strings.NewReader("a\nb\npartial"), iotest.ErrReader(errors.New("disk on fire"))), "<stdin>"))
	if !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("lines before the error: %q, want a and b", got)
	}
	wantError(t, err, "<stdin>:3: disk on fire")
	if got, err := collect(ReadLines(strings.NewReader(""), "<stdin>")); err != nil || len(got) > 0 {
		t.Errorf("empty input: lines %q, error %v; want none", got, err)
	}
}

// A typed line is yielded before the next is read, even an empty first line.
func TestReadLinesDoesNotWait(t *testing.T) {
	r, w := io.Pipe()
	defer r.Close()
	next, stop := iter.Pull2(ReadLines(r, "<stdin>"))
	defer stop()
	for _, line := range []string{"", "a", ""} {
		go io.WriteString(w, line+"\n")
		if got, err, ok := next(); got != line || err != nil || !ok {
			t.Errorf("next() = %q, %v, %v; want %q", got, err, ok, line)
		}
	}
}

// terminal continues after each end of input.
type terminal struct{ inputs []string }

func (r *terminal) Read(p []byte) (int, error) {
	if len(r.inputs) == 0 {
		panic("read after the end of the test")
	}
	n := copy(p, r.inputs[0])
	r.inputs = r.inputs[1:]
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// The first end of input of a terminal is the end, at the start, after a line and within one.
func TestReadLinesEndsAtTheFirstEOF(t *testing.T) {
	for _, c := range []struct{ inputs, want []string }{
		{[]string{"", "late\n"}, nil},
		{[]string{"a\n", "", "late\n"}, []string{"a"}},
		{[]string{"a\nb", "", "late\n"}, []string{"a", "b"}},
	} {
		if got, err := collect(ReadLines(&terminal{c.inputs}, "terminal")); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("ReadLines(%q) = %q, %v, want %q", c.inputs, got, err, c.want)
		}
		var repaired []string
		for l, err := range RepairLines(&terminal{c.inputs}, "terminal") {
			if err != nil {
				t.Fatal(err)
			}
			repaired = append(repaired, l.Text)
		}
		if !slices.Equal(repaired, c.want) {
			t.Errorf("RepairLines(%q) = %q, want %q", c.inputs, repaired, c.want)
		}
	}
}

// The error of another encoding has the command that converts the file.
func TestEncodingHint(t *testing.T) {
	const gbk = " (GBK? convert it: iconv -f gb18030 -t utf-8)"
	for content, want := range map[string]string{
		"\xce\xd2\xc3\xc7\xca\xd4\xca\xd4\xb0\xc9\xa1\xa3\n":  gbk, // 我们试试吧。
		"Tom \xcf\xb2\xbb\xb6\xc4\xe3\xa1\xa3\n":              gbk, // Tom 喜欢你。
		"\xff\xfeh\x00i\x00\n\x00":                            " (UTF-16? convert it: iconv -f utf-16 -t utf-8)",
		"PK\x03\x04\x14\x00\x02\x00\x08\x00\xe1\xb6\n":        " (a zip archive: unzip it)",
		"Stra\xdfe, \xfcber, caf\xe9 cr\xe8me br\xfbl\xe9e\n": "", // Latin-1
		"a\xff\n": "",
	} {
		_, err := collect(Lines(write(t, "x", content)))
		if err == nil || !strings.HasSuffix(err.Error(), "expected text in UTF-8"+want) {
			t.Errorf("Lines(%q): %v, want the end %q", content, err, want)
		}
		for l, err := range RepairLines(strings.NewReader(content), "x") {
			if err != nil || len(l.Warnings) > 0 && !strings.HasSuffix(l.Warnings[0].Message, "replaced by U+FFFD"+want) {
				t.Errorf("RepairLines(%q): %+v, %v, want the end %q", content, l.Warnings, err, want)
			}
		}
	}
}

func TestPairs(t *testing.T) {
	src := write(t, "src", "\uFEFFa\r\n\nc")
	tgt := write(t, "tgt.gz", gzipped("A\nB\nC\n"))
	want := []Pair{{"a", "A", 1}, {"", "B", 2}, {"c", "C", 3}}
	if got, err := collect(Files{Source: src, Target: tgt}.Pairs()); err != nil || !slices.Equal(got, want) {
		t.Errorf("pairs %v, error %v; want %v", got, err, want)
	}
	for p, err := range (Files{Source: src, Target: tgt}.Pairs()) { // stopping early is allowed
		if err != nil || p != want[0] {
			t.Errorf("first pair %v, error %v; want %v", p, err, want[0])
		}
		break
	}
}

func TestPairsErrors(t *testing.T) {
	three, five := write(t, "three", "1\n2\n3\n"), write(t, "five", "1\n2\n3\n4\n5")
	empty, bad := write(t, "empty", ""), write(t, "bad", "1\n2\n3\n4\n\xff\n")
	got, err := collect(Files{Source: three, Target: five}.Pairs())
	wantError(t, err, three+" has 3", five+" has 5")
	if len(got) != 3 {
		t.Errorf("%d pairs of files of 3 and 5 lines, want 3", len(got))
	}
	_, err = collect(Files{Source: five, Target: three}.Pairs())
	wantError(t, err, three+" has 3", five+" has 5")
	_, err = collect(Files{Source: three, Target: empty}.Pairs())
	wantError(t, err, three+" has 3", empty+" has 0")
	_, err = collect(Files{Source: empty, Target: empty}.Pairs())
	wantError(t, err, "empty corpus", empty)
	_, err = collect(Files{Source: five, Target: bad}.Pairs())
	wantError(t, err, bad+":5: invalid UTF-8 at byte 1")
	_, err = collect(Files{Source: bad, Target: five}.Pairs())
	wantError(t, err, bad+":5: invalid UTF-8 at byte 1")
	_, err = collect(Files{Source: three, Target: bad}.Pairs()) // after the end of the shorter file
	wantError(t, err, bad+":5: invalid UTF-8 at byte 1")
	_, err = collect(Files{Source: three, Target: three + "x"}.Pairs())
	wantError(t, err, three+"x")
	_, err = collect(Files{Source: three + "x", Target: three}.Pairs())
	wantError(t, err, three+"x")
}

func TestPairsTSV(t *testing.T) {
	want := []Pair{{"a b", "A", 1}, {"", "B", 2}, {"c", "", 3}}
	if got, err := collect(Files{Source: write(t, "x.tsv", "a b\tA\r\n\tB\nc\t")}.Pairs()); err != nil || !slices.Equal(got, want) {
		t.Errorf("pairs %v, error %v; want %v", got, err, want)
	}
	for content, want := range map[string]string{
		"":                 "x.tsv: empty file",
		"a\tb\nc\n":        "x.tsv:2: found no tab, expected source, tab, target",
		"a\tb\tc\n":        "x.tsv:1: found 2 tabs, expected 1: source, tab, target",
		"a\tb\n\xff\tc":    "x.tsv:2: invalid UTF-8 at byte 1",
		"a\tb\n\nc\td\n":   "x.tsv:2: found no tab, expected source, tab, target",
		"a\tb\nc\td\n\t\t": "x.tsv:3: found 2 tabs, expected 1: source, tab, target",
	} {
		_, err := collect(Files{Source: write(t, "x.tsv", content)}.Pairs())
		wantError(t, err, want)
	}
}

func FuzzReadLines(f *testing.F) {
	for _, s := range []string{"", "a\nb\r\n\n", "\uFEFFé\xff", gzipped("a\nb"), "\x1f\x8b\x08"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		lines, err := collect(ReadLines(bytes.NewReader(data), "F"))
		if err != nil && !strings.HasPrefix(err.Error(), "F:") {
			t.Fatalf("error %v, want one that begins with the file's name", err)
		}
		for _, l := range lines {
			if strings.Contains(l, "\n") || !utf8.ValidString(l) || len(l) > MaxLine {
				t.Fatalf("line %q, want valid UTF-8 without LF", l)
			}
		}
		if bytes.HasPrefix(data, []byte(gzipMagic)) {
			return
		}
		if (err == nil) != (utf8.Valid(data)) {
			t.Fatalf("error %v for %q", err, data)
		}
		// Oracle: split the text as a whole.
		want := strings.SplitAfter(strings.TrimPrefix(string(data), "\uFEFF"), "\n")
		if n := len(want); want[n-1] == "" && !(n == 1 && len(data) > 0) {
			want = want[:n-1]
		}
		for i, l := range want {
			if l, ok := strings.CutSuffix(l, "\n"); ok {
				want[i] = strings.TrimSuffix(l, "\r")
			}
		}
		if err == nil && !slices.Equal(lines, want) {
			t.Fatalf("lines of %q: %q, want %q", data, lines, want)
		}
	})
}

func BenchmarkReadLines(b *testing.B) {
	text := strings.Join(texttest.Lines(20000), "\n")
	for _, form := range []string{"plain", "gzip"} {
		data := text
		if form == "gzip" {
			data = gzipped(text)
		}
		b.Run(fmt.Sprintf("form=%s", form), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for range b.N {
				for _, err := range ReadLines(strings.NewReader(data), "F") {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
