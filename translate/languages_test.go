package translate_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	"tfm/model"
	"tfm/text"
	"tfm/text/markup"
	"tfm/text/split"
	"tfm/translate"
)

// languages opens a random model of several languages: the toy's with tokens of its vocabulary as
// those of languages.
func languages(t *testing.T, change func(*model.Config)) *translate.Translator {
	t.Helper()
	file, err := model.Load(toyModel(), false)
	if err != nil {
		t.Fatal(err)
	}
	c := file.Model.Config
	change(&c)
	m, err := model.New(c)
	if err != nil {
		t.Fatal(err)
	}
	m.AllocWeights()
	m.Init(7)
	file.Model = m
	path := t.TempDir() + "/model.safetensors"
	if err := file.Save(path); err != nil {
		t.Fatal(err)
	}
	tr, err := translate.Open(path, translate.Options{KeepModel: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tr.Close() })
	return tr
}

func opus(c *model.Config) { c.Source, c.TgtLanguages = model.ToFirst, "fra=300 pob=301 por=302,303" }

func nllb(c *model.Config) {
	c.Source, c.SrcLanguages = model.FromFirst, "eng_Latn=300 zho_Hans=301"
	c.TgtLanguages, c.TargetBegins = "fra_Latn=302 eng_Latn=300 zho_Hans=301 zho_Hant=303", true
}

// A language of the request is the code at the begin of the text, for every sentence with Split,
// and texts with different languages translate together as alone.
func TestToIsTheCodeInTheText(t *testing.T) {
	for name, tr := range map[string]*translate.Translator{"opus": languages(t, opus), "nllb": languages(t, nllb)} {
		from := map[string]string{"opus": "", "nllb": "en"}[name]
		sources, _ := phrases()
		var together []string
		alone := map[string]translate.Result{}
		for i, code := range []string{"fra", "pob", "pt"} {
			if name == "nllb" {
				code = []string{"fra_Latn", "zh", "zho_Hant"}[i]
			}
			s := sources[i]
			for _, nBest := range []int{1, 3} {
				o := tr.DefaultOptions()
				o.NBest, o.MaxTokens = nBest, 12
				want := do(t, tr, translate.Request{Texts: []string{s}, From: from, To: code, Decode: o})[0]
				got := do(t, tr, translate.Request{Texts: []string{">>" + code + "<< " + s}, From: from, To: "fr", Decode: o})[0]
				if !reflect.DeepEqual(got, want) || want.Best() == "" {
					t.Errorf("%s %s: %+v with the code in the text, want %+v as with To", name, code, got, want)
				}
			}
			o := tr.DefaultOptions()
			o.MaxTokens = 12
			r := translate.Request{Texts: []string{s}, From: from, To: code, Decode: o, Attention: true}
			alone[">>"+code+"<< "+s] = do(t, tr, r)[0]
			together = append(together, ">>"+code+"<< "+s)
			r.Attention, r.Split, r.Texts = false, new(split.Options), []string{"The dog. The " + s + "."}
			want := do(t, tr, r)[0]
			r.To, r.Texts = "", []string{">>" + code + "<< The dog. The " + s + "."}
			if got := do(t, tr, r)[0]; got.Best() != want.Best() || len(got.Sentences) != 2 {
				t.Errorf("%s %s: split %q with the code in the text, want %q", name, code, got.Best(), want.Best())
			}
			var streamed strings.Builder
			r.Certain = func(_ int, part string) { streamed.WriteString(part) }
			if do(t, tr, r); streamed.String() != want.Best() {
				t.Errorf("%s %s: streamed %q, want %q", name, code, streamed.String(), want.Best())
			}
		}
		o := tr.DefaultOptions()
		o.MaxTokens = 12
		for i, got := range do(t, tr, translate.Request{Texts: together, From: from, Decode: o, Attention: true}) {
			want := alone[together[i]]
			if got.Best() != want.Best() || got.Translations[0].Score != want.Translations[0].Score || !reflect.DeepEqual(got.Translations[0].Attention, want.Translations[0].Attention) {
				t.Errorf("%s: %q is %q among others, %q alone", name, together[i], got.Best(), want.Best())
			}
			first, last := got.Tokens[0], got.Tokens[len(got.Tokens)-1]
			if first.Start != 0 || last.End != len(together[i]) {
				t.Errorf("%s: tokens from %d to %d, want 0 to %d", name, first.Start, last.End, len(together[i]))
			}
			for _, row := range got.Translations[0].Attention {
				sum := float32(0)
				for _, w := range row {
					sum += w
				}
				if len(row) != len(got.Tokens)+1 || sum < 0.999 || sum > 1.001 {
					t.Errorf("%s: %d weights with sum %v for %d tokens", name, len(row), sum, len(got.Tokens))
				}
			}
			score, err := tr.ScorePairs(context.Background(), []text.Pair{{Source: together[i], Target: got.Best()}})
			if from == "" && (err != nil || len(score[0].LogProbs) != len(score[0].Tokens)+1) {
				t.Errorf("%s: scores %+v, error %v", name, score, err)
			}
		}
	}
}

// The code at the begin of a document is that of its texts, their sentences, and the words in the
// place of kept ranges and terms.
func TestCodeOfDocument(t *testing.T) {
	tr := languages(t, opus)
	o := tr.DefaultOptions()
	o.MaxTokens = 12
	document := "<p>The dog A7. The cat.</p><p>A bird.</p>"
	keepA7 := func(_ int, s string) []text.Range {
		if i := strings.Index(s, "A7"); i >= 0 {
			return []text.Range{{Start: i, End: i + len("A7")}}
		}
		return nil
	}
	glossary := readGlossary(t, "cat\tgato\n")
	for name, r := range map[string]translate.Request{
		"whole":     {},
		"sentences": {Split: new(split.Options)},
		"kept":      {KeepOf: keepA7},
		"terms":     {Glossary: glossary, Split: new(split.Options)},
	} {
		r.Markup, r.Decode = markup.ReadHTML, o
		r.Texts, r.To = []string{document}, "pob"
		want := do(t, tr, r)[0]
		r.Texts, r.To = []string{">>pob<< " + document}, ""
		if got := do(t, tr, r)[0]; got.Best() != want.Best() || want.Err != nil {
			t.Errorf("%s: %q with the code in the document, want %q as with To, %v", name, got.Best(), want.Best(), want.Err)
		}
	}
}

// Languages that a model does not have, or that a text does not name, are errors that list them.
func TestUnknownLanguages(t *testing.T) {
	o, n, one := languages(t, opus), languages(t, nllb), open(t, translate.Options{})
	for _, c := range []struct {
		tr             *translate.Translator
		s, from, to    string
		field, listing string // of the error; "" for none
	}{
		{o, "the dog", "", "", "to", "fra pob por"},
		{o, "the dog", "", "de", "to", "fra pob por"},
		{o, ">>deu<< the dog", "", "", "to", "fra pob por"},
		{o, ">>deu<< the dog", "", "por", "to", "fra pob por"},
		{o, ">>por<< the dog", "", "", "", ""},
		{o, ">> the dog <<", "", "por", "", ""},
		{o, ">>por<<", "", "", "", ""},
		{o, "the dog", "en", "fr", "from", "one source language"},
		{n, "the dog", "", "fr", "from", "eng_Latn zho_Hans"},
		{n, "the dog", "en", "zh-TW", "", ""},
		{n, "the dog", "en", "", "to", "fra_Latn eng_Latn zho_Hans zho_Hant"},
		{one, "the dog", "", "fr", "to", "one target language"},
	} {
		_, err := c.tr.Do(context.Background(), translate.Request{Texts: []string{c.s}, From: c.from, To: c.to})
		invalid := new(model.FieldError)
		if found := errors.As(err, &invalid); found != (c.field != "") || found && (invalid.Field != c.field || !strings.Contains(err.Error(), c.listing)) {
			t.Errorf("%q from %q to %q: error %v, want one of %q that lists %s", c.s, c.from, c.to, err, c.field, c.listing)
		}
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("error %q, want one line", err)
		}
	}
}

// A model that knows its languages needs no code, and Options give those of all requests.
func TestLanguagesByDefault(t *testing.T) {
	c := func(c *model.Config) { c.Source, c.TgtLanguages = model.ToFirst, "fra=300" }
	if got := do(t, languages(t, c), translate.Request{Texts: []string{"the dog"}}); got[0].Best() == "" {
		t.Error("found no translation into the only language")
	}
	tr := languages(t, opus)
	want := do(t, tr, translate.Request{Texts: []string{"the dog"}, To: "pob"})[0].Best()
	got := newTranslator(t, tr.Model(), tr.Tokenizers(), translate.Options{To: "pt-BR"})
	if best := do(t, got, translate.Request{Texts: []string{"the dog"}})[0].Best(); best != want {
		t.Errorf("%q by Options.To, want %q", best, want)
	}
	if _, err := translate.New(tr.Model(), tr.Tokenizers(), translate.Options{To: "de"}); err == nil {
		t.Error("no error for an option of a language that the model lacks")
	}
}
