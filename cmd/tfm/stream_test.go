package main

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
	"tfm/train"
)

// streamOf is a stream of the toy's pairs in files of the test's own.
func streamOf(t *testing.T, window int, dropout float64, packed bool) (*stream, files) {
	t.Helper()
	src, tgt := toyCorpus(t)
	dir := t.TempDir()
	put := func(from, name string) string {
		content := []byte(read(t, from))
		if packed {
			var b bytes.Buffer
			z := gzip.NewWriter(&b)
			z.Write(content)
			z.Close()
			name, content = name+".gz", b.Bytes()
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	c := filesCorpus(put(src, "src"), put(tgt, "tgt"))
	learn := training{corpus: c, vocabSize: 320, joint: true}
	n, err := learn.learn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	s := newStream(c.files, *learn.tokens, holdOutOf(n), n, window, dropout, 1)
	t.Cleanup(s.close)
	return s, *c.files
}

func window(t *testing.T, s *stream, epoch, w int) *train.Pairs {
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

// All windows together are the corpus without the pairs that are held out; each comes again in any order, from plain
// and from packed files, to a stream that has read something else before.
func TestStream(t *testing.T) {
	src, tgt := toyCorpus(t)
	for _, packed := range []bool{false, true} {
		s, _ := streamOf(t, 200, 0, packed)
		if s.Windows() != 8 || s.pairs != 1487 {
			t.Fatalf("%d windows of %d pairs", s.Windows(), s.pairs)
		}
		var windows []*train.Pairs
		all := new(train.Pairs)
		for w := range s.Windows() {
			windows = append(windows, window(t, s, 0, w))
			if n := windows[w].Len(); n > 200 || n < 180 {
				t.Errorf("window %d has %d pairs", w, n)
			}
			for i := range windows[w].Len() {
				all.Add(windows[w].Src(i), windows[w].Tgt(i))
			}
		}
		want := new(train.Pairs)
		i := 0
		for p, err := range text.Pairs(src, tgt) {
			if err != nil {
				t.Fatal(err)
			}
			if !s.out.has(i) {
				want.Add(s.tokens.Source.Encode(nil, p.Source), s.tokens.Target.Encode(nil, p.Target))
			}
			i++
		}
		if !samePairs(all, want) {
			t.Errorf("packed %v: the windows are not the corpus", packed)
		}
		for n, w := range []int{3, 4, 5, 1, 0, 1, 7, 0, 6} {
			if !samePairs(window(t, s, n, w), windows[w]) {
				t.Errorf("packed %v: window %d is another the second time", packed, w)
			}
		}
	}
}

// With BPE-dropout an epoch's pairs are others than the last one's, and the same however the reader came there; their
// text is that of the corpus.
func TestStreamDropout(t *testing.T) {
	s, _ := streamOf(t, 400, 0.2, false)
	plain, _ := streamOf(t, 400, 0, false)
	first := window(t, s, 0, 0)
	second := window(t, s, 0, 1)
	later := window(t, s, 3, 1)
	if samePairs(second, later) {
		t.Error("two epochs are alike")
	}
	window(t, plain, 0, 0)
	if p := window(t, plain, 0, 1); samePairs(p, second) {
		t.Error("nothing is dropped")
	} else {
		for i := range p.Len() {
			if s.tokens.Source.Decode(second.Src(i)) != s.tokens.Source.Decode(p.Src(i)) || s.tokens.Target.Decode(second.Tgt(i)) != s.tokens.Target.Decode(p.Tgt(i)) {
				t.Fatalf("pair %d has another text", i)
			}
		}
	}
	again, _ := streamOf(t, 400, 0.2, true)
	if !samePairs(window(t, again, 0, 0), first) || !samePairs(window(t, again, 3, 1), later) || !samePairs(window(t, again, 0, 1), second) {
		t.Error("the same epoch is another in another order of reading")
	}
}

// Whatever happens to the files while a training uses them is found, with the file and about the line.
func TestStreamFindsChanges(t *testing.T) {
	for name, c := range map[string]struct {
		change func(f files, src, tgt string) error
		says   func(f files) string
	}{
		"source": {func(f files, src, tgt string) error {
			return os.WriteFile(f.src, []byte(src[:len(src)-2]+"s\n"), 0o666)
		}, func(f files) string { return f.src + ":1281: lines 1281 to 1487 are not what they were" }},
		"target": {func(f files, src, tgt string) error {
			return os.WriteFile(f.tgt, []byte(strings.Replace(tgt, "rouge", "Rouge", 1)), 0o666)
		}, func(f files) string { return f.tgt + ":1: lines 1 to 256 are not what they were" }},
		"gone":    {func(f files, src, tgt string) error { return os.Remove(f.tgt) }, func(f files) string { return f.tgt }},
		"shorter": {func(f files, src, tgt string) error { return os.Truncate(f.src, 5000) }, func(f files) string { return "unequal line counts: " + f.src }},
		"both shorter": {func(f files, src, tgt string) error {
			os.WriteFile(f.src, []byte("the red dog\n"), 0o666)
			return os.WriteFile(f.tgt, []byte("le chien rouge\n"), 0o666)
		}, func(f files) string { return f.src + ":1: the end, expected 1,487 lines as when the training began" }},
		"longer": {func(f files, src, tgt string) error {
			os.WriteFile(f.src, []byte(src+"x\n"), 0o666)
			return os.WriteFile(f.tgt, []byte(tgt+"y\n"), 0o666)
		}, func(f files) string { return f.src + ":1488: a line more" }},
		"no UTF-8": {func(f files, src, tgt string) error {
			return os.WriteFile(f.src, []byte(strings.Replace(src, "\n", "\xff\n", 1)), 0o666)
		}, func(f files) string { return f.src + ":1: invalid UTF-8" }},
	} {
		s, f := streamOf(t, 2000, 0, false)
		src, tgt := read(t, f.src), read(t, f.tgt)
		window(t, s, 0, 0)
		if err := c.change(f, src, tgt); err != nil {
			t.Fatal(err)
		}
		err := s.Read(context.Background(), new(train.Pairs), 1, 0)
		if err == nil || !strings.Contains(err.Error(), c.says(f)) {
			t.Errorf("%s: %v, want it to say %q", name, err, c.says(f))
		}
	}
}

func TestStreamIsInterrupted(t *testing.T) {
	s, _ := streamOf(t, 200, 0, false)
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(fmt.Errorf("ctrl-c"))
	if err := s.Read(ctx, new(train.Pairs), 0, 0); err == nil || err.Error() != "ctrl-c" {
		t.Error(err)
	}
}

// A stream of one window trains as the corpus in memory does, a resume reads only what it is told, and what the windows
// are cannot be changed.
func TestTrainStreamed(t *testing.T) {
	memory, m1 := trainArgs(t, "-steps", "12")
	mustRun(t, "", memory...)
	args, m2 := trainArgs(t, "-shuffle-window", "500", "-bpe-dropout", "0.1")
	o := mustRun(t, "", append(args, "-steps", "12")...)
	for _, want := range []string{"1,487 from", "495 at a time are in memory", "merges dropped with probability 0.1"} {
		if !strings.Contains(o.stderr, want) {
			t.Errorf("not told: %q\n%s", want, o.stderr)
		}
	}
	if read(t, m1) == read(t, m2) {
		t.Error("windows and BPE-dropout change nothing")
	}
	short := args[:7]
	mustFail(t, runTFM(t, "", append(args, "-resume", "-shuffle-window", "600")...), 2, "-shuffle-window 600", "-shuffle-window 500")
	mustFail(t, runTFM(t, "", append(args, "-resume", "-bpe-dropout", "0")...), 2, "-bpe-dropout 0", "-bpe-dropout 0.1")
	mustFail(t, runTFM(t, "", append(args, "-force", "-bpe-dropout", "1.5")...), 2, "-bpe-dropout is 1.5, expected 0 to 1")
	mustRun(t, "", append(short, "-resume", "-steps", "14")...)
	straight, m3 := trainArgs(t, "-shuffle-window", "500", "-bpe-dropout", "0.1", "-steps", "14")
	mustRun(t, "", straight...)
	if read(t, m2) != read(t, m3) {
		t.Error("a streamed run that was resumed gives another model")
	}

	// Held out pairs are not in the windows.
	valid, _ := trainArgs(t, "-shuffle-window", "500", "-steps", "2", "-valid-every", "2")
	if o := mustRun(t, "", valid...); !strings.Contains(o.stderr, "14, one in 106 held out") || !strings.Contains(o.stderr, "1,473 from") || !strings.Contains(o.stderr, "BLEU") {
		t.Errorf("held out:\n%s", o.stderr)
	}
}
