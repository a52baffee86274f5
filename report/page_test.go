package report

import (
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// wild is text that the page must escape.
const wild = `</script><img src=http://x/y onerror="alert(1)"> & 'quotes' {{.}} <b>`

// element is an HTML element of a page.
type element struct {
	name  string
	attrs map[string]string
}

// parse returns the elements of a page. It fails the test if they are not nested correctly.
func parse(t *testing.T, page string) []element {
	t.Helper()
	// The contents of script and style are not markup.
	page = regexp.MustCompile(`(?s)(<script>).*?(</script>)`).ReplaceAllString(page, "$1$2")
	page = regexp.MustCompile(`(?s)(<style>).*?(</style>)`).ReplaceAllString(page, "$1$2")
	page = strings.TrimPrefix(page, "<!DOCTYPE html>")
	d := xml.NewDecoder(strings.NewReader(page))
	d.Entity, d.AutoClose, d.Strict = xml.HTMLEntity, append(xml.HTMLAutoClose, "meta"), false
	var all []element
	var open []string
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("the page is not well-formed: %v", err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			e := element{token.Name.Local, map[string]string{}}
			for _, a := range token.Attr {
				e.attrs[a.Name.Local] = a.Value
			}
			all, open = append(all, e), append(open, e.name)
		case xml.EndElement:
			if n := len(open); n == 0 || open[n-1] != token.Name.Local {
				t.Fatalf("</%s> with open elements %v", token.Name.Local, open)
			}
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		t.Errorf("elements without an end tag: %v", open)
	}
	return all
}

func write(t *testing.T, p Page) string {
	t.Helper()
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// sentenceOf returns a sentence with src and tgt tokens and weights that vary in every dimension.
func sentenceOf(src, tgt, layers, heads int) Sentence {
	s := Sentence{Source: wild, Translation: wild}
	names := func(n int) (p []string) {
		for i := range n {
			p = append(p, fmt.Sprintf("<p%d>", i))
		}
		return p
	}
	s.Src, s.In, s.Out = names(src), names(tgt), names(tgt)
	weights := func(rows, columns int) [][]Weights {
		all := make([][]Weights, layers)
		for l := range all {
			for h := range heads {
				w := make(Weights, rows)
				for i := range w {
					w[i] = make([]float32, columns)
					for j := range w[i] {
						w[i][j] = float32((l+2*h+3*i+5*j)%97) / 96
					}
				}
				all[l] = append(all[l], w)
			}
		}
		return all
	}
	s.EncoderSelf, s.DecoderSelf, s.Cross = weights(src, src), weights(tgt, tgt), weights(tgt, src)
	return s
}

func samplePage(t *testing.T) Page {
	lines := []string{startLine}
	for step := 1; step <= 40; step++ {
		lines = append(lines, stepLine(step))
		if step%10 == 0 {
			lines = append(lines, validLine(step, float64(step), step <= 30, wild))
		}
	}
	lines = append(lines, resumeLine(40), `{"event":"end","step":40,"reason":"<done>"}`)
	r := mustRead(t, logOf(lines...))
	r.Starts[0].Settings["src"] = `<i>.en`
	return Page{Name: wild, Run: r, Sentences: []Sentence{sentenceOf(7, 5, 2, 4)}, Model: wild, Generator: wild}
}

func TestPageIsWellFormedAndSelfContained(t *testing.T) {
	page := write(t, samplePage(t))
	count := map[string]int{}
	for _, e := range parse(t, page) {
		count[e.name]++
		for name, value := range e.attrs {
			switch {
			case strings.HasPrefix(name, "on"):
				t.Errorf("event handler <%s %s=%q>", e.name, name, value)
			case (name == "href" || name == "action") && !strings.HasPrefix(value, "#"),
				name == "src" && !strings.HasPrefix(value, "data:image/png;base64,"),
				name == "srcset", name == "style" && strings.Contains(value, "url"):
				t.Errorf("<%s %s=%q> makes a network request", e.name, name, value)
			}
		}
		switch e.name {
		case "link", "iframe", "object", "embed", "base":
			t.Errorf("found <%s>, which makes network requests", e.name)
		case "img":
			if e.attrs["alt"] == "" {
				t.Errorf("img without alt text: %v", e.attrs)
			}
		case "div":
			if e.attrs["class"] == "plot" && !strings.Contains(e.attrs["aria-label"], "over steps") {
				t.Errorf("chart without a description: %v", e.attrs)
			}
		}
	}
	// img: three attentions of two layers of four heads, and the mean of each attention.
	for name, want := range map[string]int{"script": 1, "style": 1, "h1": 1, "img": 3*2*4 + 3, "figure": 7, "html": 1, "body": 1} {
		if count[name] != want {
			t.Errorf("%d <%s> elements, want %d", count[name], name, want)
		}
	}
	for _, not := range []string{"@import", "url(", "https:", "ZgotmplZ", "NaN,", "<no value>", "%!"} {
		if strings.Contains(page, not) {
			t.Errorf("the page contains %q", not)
		}
	}
	if !strings.Contains(page, `content="default-src 'none'; img-src data:;`) {
		t.Error("the page has no Content-Security-Policy that forbids network requests")
	}
}

func TestPageShowsTheLog(t *testing.T) {
	page := write(t, samplePage(t))
	for _, want := range []string{"2,349,056 parameters", "29,000 pairs", "1,014 pairs", "avx512, 2 threads", "d_model 128", "Resumed</dt><dd dir=\"auto\">after step 40", "21 November 2026",
		"Best validation BLEU</span> <strong>30.00", "&lt;done&gt;", "All 4 settings", "Table of all validations",
		"&lt;i&gt;.en", "best, step 30", "step 10–40", "Cross-attention", "Encoder self-attention", "Decoder self-attention"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not contain %q", want)
		}
	}
}

// Runs with R-Drop have a chart of the KL divergence.
func TestPageOfRDrop(t *testing.T) {
	withKL := strings.ReplaceAll(logOf(startLine, stepLine(1), stepLine(2)), `"accuracy"`, `"kl":0.25,"accuracy"`)
	for log, want := range map[string]int{withKL: 1, logOf(startLine, stepLine(1), stepLine(2)): 0} {
		page := write(t, Page{Run: mustRead(t, log)})
		if got := strings.Count(page, "KL divergence over steps"); got != want {
			t.Errorf("%d charts of the KL divergence, want %d", got, want)
		}
	}
}

// Two pages of one run have the same bytes.
func TestPageIsReproducible(t *testing.T) {
	if write(t, samplePage(t)) != write(t, samplePage(t)) {
		t.Error("two pages of one run differ")
	}
}

func TestPagesOfUnusualLogs(t *testing.T) {
	for name, log := range map[string]string{
		"only a start":      logOf(startLine),
		"one step":          logOf(startLine, stepLine(1)),
		"only losses":       logOf(`{"event":"step","step":7,"loss":3}`, `{"event":"step","step":8,"loss":2}`),
		"no validation":     logOf(startLine, stepLine(1), stepLine(2), stepLine(3)),
		"only a validation": logOf(startLine, `{"event":"valid","step":1}`),
		"all NaN":           logOf(startLine, `{"event":"step","step":1}`, `{"event":"step","step":2,"loss":null}`),
		"huge numbers":      logOf(startLine, `{"event":"step","step":1,"loss":1e308,"nll":1e308,"grad_norm":1e-320,"rate":-1e308}`, `{"event":"step","step":2,"loss":-1e308,"grad_norm":1e308,"rate":1e308}`),
	} {
		r := mustRead(t, log)
		page := write(t, Page{Name: name, Run: r, Note: "no maps"})
		parse(t, page)
		if strings.Contains(page, "ZgotmplZ") || regexp.MustCompile(`="[^"]*(NaN|Inf)`).MatchString(page) {
			t.Errorf("%s: an attribute contains NaN or Inf", name)
		}
		if !strings.Contains(page, "no maps") {
			t.Errorf("%s: the page does not contain the note on the missing maps", name)
		}
	}
}

// The size of a page is bounded.
func TestLongRunIsThinned(t *testing.T) {
	lines := []string{startLine}
	for step := 1; step <= 10000; step++ {
		lines = append(lines, stepLine(step))
	}
	if page := write(t, Page{Run: mustRead(t, logOf(lines...))}); len(page) > 250_000 {
		t.Errorf("page of %d bytes, want at most 250,000", len(page))
	}
}

func TestHistories(t *testing.T) {
	var lines []string
	for step := 1; step <= 40; step++ {
		lines = append(lines, validLine(step, float64(min(step, 33)), step == 33, fmt.Sprint("take ", (step-1)/2)))
	}
	h := histories(mustRead(t, logOf(lines...)))
	if len(h) != 1 || len(h[0].Translations) != maxTranslations+1 {
		t.Fatalf("histories %+v, want one with %d translations", h, maxTranslations+1)
	}
	first, last, best := h[0].Translations[0], h[0].Translations[maxTranslations-1], h[0].Translations[maxTranslations]
	if first != (translation{From: 1, To: 2, Text: "take 0"}) || last != (translation{From: 39, To: 40, Text: "take 19"}) || best != (translation{From: 33, To: 33, Text: "take 16", Best: true}) {
		t.Errorf("first translation %+v, last %+v, best %+v", first, last, best)
	}
	h = histories(mustRead(t, logOf(validLine(1, 1, true, "one"), validLine(2, 2, true, "two"))))
	if want := []translation{{From: 1, To: 1, Text: "one"}, {From: 2, To: 2, Text: "two", Best: true}}; !slices.Equal(h[0].Translations, want) {
		t.Errorf("translations %+v, want %+v", h[0].Translations, want)
	}
	if s := Sources(mustRead(t, logOf(lines...)), 3); len(s) != 1 || s[0] != "A <b>dog</b>." {
		t.Errorf("Sources = %q", s)
	}
}

// The square of a grey level is the weight, to the precision of eight bits.
func TestPicturesEncodeTheWeights(t *testing.T) {
	s := sentenceOf(9, 6, 3, 2)
	all, err := s.attentions()
	if err != nil {
		t.Fatal(err)
	}
	for i, layers := range [][][]Weights{s.Cross, s.EncoderSelf, s.DecoderSelf} {
		for l, heads := range layers {
			for h, w := range heads {
				data, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(string(all[i].Layers[l].Heads[h].URL), "data:image/png;base64,"))
				if err != nil {
					t.Fatal(err)
				}
				img, err := png.Decode(bytes.NewReader(data))
				if err != nil {
					t.Fatal(err)
				}
				if b := img.Bounds(); b.Dx() != len(w[0]) || b.Dy() != len(w) {
					t.Fatalf("picture of %v for %d × %d weights", b, len(w), len(w[0]))
				}
				for y := range w {
					for x := range w[y] {
						grey, _, _, _ := img.At(x, y).RGBA()
						// half a grey level times the slope of the square,
						// ≤ 2
						if got := math.Pow(float64(grey)/0xffff, 2); math.Abs(got-float64(w[y][x])) > 1.0/255 {
							t.Fatalf("picture encodes %v, want the weight %v", got, w[y][x])
						}
					}
				}
			}
		}
	}
}

func TestLongSentencesAreTruncated(t *testing.T) {
	p := Page{Run: mustRead(t, logOf(startLine)), Sentences: []Sentence{sentenceOf(100, 30, 6, 8)}}
	page := write(t, p)
	parse(t, page)
	if !strings.Contains(page, "The source has 100 tokens, the translation 30. The maps show the first 48 and 30.") || !strings.Contains(page, "p47") || strings.Contains(page, "p48") {
		t.Error("the maps do not end at token 48, or the page does not mention the truncation")
	}
	p.Sentences[0].Cross[0][0] = p.Sentences[0].Cross[0][0][:3]
	if err := p.Write(io.Discard); err == nil || !strings.Contains(err.Error(), "found 3 rows of attention weights, expected 30") {
		t.Errorf("missing rows of weights: error %v", err)
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestWriteError(t *testing.T) {
	if err := samplePage(t).Write(fullDisk{}); err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("Write to a full disk: error %v", err)
	}
}
