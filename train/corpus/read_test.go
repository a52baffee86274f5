package corpus

import (
	"context"
	"errors"
	"fmt"
	"html"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"tfm/text"
	"tfm/train"
)

func mustRead(t *testing.T, c Options, o train.Options) *Corpus {
	t.Helper()
	r, err := Read(context.Background(), c, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

// Read's counts match its data.
func TestRead(t *testing.T) {
	src, tgt := toyFiles(t, false)
	valid := Files(write(t, "v", "the red dog\n\nthe new car sees the old tree\n", false), write(t, "v", "le chien rouge\nrien\nle voiture neuf voit le arbre\n", false))
	inMemory := func(yield func(text.Pair, error) bool) {
		for p, err := range (text.Files{Source: src, Target: tgt}).Pairs() {
			if !yield(p, err) {
				return
			}
		}
	}
	for _, c := range []struct {
		name                            string
		in                              Options
		change                          func(*train.Options)
		train, valid, unscored, windows int
	}{
		{"held out", Options{Train: Files(src, tgt)}, func(o *train.Options) {}, 1413, 74, 0, 1},
		{"no validation", Options{Train: Files(src, tgt)}, func(o *train.Options) { o.ValidEvery = 0 }, 1487, 0, 0, 1},
		{"validation files", Options{Train: Files(src, tgt), Valid: valid}, func(o *train.Options) {}, 1487, 3, 1, 1},
		{"validation files, no validation", Options{Train: Files(src, tgt), Valid: valid}, func(o *train.Options) { o.ValidEvery = 0 }, 1487, 0, 0, 1},
		{"too small to hold out", Options{Train: valid}, func(o *train.Options) {}, 3, 0, 0, 1},
		{"windows", Options{Train: Files(src, tgt)}, func(o *train.Options) { o.ShuffleWindow = 500 }, 1413, 74, 0, 3},
		{"one window", Options{Train: Files(src, tgt)}, func(o *train.Options) { o.ShuffleWindow = 1487 }, 1413, 74, 0, 1},
		{"not in files", Options{Train: Pairs("pairs", inMemory)}, func(o *train.Options) { o.ShuffleWindow = 500 }, 1413, 74, 0, 1},
	} {
		o := train.DefaultOptions()
		c.change(&o)
		c.in.VocabSize, c.in.Joint = 320, true
		r := mustRead(t, c.in, o)
		found := []int{r.TrainPairs, r.ValidPairs, r.Unscored, r.Windows}
		if want := []int{c.train, c.valid, c.unscored, c.windows}; !slices.Equal(found, want) {
			t.Errorf("%s: TrainPairs, ValidPairs, Unscored, Windows = %v, want %v", c.name, found, want)
		}
		if streamed := c.windows > 1; (r.Stream != nil) != streamed || (r.Train == nil) != streamed {
			t.Errorf("%s: has a Stream: %v, has Train: %v; want a stream: %v", c.name, r.Stream != nil, r.Train != nil, streamed)
		}
		pairs := new(train.Pairs)
		if r.Train != nil {
			pairs = r.Train
		} else {
			for w := range r.Stream.Windows() {
				p := window(t, r.Stream, 0, w)
				for i := range p.Len() {
					pairs.Add(p.Src(i), p.Tgt(i))
				}
			}
		}
		if pairs.Len() != c.train || len(r.References) != c.valid || c.valid > 0 && r.Valid.Len() != c.valid || c.valid == 0 && r.Valid != nil {
			t.Errorf("%s: %d training pairs and %d references, want %d and %d", c.name, pairs.Len(), len(r.References), c.train, c.valid)
		}
		for i, ref := range r.References {
			if found := r.Detokenize(r.Valid.Tgt(i)); found != ref {
				t.Errorf("%s: target of validation pair %d is %q, want the reference %q", c.name, i, found, ref)
			}
		}
		if found := r.DetokenizeSource(pairs.Src(0)); c.train > 3 && found != "the red dog sees the dog" {
			t.Errorf("%s: first source %q, want the red dog sees the dog", c.name, found)
		}
	}
}

// Reading again with the learned tokenizers, or from a TSV or a translation memory, gives the same
// data.
func TestReadAgain(t *testing.T) {
	src, tgt := toyFiles(t, false)
	o := train.DefaultOptions()
	first := mustRead(t, Options{Train: Files(src, tgt), VocabSize: 320}, o)
	if first.Vocab.Joint() || len(first.Tokenizers) != 2 {
		t.Errorf("joint: %v, %d tokenizers; want one for each side", first.Vocab.Joint(), len(first.Tokenizers))
	}
	second := mustRead(t, Options{Train: Files(src, tgt), Tokenizers: &first.Vocab}, o)
	source, target := strings.Split(strings.TrimSpace(read(t, src)), "\n"), strings.Split(strings.TrimSpace(read(t, tgt)), "\n")
	var tsv, tmx strings.Builder
	tmx.WriteString("<tmx version='1.4'><header srclang='*all*'/><body><tu><tuv xml:lang='en'><seg>alone</seg></tuv></tu>\n")
	for i := range source {
		fmt.Fprintf(&tsv, "%s\t%s\n", source[i], target[i])
		fmt.Fprintf(&tmx, "<tu><tuv xml:lang='de'><seg/></tuv><tuv xml:lang='fr'><seg>%s</seg></tuv><tuv xml:lang='en'><seg>%s</seg></tuv></tu>\n", html.EscapeString(target[i]), html.EscapeString(source[i]))
	}
	tmx.WriteString("</body></tmx>")
	third := mustRead(t, Options{Train: TSV(write(t, "tsv", tsv.String(), true)), VocabSize: 320}, o)
	memory := TSV(write(t, "tmx", tmx.String(), true)).In("en", "fr", false)
	fourth := mustRead(t, Options{Train: memory, VocabSize: 320}, o)
	if n := memory.OneSided(); n != 1 {
		t.Errorf("%d units with one side, want 1", n)
	}
	streamed := o
	streamed.ShuffleWindow = 400
	want, got := mustRead(t, Options{Train: Files(src, tgt), VocabSize: 320}, streamed).Stream, mustRead(t, Options{Train: memory, VocabSize: 320}, streamed).Stream
	for _, w := range []int{0, 1, 2, 1, 0, 2, 3} {
		p, q := new(train.Pairs), new(train.Pairs)
		if err := errors.Join(want.Read(context.Background(), p, 0, w), got.Read(context.Background(), q, 0, w)); err != nil || !samePairs(p, q) {
			t.Errorf("window %d of a translation memory: different pairs, or %v", w, err)
		}
	}
	for name, again := range map[string]*Corpus{"again": second, "as TSV": third, "as TMX": fourth} {
		if !samePairs(first.Train, again.Train) || !samePairs(first.Valid, again.Valid) || !slices.Equal(first.References, again.References) {
			t.Errorf("%s: different pairs", name)
		}
		if same, err := first.Vocab.Equal(again.Vocab); err != nil || !same {
			t.Errorf("%s: different tokenizers, %v", name, err)
		}
	}
}

// A Survey can be read with settings that were chosen after it, once unless these have tokenizers.
func TestInspectAndRead(t *testing.T) {
	src, tgt := toyFiles(t, false)
	o := train.DefaultOptions()
	want := mustRead(t, Options{Train: Files(src, tgt), VocabSize: 320, Joint: true}, o)
	s := inspect(t, Options{Train: Files(src, tgt)})
	for i, p := range s.Sample {
		if first := strings.SplitN(read(t, src), "\n", len(s.Sample)+1)[i]; p.Source != first {
			t.Fatalf("pair %d of the sample is %q, want %q", i, p.Source, first)
		}
	}
	s.VocabSize, s.Joint = 320, true
	got, err := s.Read(context.Background(), o)
	if err != nil || !samePairs(want.Train, got.Train) || !samePairs(want.Valid, got.Valid) || !got.Vocab.Joint() {
		t.Errorf("other pairs than of Read, joint %v, %v", got.Vocab.Joint(), err)
	}
	if _, err := s.Read(context.Background(), o); err == nil || !strings.Contains(err.Error(), "no word counts") {
		t.Errorf("second Read: error %v, want that the word counts are missing", err)
	}
	s.Tokenizers = &got.Vocab
	if again, err := s.Read(context.Background(), o); err != nil || !samePairs(want.Train, again.Train) {
		t.Errorf("Read with the learned tokenizers: error %v or other pairs", err)
	}
}

func TestReadErrors(t *testing.T) {
	src, tgt := toyFiles(t, false)
	latin1, short := write(t, "latin1", "ok\nna\xefve\n", false), write(t, "short", "eins\n", false)
	tab := write(t, "tab", "a\tb\nno tab\n", false)
	folder := t.TempDir()
	for _, c := range []struct {
		in   Options
		want string
	}{
		{Options{Train: Files(src, latin1)}, latin1 + ":2: invalid UTF-8"},
		{Options{Train: Files(src, short)}, short + " has 1"},
		{Options{Train: Files(src, folder+"/none")}, folder + "/none"},
		{Options{Train: TSV(tab)}, tab + ":2: found no tab, expected source, tab, target"},
		{Options{Train: Files(src, tgt), Valid: Files(src, latin1)}, latin1 + ":2: invalid UTF-8"},
		{Options{Train: Files(src, tgt), VocabSize: 3}, "3"},
	} {
		if _, err := Read(context.Background(), c.in, train.DefaultOptions()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q in it", err, c.want)
		}
	}
	if err := Files(src, folder).Check(); err == nil || !strings.Contains(err.Error(), folder+": found a directory, expected a regular file") {
		t.Errorf("Check of a folder: error %v", err)
	}
	missing := folder + "/none"
	if err := Files(src, missing).Check(); !errors.Is(err, fs.ErrNotExist) || !strings.HasPrefix(err.Error(), missing+": ") {
		t.Errorf("Check of a missing file: error %v, want os.ErrNotExist after the path", err)
	}
	if err := Files(src, tgt).Check(); err != nil {
		t.Errorf("Check of two files: error %v", err)
	}
}

func TestReadProgress(t *testing.T) {
	lines := strings.Repeat("a b c\n", progressEvery+1)
	progress := map[Phase]int{}
	mustRead(t, Options{Train: Files(write(t, "a", lines, false), write(t, "b", lines, false)), VocabSize: 300, Joint: true,
		Progress: func(s Phase, pairs int) { progress[s] = pairs }}, train.DefaultOptions())
	if progress[Reading] != progressEvery || progress[Encoding] != progressEvery {
		t.Errorf("progress %v, want %d pairs in each stage", progress, progressEvery)
	}
}
