package corpus

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tfm/text"
	"tfm/text/tokenizer/vocab"
	"tfm/train"
)

// toyFiles writes a corpus of 1,487 pairs and returns its files.
func toyFiles(t *testing.T, gzipped bool) (src, tgt string) {
	t.Helper()
	adjectives := [][2]string{{"red", "rouge"}, {"black", "noir"}, {"small", "petit"}, {"big", "grand"}, {"old", "vieux"}, {"new", "neuf"}, {"good", "bon"}, {"bad", "mauvais"}}
	nouns := [][2]string{{"dog", "chien"}, {"cat", "chat"}, {"house", "maison"}, {"tree", "arbre"}, {"book", "livre"}, {"car", "voiture"}, {"table", "table"}, {"hand", "main"}}
	verbs := [][2]string{{"sees", "voit"}, {"takes", "prend"}, {"likes", "aime"}}
	var source, target strings.Builder
	i := 0
	for _, a := range adjectives {
		for _, n := range nouns {
			for _, v := range verbs {
				for _, o := range nouns {
					if i++; i%31 != 0 {
						fmt.Fprintf(&source, "the %s %s %s the %s\n", a[0], n[0], v[0], o[0])
						fmt.Fprintf(&target, "le %s %s %s le %s\n", n[1], a[1], v[1], o[1])
					}
				}
			}
		}
	}
	return write(t, "src", source.String(), gzipped), write(t, "tgt", target.String(), gzipped)
}

// write writes a file into a new folder.
func write(t *testing.T, name, content string, gzipped bool) string {
	t.Helper()
	if gzipped {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		z.Write([]byte(content))
		z.Close()
		name, content = name+".gz", b.String()
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// streamOf returns a stream of the toy corpus.
func streamOf(t *testing.T, window int, gzipped bool) (*stream, text.Files, vocab.Tokenizers) {
	t.Helper()
	source := Files(toyFiles(t, gzipped))
	var trainer vocab.Trainer
	n := 0
	for p, err := range source.pairs {
		if err != nil {
			t.Fatal(err)
		}
		trainer.Add(p)
		n++
	}
	tokens, err := trainer.Train(320, true)
	if err != nil {
		t.Fatal(err)
	}
	o := train.DefaultOptions()
	o.ShuffleWindow = window
	s, err := newStream(source, [2]encoder{tokens.Source.Encode, tokens.Target.Encode}, affixes{}, map[int]bool{19: true, n - 1: true}, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.close)
	return s, source.parts[0].Files, tokens
}

func window(t *testing.T, s train.Stream, epoch, w int) *train.Pairs {
	t.Helper()
	p := new(train.Pairs)
	if err := s.Read(context.Background(), p, epoch, w); err != nil {
		t.Fatal(err)
	}
	return p
}

func samePairs(p, q *train.Pairs) bool {
	if p.Len() != q.Len() {
		return false
	}
	for i := range p.Len() {
		if !slices.Equal(p.Src(i), q.Src(i)) || !slices.Equal(p.Tgt(i), q.Tgt(i)) {
			return false
		}
	}
	return true
}

// The windows together are the corpus without the held-out pairs. They can be read repeatedly and
// in any order, from plain and gzipped files.
func TestStream(t *testing.T) {
	src, tgt := toyFiles(t, false)
	for _, gzipped := range []bool{false, true} {
		s, _, v := streamOf(t, 200, gzipped)
		if s.Windows() != 8 || s.pairs != 1487 {
			t.Fatalf("%d windows of a corpus of %d pairs, want 8 of 1,487", s.Windows(), s.pairs)
		}
		var windows []*train.Pairs
		all := new(train.Pairs)
		for w := range s.Windows() {
			windows = append(windows, window(t, s, 0, w))
			if n := windows[w].Len(); n > 200 || n < 170 {
				t.Errorf("window %d has %d pairs, want 170 to 200", w, n)
			}
			for i := range windows[w].Len() {
				all.Add(windows[w].Src(i), windows[w].Tgt(i))
			}
		}
		want := new(train.Pairs)
		i := 0
		for p, err := range (text.Files{Source: src, Target: tgt}).Pairs() {
			if err != nil {
				t.Fatal(err)
			}
			if !s.heldOut[i] {
				want.Add(v.Source.Encode(nil, p.Source), v.Target.Encode(nil, p.Target))
			}
			i++
		}
		if !samePairs(all, want) {
			t.Errorf("gzipped %v: the windows together differ from the corpus", gzipped)
		}
		for n, w := range []int{3, 4, 5, 1, 0, 1, 7, 0, 6} {
			if !samePairs(window(t, s, n, w), windows[w]) {
				t.Errorf("gzipped %v: window %d differs when read again", gzipped, w)
			}
		}
	}
}

// Changes of the files during a training are errors with the file and the approximate line.
func TestStreamDetectsChanges(t *testing.T) {
	for name, c := range map[string]struct {
		change func(f text.Files, src, tgt string) error
		want   func(f text.Files) string
	}{
		"source": {func(f text.Files, src, tgt string) error {
			return os.WriteFile(f.Source, []byte(src[:len(src)-2]+"s\n"), 0o666)
		}, func(f text.Files) string { return f.Source + ":1281: lines 1281 to 1487 have changed" }},
		"target": {func(f text.Files, src, tgt string) error {
			return os.WriteFile(f.Target, []byte(strings.Replace(tgt, "rouge", "Rouge", 1)), 0o666)
		}, func(f text.Files) string { return f.Target + ":1: lines 1 to 256 have changed" }},
		"gone":    {func(f text.Files, src, tgt string) error { return os.Remove(f.Target) }, func(f text.Files) string { return f.Target }},
		"shorter": {func(f text.Files, src, tgt string) error { return os.Truncate(f.Source, 5000) }, func(f text.Files) string { return "unequal line counts: " + f.Source }},
		"both shorter": {func(f text.Files, src, tgt string) error {
			os.WriteFile(f.Source, []byte("the red dog\n"), 0o666)
			return os.WriteFile(f.Target, []byte("le chien rouge\n"), 0o666)
		}, func(f text.Files) string {
			return f.Source + ":1: found the end of the file, expected 1,487 lines: the file has changed"
		}},
		"longer": {func(f text.Files, src, tgt string) error {
			os.WriteFile(f.Source, []byte(src+"x\n"), 0o666)
			return os.WriteFile(f.Target, []byte(tgt+"y\n"), 0o666)
		}, func(f text.Files) string { return f.Source + ":1488: found another line, expected 1,487 lines" }},
		"no UTF-8": {func(f text.Files, src, tgt string) error {
			return os.WriteFile(f.Source, []byte(strings.Replace(src, "\n", "\xff\n", 1)), 0o666)
		}, func(f text.Files) string { return f.Source + ":1: invalid UTF-8" }},
	} {
		s, f, _ := streamOf(t, 2000, false)
		src, tgt := read(t, f.Source), read(t, f.Target)
		window(t, s, 0, 0)
		if err := c.change(f, src, tgt); err != nil {
			t.Fatal(err)
		}
		err := s.Read(context.Background(), new(train.Pairs), 1, 0)
		if err == nil || !strings.Contains(err.Error(), c.want(f)) {
			t.Errorf("%s: error %v, want %q in it", name, err, c.want(f))
		}
	}
}

func TestCancelledContext(t *testing.T) {
	s, _, _ := streamOf(t, 200, false)
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(fmt.Errorf("ctrl-c"))
	_, err := Read(ctx, Options{Train: Files(toyFiles(t, false)), VocabSize: 320}, train.DefaultOptions())
	for _, err := range []error{err, s.Read(ctx, new(train.Pairs), 0, 0)} {
		if err == nil || err.Error() != "ctrl-c" {
			t.Errorf("error %v, want the cause of the context", err)
		}
	}
}
