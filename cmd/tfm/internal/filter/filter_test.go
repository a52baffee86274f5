package filter

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tfm/translate"
)

func TestNumber(t *testing.T) {
	for key, want := range map[string]uint64{"0": 0, "17": 17, "18446744073709551615": 1<<64 - 1} {
		if got := Number(key); got != want {
			t.Errorf("Number(%q) = %d, want %d", key, got, want)
		}
	}
	seen := map[uint64]string{}
	for _, key := range []string{"", "a", "b", "ab", "07", "-1", "1.0", "+1", "18446744073709551616"} {
		n := Number(key)
		if other, ok := seen[n]; ok || n < 1<<20 {
			t.Errorf("Number(%q) = %d, as of %q", key, n, other)
		}
		seen[n] = key
	}
}

// The size of the text of plain and gzipped files is known before they are read.
func TestTextSize(t *testing.T) {
	const text = "the old dog\nthe old dog\nthe old dog\nthe old dog\n"
	dir := t.TempDir()
	write := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	var gz bytes.Buffer
	w := gzip.NewWriter(&gz)
	w.Write([]byte(strings.Repeat(text, 10)))
	w.Close()
	plain, zipped := write("a", []byte(text)), write("b.gz", gz.Bytes())
	short, empty := write("c", gz.Bytes()[:3]), write("d", nil)
	for _, c := range []struct {
		files []string
		want  int64
	}{
		{[]string{plain}, int64(len(text))},
		{[]string{plain, zipped}, int64(11 * len(text))},
		{[]string{plain, short}, 0},
		{[]string{empty}, 0},
		{[]string{filepath.Join(dir, "none")}, 0},
	} {
		if got := TextSize(c.files); got != c.want {
			t.Errorf("TextSize(%q) = %d, want %d", c.files, got, c.want)
		}
	}
}

func TestProgressState(t *testing.T) {
	p := Progress{unit: "line", size: 1 << 12}
	for range 1 << 6 {
		p.Add(strings.Repeat("x", 15))
	}
	if got, want := p.state(20*time.Second), "64 lines, 3.2 a second, 25.0%, 1m0s left"; got != want {
		t.Errorf("state = %q, want %q", got, want)
	}
	if got, want := p.state(4*time.Hour), "64 lines, 0.0 a second, 25.0%, 12h0m left"; got != want {
		t.Errorf("state = %q, want %q", got, want)
	}
	p.size = 0
	if got, want := p.state(20*time.Second), "64 lines, 3.2 a second"; got != want {
		t.Errorf("state = %q, want %q", got, want)
	}
}

// Any line of input becomes one line of output.
func FuzzFormats(f *testing.F) {
	for _, line := range []string{"", "a\tb", `{"text":"a"}`, `{"text":"a"} x`, "{}", `{"error":1}`, "nul", `{"text":"a","score":1}`} {
		f.Add(line)
	}
	formats := map[string]Format{}
	for name, o := range map[string]Options{"plain": {}, "columns": {Column: "2"}, "json": {JSON: true, Key: "id"}} {
		format, err := o.Format(&Answer{Scores: true})
		if err != nil {
			f.Fatal(err)
		}
		formats[name] = format
	}
	f.Fuzz(func(t *testing.T, line string) {
		line = strings.NewReplacer("\n", "", "\r", "").Replace(strings.ToValidUTF8(line, "?"))
		for name, format := range formats {
			var out bytes.Buffer
			_, _, err := format.Parse(line)
			r := translate.Result{Translations: []translate.Translation{{Text: "le chien\tnoir", Score: -0.5}}}
			if err != nil {
				r = translate.Result{}
			}
			format.Write(&out, 0, line, &r, err)
			if s := out.String(); strings.Count(s, "\n") != 1 || !strings.HasSuffix(s, "\n") {
				t.Errorf("%s: %q becomes %q, want one line", name, line, s)
			}
			if name != "json" || strings.TrimSpace(line) == "" {
				continue
			}
			fields, err2 := objectFields(out.String())
			if err2 != nil {
				t.Errorf("%q becomes %q: %v", line, out.String(), err2)
			}
			if _, ok := fields["error"]; ok != (err != nil) && err == nil && !strings.Contains(line, "error") {
				t.Errorf("%q, error %v, becomes %q", line, err, out.String())
			}
		}
	})
}

// Pairs of a translation memory are written as TSV.
func TestOutputsOfMemory(t *testing.T) {
	for tsv, want := range map[string][2]string{"a/m.tmx": {"m.tsv", "test.tsv"}, "m.tmx.gz": {"m.tsv.gz", "test.tsv.gz"}, "m.txt": {"m.txt", "test.txt"}} {
		c := &Corpus{tsv: tsv}
		if got := [2]string{c.Outputs("")[0], c.SetOutputs("", "test")[0]}; got != want {
			t.Errorf("outputs of %s are %q, want %q", tsv, got, want)
		}
	}
}
