package translate_test

import (
	"context"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"tfm/model"
	"tfm/text"
	"tfm/text/split"
	"tfm/translate"
)

// A text that resembles a source of the memory is translated by a model that is tuned to the pair:
// with the same bits alone and among others, in any order, on any number of threads. All other
// texts are translated as without.
func TestAdapt(t *testing.T) {
	ctx := context.Background()
	m := memoryOf(t, "the red dog sees the black cat=le chien bleu mange le chien bleu", "the red dog=LE CHIEN", "the cat sees=x")
	texts := []string{"the red dog sees the black dog", "the red dog", "the big house", "the red dog sees the white cat", "", "the red dog sees the black dog"}
	plain, err := open(t, translate.Options{}).Do(ctx, translate.Request{Texts: texts})
	if err != nil {
		t.Fatal(err)
	}
	similar := []float64{6. / 7, 0, 0, 6. / 7, 0, 6. / 7}
	var first []translate.Result
	for _, threads := range []int{1, 3} {
		tr := open(t, translate.Options{KeepModel: true, Threads: threads})
		got := do(t, tr, translate.Request{Texts: texts, Memory: m, Adapt: 0.8, Tokens: true, Attention: true})
		if first == nil {
			first = got
		}
		if !reflect.DeepEqual(got, first) {
			t.Errorf("%d threads: other results", threads)
		}
		for i, s := range texts {
			if d := got[i].Similarity - similar[i]; d > 1e-9 || d < -1e-9 {
				t.Errorf("%q: similarity %v, want %v", s, got[i].Similarity, similar[i])
			}
			if i != 1 && (got[i].Best() != plain[i].Best() || s != "" && got[i].Translations[0].Score != plain[i].Translations[0].Score) != (similar[i] > 0) {
				t.Errorf("%q: %q, without tuning %q", s, got[i].Best(), plain[i].Best())
			}
			one := do(t, tr, translate.Request{Texts: []string{s}, Memory: m, Adapt: 0.8, Tokens: true, Attention: true})
			if !reflect.DeepEqual(one[0], got[i]) {
				t.Errorf("%q alone: %+v, among others %+v", s, one[0], got[i])
			}
		}
		if !got[1].InMemory || got[1].Best() != "LE CHIEN" {
			t.Errorf("a source of the memory: %+v", got[1])
		}
	}
	if len(first[0].Translations[0].Attention) == 0 {
		t.Error("no attention")
	}

	// A sentence of a text, like a text.
	tr := open(t, translate.Options{KeepModel: true})
	got := do(t, tr, translate.Request{Texts: []string{"the big house. the red dog sees the black dog"}, Memory: m, Adapt: 0.8, Split: &split.Options{}})
	if s := got[0].Sentences; len(s) != 2 || s[0].Similarity != 0 || s[1].Similarity < 0.8 || s[1].Best() != first[0].Best() {
		t.Errorf("sentences %+v", s)
	}
	if _, err := tr.Do(ctx, translate.Request{Texts: texts, Memory: m, Adapt: 1.1}); err == nil || !strings.Contains(err.Error(), "adapt") {
		t.Errorf("a similarity of 1.1: error %v", err)
	}
	if _, err := open(t, translate.Options{}).Do(ctx, translate.Request{Texts: texts, Memory: m, Adapt: 0.8}); err == nil || !strings.Contains(err.Error(), "KeepModel") {
		t.Errorf("without the model: error %v", err)
	}
	long := memoryOf(t, strings.Repeat("the red dog ", 200)+"=x")
	if got, err := tr.Do(ctx, translate.Request{Texts: []string{strings.Repeat("the red dog ", 199)}, Memory: long, Adapt: 0.8}); err != nil || got[0].Similarity != 0 {
		t.Errorf("a memory longer than the model: %+v, %v", got, err)
	}
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := tr.Do(ctx, translate.Request{Texts: texts, Memory: m, Adapt: 0.8}); err == nil {
		t.Error("no error of a context that has ended")
	}
}

// Texts with ranges to keep, and all with a glossary, are translated as without Adapt, also as
// sentences among others that are tuned to.
func TestAdaptStandIns(t *testing.T) {
	tr := open(t, translate.Options{KeepModel: true})
	m := memoryOf(t, "the red dog sees the black cat=le chien bleu mange le chien bleu")
	const s = "the A1 red dog sees the black cat. the red dog sees the black dog. the B2 big house"
	for _, splits := range []*split.Options{nil, {}} {
		r := translate.Request{Texts: []string{s}, Split: splits, Memory: m, KeepOf: func(_ int, s string) (kept []text.Range) {
			for _, w := range []string{"A1", "B2"} {
				if i := strings.Index(s, w); i >= 0 {
					kept = append(kept, text.Range{Start: i, End: i + 2})
				}
			}
			return kept
		}}
		plain := do(t, tr, r)
		r.Adapt = 0.8
		got := do(t, tr, r)
		for i, sentence := range got[0].Sentences {
			if same, tuned := sentence.Best() == plain[0].Sentences[i].Best(), i == 1; same == tuned || sentence.Similarity > 0 != tuned {
				t.Errorf("sentence %d: %q, without Adapt %q", i, sentence.Best(), plain[0].Sentences[i].Best())
			}
		}
		if strings.Count(got[0].Best(), "A1") != 1 || splits == nil && !reflect.DeepEqual(got, plain) || splits != nil && got[0].Similarity < 0.8 {
			t.Errorf("%+v, without Adapt %+v", got[0], plain[0])
		}

		g := readGlossary(t, "black\tSCHWARZ\nbig\tGROSS\n")
		r.KeepOf, r.Glossary = nil, g
		with := do(t, tr, r)
		r.Adapt = 0
		if without, err := tr.Do(context.Background(), r); err != nil || !reflect.DeepEqual(with, without) {
			t.Errorf("with a glossary %+v, without Adapt %+v, %v", with, without, err)
		}
	}
}

// A memory of a model of several languages is of those of the translator: texts in others, by the
// request or by a code, are translated as without it. A tuned text is translated to its language.
func TestMemoryLanguages(t *testing.T) {
	path := filepath.Join(t.TempDir(), "memory.tsv")
	writeFile(t, path, "the red dog sees the black cat\tle chien bleu mange le chien bleu\nthe big house\tCASA\n")
	tmx := filepath.Join(t.TempDir(), "memory.tmx")
	variants := ""
	for _, v := range []string{"en-US>house", "zh-TW>HANT", "zh-CN>HANS"} {
		lang, seg, _ := strings.Cut(v, ">")
		variants += `<tuv xml:lang="` + lang + `"><seg>` + seg + `</seg></tuv>`
	}
	writeFile(t, tmx, `<tmx version="1.4"><header srclang="en-US"/><body><tu>`+variants+`</tu></body></tmx>`)
	const s = "the red dog sees the black dog. the big house"
	for _, c := range []struct {
		change          func(*model.Config)
		from, to, other string
		code            string
	}{{opus, "", "pt-BR", "fra", ">>pob<< "}, {nllb, "en", "zh-Hant", "zh", ">>zho_Hant<< "}} {
		of := languages(t, c.change)
		tr := newTranslator(t, of.Model(), of.Tokenizers(), translate.Options{KeepModel: true, From: c.from, To: c.to})
		m, err := tr.ReadMemory(path, "", "", true)
		if err != nil {
			t.Fatal(err)
		}
		texts := []string{s, c.code + s, "the big house", c.code + "the big house", c.code + "the red dog sees the black dog."}
		for _, to := range []string{"", c.to, c.other} {
			r := translate.Request{Texts: texts, Split: &split.Options{}, SplitSeveral: true, To: to}
			plain := do(t, tr, r)
			r.Memory, r.Adapt = m, 0.8
			for i, got := range do(t, tr, r) {
				if to == c.other && !strings.HasPrefix(texts[i], ">>") {
					if !reflect.DeepEqual(got, plain[i]) {
						t.Errorf("%q to %q: %+v, without a memory %+v", texts[i], to, got, plain[i])
					}
					continue
				}
				switch i {
				case 0, 1:
					if x := got.Sentences; len(x) != 2 || x[0].Similarity < 0.8 || !x[1].InMemory || x[0].Translations[0].Score == plain[i].Sentences[0].Translations[0].Score {
						t.Errorf("%q to %q: %+v", texts[i], to, x)
					}
				case 2, 3:
					if !got.InMemory || got.Best() != "CASA" {
						t.Errorf("%q to %q: %+v", texts[i], to, got)
					}
				case 4:
					if first := do(t, tr, r)[1].Sentences[0]; got.Similarity < 0.8 || got.Translations[0].Score != first.Translations[0].Score {
						t.Errorf("%q to %q: %+v, as a sentence %+v", texts[i], to, got, first)
					}
				}
			}
		}
		if c.to == "zh-Hant" { // the script chooses in TMX
			for to, want := range map[string]string{"zh": "HANS", "zho_Hans": "HANS", "zho_Hant": "HANT"} {
				m, err := of.ReadMemory(tmx, "en", to, true)
				if err != nil {
					t.Fatal(err)
				}
				if got, _ := m.Find("house"); got != want {
					t.Errorf("to %s: %q, want %q", to, got, want)
				}
			}
		}
		if _, err := of.ReadMemory(path, "", "", true); err == nil || !strings.Contains(err.Error(), "is missing") {
			t.Errorf("without languages: error %v", err)
		}
		// One that the caller makes is of the languages of texts without a code.
		r := translate.Request{Texts: texts, Memory: memoryOf(t, "the big house=CASA"), To: c.other}
		if got := do(t, tr, r); !got[2].InMemory || got[3].InMemory {
			t.Errorf("of the caller: %+v", got)
		}
	}
}

// Calls at the same time have the results of calls one after another.
func TestAdaptConcurrent(t *testing.T) {
	tr := open(t, translate.Options{KeepModel: true, Threads: 2})
	m := memoryOf(t, "the red dog sees the black cat=le chien bleu", "the big house sees the cat=le chat")
	texts := []string{"the red dog sees the black dog", "the big house", "the big house sees the dog", "the red dog"}
	var want []string
	for _, s := range texts {
		r := do(t, tr, translate.Request{Texts: []string{s}, Memory: m, Adapt: 0.7})
		want = append(want, r[0].Best())
	}
	var all sync.WaitGroup
	for i := range 12 {
		all.Go(func() {
			k := i % len(texts)
			r, err := tr.Do(context.Background(), translate.Request{Texts: []string{texts[k], texts[(k+1)%len(texts)]}, Memory: m, Adapt: 0.7})
			if err != nil || r[0].Best() != want[k] || r[1].Best() != want[(k+1)%len(texts)] {
				t.Errorf("%q: %v, %v, want %q", texts[k], r, err, want[k])
			}
		})
	}
	all.Wait()
}
