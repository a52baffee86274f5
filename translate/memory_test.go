package translate_test

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"testing"

	"tfm/text"
	"tfm/text/markup"
	"tfm/text/split"
	"tfm/translate"
)

// memoryOf returns a memory of sources and their translations, separated by =.
func memoryOf(t *testing.T, pairs ...string) *translate.Memory {
	t.Helper()
	m, err := translate.NewMemory(func(yield func(text.Pair, error) bool) {
		for _, p := range pairs {
			source, target, _ := strings.Cut(p, "=")
			if !yield(text.Pair{Source: source, Target: target}, nil) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// A sentence with kept ranges is looked for as it is in the text, not with the names that stand for
// them in the model's source.
func TestMemoryOfKept(t *testing.T) {
	tr := open(t, translate.Options{})
	pairs := []string{"the red X1 dog sees the cat.=LE X1."}
	for _, name := range []string{"Tom", "Mary", "Anna", "Peter", "John", "Maria", "Paul", "David"} {
		pairs = append(pairs, "The black "+name+" cat sees the dog.=NAME")
	}
	const s = "the red X1 dog sees the cat. The black X2 cat sees the dog."
	r := translate.Request{Texts: []string{"the red X1 dog sees the cat.", "The black X2 cat sees the dog.", s}, Memory: memoryOf(t, pairs...), KeepOf: func(_ int, s string) (kept []text.Range) {
		for _, w := range []string{"X1", "X2"} {
			if i := strings.Index(s, w); i >= 0 {
				kept = append(kept, text.Range{Start: i, End: i + 2})
			}
		}
		return kept
	}}
	for _, splits := range []*split.Options{nil, {}} {
		r.Split = splits
		got := do(t, tr, r)
		for i, inMemory := range []bool{true, false, false} {
			if got[i].InMemory != inMemory || strings.Contains(got[i].Best(), "NAME") || strings.Count(got[i].Best(), "X2") != strings.Count(r.Texts[i], "X2") {
				t.Errorf("%q: %+v", r.Texts[i], got[i])
			}
		}
	}
	r.Texts = []string{s}
	if got, err := tr.Do(context.Background(), r); err != nil || len(got[0].Sentences) != 2 || !got[0].Sentences[0].InMemory {
		t.Errorf("%q: %+v, %v", s, got, err)
	}
}

// Texts and sentences that the memory has get its translation, the others that of the model, with
// the same bits as without a memory.
func TestMemory(t *testing.T) {
	tr := open(t, translate.Options{})
	m := memoryOf(t, "the red dog.=first", " the  red dog. =LE CHIEN ", "the cat. the dog.=LES DEUX", "=x", "the black cat.= ")
	if m.Len() != 2 {
		t.Errorf("%d sources, want 2", m.Len())
	}
	texts := []string{"the red dog.", "the red dog", "the red\tdog. ", "the black cat.", "the cat. the dog.", "the black cat. the red dog.", "", "the big house."}
	plain := do(t, tr, translate.Request{Texts: texts, Split: &split.Options{}, SplitSeveral: true})
	var parts [8]string
	got := do(t, tr, translate.Request{Texts: texts, Split: &split.Options{}, SplitSeveral: true, Memory: m})
	want := []string{"LE CHIEN", plain[1].Best(), "LE CHIEN", plain[3].Best(), "LES DEUX", plain[3].Best() + " LE CHIEN", "", plain[7].Best()}
	inMemory := []bool{true, false, true, false, true, false, false, false}
	for i := range texts {
		if got[i].Best() != want[i] || got[i].InMemory != inMemory[i] {
			t.Errorf("%q: %q, in the memory %v, want %q, %v", texts[i], got[i].Best(), got[i].InMemory, want[i], inMemory[i])
		}
		if !inMemory[i] && i != 5 && !reflect.DeepEqual(got[i], plain[i]) {
			t.Errorf("%q: %+v, without a memory %+v", texts[i], got[i], plain[i])
		}
	}
	// Both sentences, and parts of translations.
	streamed := translate.Request{Texts: texts, Split: &split.Options{}, Memory: m, Certain: func(i int, part string) { parts[i] += part }, Decode: tr.DefaultOptions()}
	streamed.Decode.Beam = 1
	results, err := tr.Do(context.Background(), streamed)
	for i := range results {
		if err != nil || parts[i] != results[i].Best() {
			t.Errorf("%q: parts %q, want %q, error %v", texts[i], parts[i], results[i].Best(), err)
		}
	}
	both, err := tr.Do(context.Background(), translate.Request{Texts: []string{"the red dog. the red dog."}, Split: &split.Options{}, Memory: m})
	if err != nil || both[0].Best() != "LE CHIEN LE CHIEN" || !both[0].InMemory {
		t.Errorf("%+v, error %v", both, err)
	}

	// Prefixes and samples are of the model, and so are elements within a text.
	sampled := tr.DefaultOptions()
	sampled.Sample = true
	for name, r := range map[string]translate.Request{
		"prefix": {Prefix: "le"}, "sample": {Decode: sampled},
	} {
		r.Texts, r.Memory = []string{"the red dog."}, m
		results, err := tr.Do(context.Background(), r)
		if err != nil || results[0].InMemory || results[0].Best() == "LE CHIEN" {
			t.Errorf("%s: %+v, error %v", name, results, err)
		}
	}
	marked, err := tr.Do(context.Background(), translate.Request{Texts: []string{"<p>the red dog.</p><p>the <b>red</b> dog.</p>"}, Memory: m, Markup: markup.ReadHTML})
	if err != nil || !strings.HasPrefix(marked[0].Best(), "<p>LE CHIEN</p>") || strings.Count(marked[0].Best(), "LE CHIEN") != 1 {
		t.Errorf("%+v, error %v", marked, err)
	}
	// Terms of a glossary and ranges to keep do not count.
	g := readGlossary(t, "dog\tLOUP\n")
	keep := func(_ int, s string) []text.Range { return []text.Range{{Start: 4, End: 7}} }
	kept, err := tr.Do(context.Background(), translate.Request{Texts: []string{"the red dog.", "the big dog."}, Memory: m, Glossary: g, KeepOf: keep})
	if err != nil || kept[0].Best() != "LE CHIEN" || !kept[0].InMemory || kept[1].InMemory || !slices.Equal(kept[0].Translations[0].Kept, nil) {
		t.Errorf("%+v, error %v", kept, err)
	}
}
