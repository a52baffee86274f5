package translate_test

import (
	"context"
	"errors"
	"iter"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"tfm/model"
	"tfm/model/decode"
	"tfm/text"
	"tfm/translate"
)

// toyPairs returns the toy's corpus and three pairs to skip.
func toyPairs() iter.Seq2[text.Pair, error] {
	sources, targets := phrases()
	return func(yield func(text.Pair, error) bool) {
		for i := range sources {
			if !yield(text.Pair{Source: sources[i], Target: targets[i]}, nil) {
				return
			}
		}
		for _, p := range []text.Pair{{Source: "the dog"}, {Target: "le chien"}, {Source: strings.Repeat("the dog ", 50), Target: "le chien"}} {
			if !yield(p, nil) {
				return
			}
		}
	}
}

func learnToy(t *testing.T, o translate.ShortlistOptions) translate.LearnedShortlist {
	t.Helper()
	learned, err := translate.LearnShortlist(background, open(t, translate.Options{Threads: 1}).Tokenizers(), toyPairs(), o)
	if err != nil {
		t.Fatal(err)
	}
	return learned
}

// The lists have what the options say, and are the same for any number of threads.
func TestLearnShortlist(t *testing.T) {
	tr := open(t, translate.Options{Threads: 1})
	vocabulary := tr.Tokenizers().Target
	o := translate.ShortlistOptions{Best: 2, MinProb: 0.01, Frequent: 1, Threads: 1}
	var progress []int
	o.Progress = func(pass, passes, pairs int) { progress = append(progress, pass, passes, pairs) }
	learned := learnToy(t, o)
	sources, _ := phrases()
	if learned.Pairs != len(sources) || learned.Skipped != 3 || learned.Covered > learned.Tokens || learned.Tokens < 3*len(sources) || learned.Pieces < 259*learned.Pairs {
		t.Errorf("%+v of %d pairs and 3 to skip", learned, len(sources))
	}
	if err := learned.Validate(tr.Config()); err != nil {
		t.Error(err)
	}
	if n := len(progress); n < 3*7 || progress[n-3] != 7 || progress[n-2] != 7 || progress[n-1] != len(sources)+3 {
		t.Errorf("progress %v, want 7 passes", progress)
	}
	for id := int32(text.EOS); int(id) < vocabulary.Size(); id++ {
		wanted := id == text.EOS || len(vocabulary.Bytes(id)) == 1 || id == vocabulary.Encode(nil, "le chien noir")[0]
		if wanted != slices.Contains(learned.Always, id) {
			t.Errorf("piece %d, %q: in every list %t, want %t", id, vocabulary.Piece(id), !wanted, wanted)
		}
		if list := learned.Of(id); len(list) > 3 {
			t.Errorf("list %v of source piece %d, want at most 2 pieces and itself", list, id)
		}
	}
	covers := func(list []int32, s string) bool {
		for _, id := range vocabulary.Encode(nil, s) {
			if !slices.Contains(list, id) {
				return false
			}
		}
		return true
	}
	var set []uint64
	source := tr.Tokenizers().Source.Encode(nil, "the black cat")
	if list := learned.List(nil, source, nil, &set); !covers(list, "le chat noir") || !covers(list, "the black cat") || covers(list, "le chien vieux") {
		t.Errorf("list %v of %v, want the pieces of its translation and of itself", list, source)
	}
	for threads := 2; threads < 5; threads++ {
		o.Threads = threads
		if again := learnToy(t, o); !reflect.DeepEqual(again, learned) {
			t.Errorf("%d threads: another list", threads)
		}
	}
}

func TestLearnShortlistErrors(t *testing.T) {
	tok := open(t, translate.Options{Threads: 1}).Tokenizers()
	good := translate.DefaultShortlistOptions()
	for _, o := range []translate.ShortlistOptions{{}, {Best: 10_001}, {Best: 1, MinProb: 2}, {Best: 1, Frequent: -1}, {Best: 1, Threads: -1}} {
		if _, err := translate.LearnShortlist(background, tok, toyPairs(), o); !errors.As(err, new(*model.FieldError)) {
			t.Errorf("%+v: error %v, want a *model.FieldError", o, err)
		}
	}
	none := func(yield func(text.Pair, error) bool) {}
	if _, err := translate.LearnShortlist(background, tok, none, good); err == nil || !strings.Contains(err.Error(), "no pairs") {
		t.Errorf("error %v without pairs", err)
	}
	broken := errors.New("broken")
	if _, err := translate.LearnShortlist(background, tok, func(yield func(text.Pair, error) bool) { yield(text.Pair{}, broken) }, good); err != broken {
		t.Errorf("error %v, want that of the pairs", err)
	}
	ctx, cancel := context.WithCancel(background)
	cancel()
	if _, err := translate.LearnShortlist(ctx, tok, toyPairs(), good); err != context.Canceled {
		t.Errorf("error %v, want that of the context", err)
	}
}

// Translations with the list of a model file are the same alone and among others, with lists and
// without, for any number of threads.
func TestTranslateWithShortlist(t *testing.T) {
	o := translate.DefaultShortlistOptions()
	o.Best, o.Frequent = 2, 3
	path := filepath.Join(t.TempDir(), "m.safetensors")
	if err := decode.CopyWithShortlist(toyModel(), path, learnToy(t, o).Shortlist); err != nil {
		t.Fatal(err)
	}
	if open(t, translate.Options{Threads: 1}).Shortlist() != nil {
		t.Error("Shortlist of a model file without one")
	}
	sources, targets := phrases()
	sources = append(sources, "cat", "the the dog", "vieux dog black", "")
	for _, int8 := range []bool{false, true} {
		var want []translate.Result
		for threads := 1; threads < 4; threads++ {
			tr := openFile(t, path, translate.Options{Threads: threads, Int8: int8, KeepModel: threads == 2 && !int8})
			r := translate.Request{Texts: sources, Decode: tr.DefaultOptions(), Prefixes: make([]string, len(sources))}
			r.Decode.NBest, r.Decode.Shortlist = 4, tr.Shortlist()
			r.Prefixes[2] = "Ça va"
			var group sync.WaitGroup
			for range 3 { // requests without a list
				group.Add(1)
				go func() {
					defer group.Done()
					if got, err := tr.Translate(background, sources[:5]); err != nil || !slices.Equal(got, targets[:5]) {
						t.Errorf("without a list: %q, %v, want %q", got, err, targets[:5])
					}
				}()
			}
			results, err := tr.Do(background, r)
			group.Wait()
			if err != nil {
				t.Fatal(err)
			}
			if want == nil {
				want = results
			}
			if !reflect.DeepEqual(results, want) {
				t.Errorf("int8 %t, %d threads: translations differ", int8, threads)
			}
			for i := range sources {
				one := r
				one.Texts, one.Prefixes = sources[i:i+1], r.Prefixes[i:i+1]
				if alone, err := tr.Do(background, one); err != nil || !reflect.DeepEqual(alone[0], want[i]) {
					t.Errorf("%q: %+v, %v alone, want %+v", sources[i], alone, err, want[i])
				}
				if i < len(targets) && i != 2 && results[i].Best() != targets[i] {
					t.Errorf("%q → %q, want %q", sources[i], results[i].Best(), targets[i])
				}
			}
			if !strings.HasPrefix(results[2].Best(), "Ça va") {
				t.Errorf("%q, want the prefix", results[2].Best())
			}
		}
	}
}
