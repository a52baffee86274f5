package translate_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tfm/text"
	"tfm/text/markup"
	"tfm/text/split"
	"tfm/translate"
)

// withTags returns a phrase of the toy as HTML with elements around and between its words.
func withTags(random *rand.Rand, words []string) string {
	var b strings.Builder
	var open []string
	tag := func() {
		switch name := []string{"b", "i", "a", "span"}[random.IntN(4)]; random.IntN(5) {
		case 0:
			b.WriteString("<" + name + ">")
			open = append(open, name)
		case 1:
			if n := len(open); n > 0 {
				b.WriteString("</" + open[n-1] + ">")
				open = open[:n-1]
			}
		case 2:
			b.WriteString([]string{"<br>", "<img alt='the red dog'>", "<!-- c -->", "</i>", "<code>x</code>"}[random.IntN(5)])
		}
	}
	for i, w := range words {
		tag()
		b.WriteString(w)
		tag()
		if i+1 < len(words) {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// The plain text of a translation is the translation of the plain text, and no element is lost.
func TestMarked(t *testing.T) {
	tr := open(t, translate.Options{})
	random := rand.New(rand.NewPCG(1, 2))
	sources, _ := phrases()
	ctx := context.Background()
	for _, splits := range []*split.Options{nil, {Lines: true}} {
		var documents []string
		for range 40 {
			words := strings.Fields(sources[random.IntN(len(sources))] + " " + sources[random.IntN(len(sources))])
			documents = append(documents, withTags(random, words))
		}
		r := translate.Request{Texts: documents, Split: splits, Markup: markup.ReadHTML}
		results := do(t, tr, r)
		for i, s := range documents {
			d, err := markup.ReadHTML(s)
			if err != nil {
				t.Fatal(err)
			}
			marked, err := tr.Marked(ctx, translate.Request{Split: splits}, d.Texts)
			if err != nil {
				t.Fatal(err)
			}
			out, err := d.Append(nil, marked, "")
			if err != nil {
				t.Fatalf("%q: %v", s, err)
			}
			if got := results[i].Best(); got != string(out) {
				t.Errorf("%q becomes %q, in a document %q", s, out, got)
			}
			for k, x := range d.Texts {
				plain := translate.Request{Texts: []string{x.Plain}, Split: splits}
				if splits == nil {
					plain.Texts[0] = strings.ReplaceAll(x.Plain, "\n", " ")
				}
				plain.KeepOf = func(int, string) (kept []text.Range) {
					for _, span := range x.Spans {
						if span.Keep {
							kept = append(kept, span.Range)
						}
					}
					return kept
				}
				want := do(t, tr, plain)
				if marked[k].Plain != want[0].Best() {
					t.Errorf("%q becomes %q, its plain text %q", x.Plain, marked[k].Plain, want[0].Best())
				}
				ids := map[int]bool{}
				for _, span := range marked[k].Spans {
					ids[span.ID] = true
					if got := marked[k].Plain[span.Start:span.End]; span.Keep && got != "x" {
						t.Errorf("%q becomes %q with kept %q", s, out, got)
					}
				}
				if len(ids) != len(x.Spans) || len(marked[k].Spans) != len(x.Spans) {
					t.Errorf("%q: spans %v", x.Plain, marked[k].Spans)
				}
			}
		}
	}
}

// Elements are around the words that translate theirs, also of several sentences and with options
// that change the text.
func TestMarkedPlaces(t *testing.T) {
	tr := open(t, translate.Options{})
	for s, want := range map[string]string{
		"<p>the <b>red</b> dog</p>":                        "<p>le chien <b>rouge</b></p>",
		"<p>the red <i>dog</i>":                            "<p>le <i>chien</i> rouge",
		"the <a href=x>red</a> dog<br>the black cat":       "le chien <a href=x>rouge</a><br>le chat noir",
		"the red dog<br>\n  the <b>black</b> cat":          "le chien rouge<br>\n  le chat <b>noir</b>",
		"<img alt='the old book'> the good tree":           "<img alt='le livre vieux'> le arbre bon",
		"<p title='the red dog'>the <i>old</i> <u>cat</u>": "<p title='le chien rouge'>le <u>chat</u> <i>vieux</i>",
		"1 2 3": "1 2 3",
		"":      "",
	} {
		results, err := tr.Do(context.Background(), translate.Request{Texts: []string{s}, Split: &split.Options{Lines: true}, Markup: markup.ReadHTML})
		if err != nil || results[0].Best() != want {
			t.Errorf("%q becomes %q, want %q, error %v", s, results[0].Best(), want, err)
		}
	}
	results, err := tr.Do(context.Background(), translate.Request{Texts: []string{"<a>", "<a>the red dog</a>"}, Markup: markup.ReadXML})
	if err != nil || results[0].Err == nil || results[0].Best() != "" || results[1].Best() != "<a>le chien rouge</a>" {
		t.Errorf("results %v, error %v", results, err)
	}
	// Samples are drawn by the number of the text.
	sampled := translate.Request{Decode: tr.DefaultOptions()}
	sampled.Decode.Sample, sampled.Decode.Seed, sampled.Decode.Temperature = true, 3, 3
	texts := []markup.Text{{Plain: "the red dog"}, {Plain: "the black cat", Spans: []markup.Span{{Range: text.Range{Start: 4, End: 9}}}}, {Plain: "the old book"}}
	marked, err := tr.Marked(context.Background(), sampled, texts)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range texts {
		sampled.Texts = append(sampled.Texts, x.Plain)
	}
	plain := do(t, tr, sampled)
	for i := range plain {
		if marked[i].Plain != plain[i].Best() {
			t.Errorf("draw %q, want %q", marked[i].Plain, plain[i].Best())
		}
	}
	if !slices.ContainsFunc(marked, func(x markup.Text) bool { return len(x.Spans) == 1 }) {
		t.Error("the span is lost")
	}
}

// The k-th translation of a document has the k-th translations of its sentences, with all elements.
func TestMarkedAlternatives(t *testing.T) {
	tr := open(t, translate.Options{})
	sources, _ := phrases()
	decoding := tr.DefaultOptions()
	decoding.NBest = decoding.Beam
	plain := sources[1] + ". " + sources[2] + "."
	for _, splits := range []*split.Options{nil, {}} {
		r := translate.Request{Texts: []string{plain}, Split: splits, Decode: decoding}
		want := do(t, tr, r)
		r.Texts, r.Markup = []string{"<p><b>" + sources[1] + "</b>. " + sources[2] + ".</p>"}, markup.ReadHTML
		got := do(t, tr, r)
		var texts []string
		for k := range decoding.NBest {
			alternative := want[0].Alternative(k)
			if s := alternative.Best(); !slices.Contains(texts, s) {
				texts = append(texts, s)
			}
			for _, sentence := range alternative.Sentences {
				if s := alternative.Best()[sentence.Target.Start:sentence.Target.End]; s != sentence.Best() {
					t.Errorf("alternative %d has %q in the place of %q", k, s, sentence.Best())
				}
			}
		}
		if len(texts) < 2 {
			t.Fatalf("only one translation of %q", plain)
		}
		for k, s := range texts {
			if k >= len(got[0].Translations) {
				t.Errorf("%d translations of the document, want one of %q", k, s)
				continue
			}
			whole := got[0].Translations[k].Text
			d, err := markup.ReadHTML(whole)
			if err != nil || len(d.Texts) != 1 || d.Texts[0].Plain != s || strings.Count(whole, "<b>") != 1 {
				t.Errorf("translation %d of the document is %q, %v, want %q with an element", k, whole, err, s)
			}
		}
	}
}
