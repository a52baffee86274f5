package translate_test

import (
	"context"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"tfm/model"
	"tfm/model/decode"
	"tfm/text"
	"tfm/text/markup"
	"tfm/text/split"
	"tfm/text/tokenizer/vocab"
	"tfm/translate"
)

var background = context.Background()

// translate imports neither training nor scoring.
func TestImportsNoTraining(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "tfm/translate").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range strings.Fields(string(out)) {
		if strings.HasPrefix(p, "tfm/train") || strings.HasPrefix(p, "tfm/text/score") || strings.HasPrefix(p, "tfm/cmd") || strings.HasPrefix(p, "tfm/internal/bench") {
			t.Errorf("translate imports %s", p)
		}
	}
}

func TestTranslate(t *testing.T) {
	tr := open(t, translate.Options{Threads: 2})
	sources, want := phrases()
	got, err := tr.Translate(background, append(sources, "", " \t"))
	if err != nil || !slices.Equal(got, append(want, "", "")) {
		t.Errorf("Translate = %q, %v, want %q", got, err, want)
	}
	if got, err := tr.Translate(background, nil); err != nil || len(got) != 0 {
		t.Errorf("Translate of no texts = %q, %v", got, err)
	}
}

// The result of a text does not depend on the other texts of the request, and its fields are
// consistent.
func TestDo(t *testing.T) {
	tr := open(t, translate.Options{Threads: 1})
	texts := []string{"the red dog", "", "the old tree the good cat", "   ", "unknown 日本語 text", "the black book "}
	request := translate.Request{Texts: texts, Attention: true, MaxSource: 7}
	request.Decode = decode.DefaultOptions()
	request.Decode.Beam, request.Decode.NBest = 5, 3
	results, err := tr.Do(background, request)
	if err != nil {
		t.Fatal(err)
	}
	if len(results) != len(texts) {
		t.Fatalf("%d results for %d texts", len(results), len(texts))
	}
	best, err := tr.Translate(background, texts)
	if err != nil {
		t.Fatal(err)
	}
	truncated := 0
	for i, r := range results {
		if text.IsBlank(texts[i]) {
			if !reflect.DeepEqual(r, translate.Result{}) {
				t.Errorf("blank text: %+v, want no translations", r)
			}
			continue
		}
		alone := request
		alone.Texts = texts[i : i+1]
		if got, err := tr.Do(background, alone); err != nil || !reflect.DeepEqual(got[0], r) {
			t.Errorf("%q gives %+v, %v alone and %+v in a request of several", texts[i], got, err, r)
		}
		if len(r.Translations) == 0 || len(r.Translations) > 3 || r.TruncatedTo == 0 && r.Best() != best[i] {
			t.Errorf("%q: %d translations, the first %q; Translate returns %q", texts[i], len(r.Translations), r.Best(), best[i])
		}
		ids := tr.Tokenizers().Source.Encode(nil, texts[i])
		if r.SourceTokens != len(ids) || r.TruncatedTo != 0 && (r.TruncatedTo != 7 || len(ids) <= 7) || len(r.Tokens) != min(len(ids), 7) {
			t.Errorf("%q of %d tokens: SourceTokens %d, TruncatedTo %d, %d Tokens", texts[i], len(ids), r.SourceTokens, r.TruncatedTo, len(r.Tokens))
		}
		if r.TruncatedTo > 0 {
			truncated++
		}
		contiguous(t, texts[i], r.Tokens, r.TruncatedTo == 0)
		for j, h := range r.Translations {
			if j > 0 && h.Score > r.Translations[j-1].Score {
				t.Errorf("%q: score %v after %v, want descending", texts[i], h.Score, r.Translations[j-1].Score)
			}
			contiguous(t, h.Text, h.Tokens, true)
			if len(h.Attention) != len(h.Tokens)+1 || len(h.Alignment()) != len(h.Tokens) {
				t.Fatalf("%q: attention of %d rows for %d tokens and EOS", h.Text, len(h.Attention), len(h.Tokens))
			}
			for k, row := range h.Attention {
				sum := 0.0
				for _, w := range row {
					sum += float64(w)
				}
				if len(row) != len(r.Tokens)+1 || math.Abs(sum-1) > 1e-6 {
					t.Errorf("%q: attention row %d has %d weights for %d tokens and EOS, sum %v", h.Text, k, len(row), len(r.Tokens), sum)
				}
			}
		}
	}
	if truncated == 0 {
		t.Error("no text was truncated")
	}
}

// A text with a sentence that the constraints leave without a translation has an Err: here because
// a character of four bytes does not fit.
func TestNoTranslation(t *testing.T) {
	tr := open(t, translate.Options{})
	for _, of := range []translate.Request{
		{Prefix: "🙂🙂"},
		{Prefix: "🙂🙂", Split: &split.Options{}},
		{Prefix: "🙂🙂", Markup: markup.ReadHTML},
	} {
		of.Texts = []string{"the red dog. the black cat.", ""}
		of.Decode = tr.DefaultOptions()
		of.Decode.MaxTokens = 2
		results, err := tr.Do(context.Background(), of)
		if err != nil || results[0].Err == nil || results[1].Err != nil {
			t.Errorf("results %+v, error %v", results, err)
		}
		if of.Markup == nil {
			if _, err := tr.Marked(context.Background(), of, []markup.Text{{Plain: "the red dog."}}); err == nil || !strings.HasPrefix(err.Error(), `"the red dog.": no translation: `) {
				t.Errorf("error %v", err)
			}
		}
	}
}

// A result reports the number of source tokens and the source limit of a truncated text.
func TestTruncatedSource(t *testing.T) {
	tr := open(t, translate.Options{Threads: 1})
	encode := func(s string) []int32 { return tr.Tokenizers().Source.Encode(nil, s) }
	longest := strings.TrimSpace(strings.Repeat("the cat ", 100))
	for len(encode(longest)) > tr.MaxSource() {
		longest = longest[:len(longest)-1]
	}
	if n := len(encode(longest)); n != tr.MaxSource() {
		t.Fatalf("a text of %d tokens, want %d", n, tr.MaxSource())
	}
	texts := []string{"the red dog", "", longest, longest + " the old tree"}
	for _, maxSource := range []int{0, 2, 1000} {
		limit := tr.MaxSource()
		if maxSource == 2 {
			limit = 2
		}
		results, err := tr.Do(background, translate.Request{Texts: texts, MaxSource: maxSource, Tokens: true})
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range results {
			n, wantTruncatedTo := len(encode(texts[i])), 0
			if n > limit {
				wantTruncatedTo = limit
			}
			if r.SourceTokens != n || r.TruncatedTo != wantTruncatedTo || r.Truncated() != (n > limit) || len(r.Tokens) != min(n, limit) {
				t.Errorf("MaxSource %d, text %d: %d source tokens, truncated to %d (%t), %d returned; want %d, %d, %d",
					maxSource, i, r.SourceTokens, r.TruncatedTo, r.Truncated(), len(r.Tokens), n, wantTruncatedTo, min(n, limit))
			}
		}
	}
	var kinds []string
	o := translate.LineOptions{Warn: func(w text.Warning) { kinds = append(kinds, w.Kind) }}
	for batch, err := range tr.Lines(background, mended(strings.Join(texts, "\n")), o) {
		for _, l := range batch {
			if err != nil || l.Truncated() != (l.Number == 4) {
				t.Errorf("line %d: truncated %t, %v", l.Number, l.Truncated(), err)
			}
		}
	}
	if !slices.Equal(kinds, []string{translate.TruncatedLine}) {
		t.Errorf("warnings of the kinds %q, want %q", kinds, translate.TruncatedLine)
	}
}

// contiguous checks that the ranges of tokens are adjacent and cover s or, if whole is false, a
// prefix of it.
func contiguous(t *testing.T, s string, tokens []translate.Token, whole bool) {
	t.Helper()
	at := 0
	for i, k := range tokens {
		if k.Start != at || k.End < k.Start || k.End > len(s) || !utf8.ValidString(s[k.Start:k.End]) {
			t.Errorf("%q: token %d has bytes %d to %d, want a range from %d", s, i, k.Start, k.End, at)
			return
		}
		at = k.End
	}
	if whole && at != len(s) {
		t.Errorf("%q: tokens end at byte %d, want %d", s, at, len(s))
	}
}

// Attention equals decode.Decoder.Attention of the result's tokens, which package model/decode
// tests against model.Pass.
func TestAttentionIsOfTheTokens(t *testing.T) {
	tr := open(t, translate.Options{Threads: 1, KeepModel: true})
	results, err := tr.Do(background, translate.Request{Texts: []string{"the red dog"}, Attention: true})
	if err != nil {
		t.Fatal(err)
	}
	r := results[0]
	ids := func(tokens []translate.Token) (ids []int32) {
		for _, k := range tokens {
			ids = append(ids, k.ID)
		}
		return ids
	}
	want := attentionOf(tr.Model(), ids(r.Tokens), ids(r.Translations[0].Tokens))
	for i, row := range r.Translations[0].Attention {
		if !slices.Equal(row, want[i]) {
			t.Errorf("row %d is %v, want %v", i, row, want[i])
		}
	}
}

func attentionOf(m *model.Transformer, src, tgt []int32) [][]float32 {
	d := decode.New(decode.NewWeights(m, nil), nil)
	all, err := d.Attention(background, [][]int32{src}, [][]int32{tgt}, decode.AlignHeads{})
	if err != nil {
		panic(err)
	}
	return all[0]
}

func TestAlignment(t *testing.T) {
	r := translate.Translation{Tokens: make([]translate.Token, 3), Attention: [][]float32{{0.1, 0.3, 0.6}, {0.4, 0.4, 0.2}, {0, 0.1, 0.9}, {0, 0, 1}}}
	if got := r.Alignment(); !slices.Equal(got, []int{1, 0, 1}) {
		t.Errorf("Alignment = %v, want [1 0 1]: without EOS, the first of equal weights", got)
	}
	r.Attention = [][]float32{{1}, {1}, {1}, {1}}
	if got := r.Alignment(); got != nil {
		t.Errorf("Alignment to a source without tokens = %v, want nil", got)
	}
	if got := (translate.Translation{Tokens: make([]translate.Token, 3)}).Alignment(); got != nil {
		t.Errorf("Alignment without Attention = %v, want nil", got)
	}
}

// In int8 a call has the translations of single calls, for any number of threads.
func TestInt8(t *testing.T) {
	sources, targets := phrases()
	alone := open(t, translate.Options{Threads: 1, Int8: true})
	all, err := open(t, translate.Options{Threads: 2, Int8: true}).Do(background, translate.Request{Texts: sources})
	if err != nil {
		t.Fatal(err)
	}
	equal := 0
	for i, s := range sources {
		one, err := alone.Do(background, translate.Request{Texts: []string{s}})
		if err != nil || !reflect.DeepEqual(one[0], all[i]) {
			t.Errorf("%q: %+v alone, error %v, want %+v", s, one, err, all[i])
		}
		if all[i].Best() == targets[i] {
			equal++
		}
	}
	if 10*equal < 9*len(sources) {
		t.Errorf("%d of %d translations are those of float32, want 90 %%", equal, len(sources))
	}
}

// Concurrent calls with different options, without a limit and more than Options.Concurrent, have
// the results of single calls.
func TestConcurrentCalls(t *testing.T) {
	concurrentCalls(t, open(t, translate.Options{Threads: 2}))
	concurrentCalls(t, open(t, translate.Options{Threads: 2, Concurrent: 3}))
}

func concurrentCalls(t *testing.T, tr *translate.Translator) {
	sources, _ := phrases()
	request := func(i int) translate.Request {
		r := translate.Request{Texts: sources[i%4:], Decode: decode.DefaultOptions()}
		r.Decode.Beam = 1 + i%5
		if i%3 == 0 {
			r.Decode.Sample, r.Decode.NBest, r.Decode.Seed, r.Attention = true, 4, uint64(i), true
		}
		return r
	}
	alone := open(t, translate.Options{Threads: 1})
	var all sync.WaitGroup
	for i := range 20 {
		want, err := alone.Do(background, request(i))
		if err != nil {
			t.Fatal(err)
		}
		all.Add(1)
		go func() {
			defer all.Done()
			if got, err := tr.Do(background, request(i)); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("call %d: %+v, %v, want %+v", i, got, err, want)
			}
		}()
	}
	all.Wait()
}

// A cancelled call returns, both while it translates and while it waits for another call.
func TestCancelledCallReturns(t *testing.T) {
	tr := open(t, translate.Options{Threads: 1, Concurrent: 1})
	long := slices.Repeat([]string{strings.Repeat("the red dog ", 8)}, 20_000) // minutes of work
	r := translate.Request{Texts: long, Decode: decode.DefaultOptions()}
	r.Decode.Beam = 64
	ctx, cancel := context.WithCancel(background)
	first := make(chan error, 1)
	go func() {
		_, err := tr.Do(ctx, r)
		first <- err
	}()
	waiting, stop := context.WithTimeout(background, 50*time.Millisecond)
	defer stop()
	if _, err := tr.Do(waiting, r); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("waiting call: error %v, want %v", err, context.DeadlineExceeded)
	}
	cancel()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("translating call: error %v, want %v", err, context.Canceled)
	}
	if got, err := tr.Translate(background, []string{"the red dog"}); err != nil || got[0] != "le chien rouge" {
		t.Errorf("after the cancelled calls: Translate = %q, %v", got, err)
	}
}

// canceller is a tokenizer that cancels the call it encodes for.
type canceller struct {
	text.Tokenizer
	cancel func()
	texts  int // number of texts encoded
}

func (c *canceller) Encode(dst []int32, s string) []int32 {
	c.texts++
	c.cancel()
	return c.Tokenizer.Encode(dst, s)
}

// A cancelled call does not encode its remaining texts.
func TestCancelledCallStopsEncoding(t *testing.T) {
	tr := open(t, translate.Options{Threads: 1, KeepModel: true})
	ctx, cancel := context.WithCancel(background)
	tokens := tr.Tokenizers()
	source := &canceller{tokens.Source, cancel, 0}
	cancelled, err := translate.New(tr.Model(), vocab.Tokenizers{Source: source, Target: tokens.Target}, translate.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer cancelled.Close()
	if _, err := cancelled.Translate(ctx, slices.Repeat([]string{"the red dog"}, 3)); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
	if source.texts != 1 {
		t.Errorf("%d texts encoded, want 1", source.texts)
	}
	for range 20 { // a decoder is free, so select may choose either case
		if got, err := cancelled.Translate(ctx, []string{" "}); !errors.Is(err, context.Canceled) {
			t.Fatalf("blank text: %q, error %v, want %v", got, err, context.Canceled)
		}
	}
}

func TestLanguages(t *testing.T) {
	tr := open(t, translate.Options{Threads: 1, KeepModel: true})
	if src, tgt := tr.Languages(); src != "" || tgt != "" {
		t.Errorf("file without languages: %q and %q", src, tgt)
	}
	tokens, err := tr.Tokenizers().Marshal()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "m.safetensors")
	if err := (model.File{Model: tr.Model(), Tokenizers: tokens, SrcLang: "en", TgtLang: "pt-BR"}).Save(path); err != nil {
		t.Fatal(err)
	}
	named, err := translate.Open(path, translate.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer named.Close()
	if src, tgt := named.Languages(); src != "en" || tgt != "pt-BR" {
		t.Errorf("Languages = %q, %q, want en, pt-BR", src, tgt)
	}
}

// Without options, requests use the length penalty of the model file, or else of Options.Decoding.
// Explicit options are used exactly.
func TestLengthPenaltyOfTheModel(t *testing.T) {
	toy := open(t, translate.Options{Threads: 1, KeepModel: true})
	files, err := toy.Tokenizers().Marshal()
	if err != nil {
		t.Fatal(err)
	}
	mean, sum := decode.Settings{LengthPenalty: decode.PenaltyPower, Alpha: 1}, decode.Settings{LengthPenalty: decode.PenaltyWu}
	path := filepath.Join(t.TempDir(), "m.safetensors")
	if err := (model.File{Model: toy.Model(), Tokenizers: files, Decoding: mean.String()}).Save(path); err != nil {
		t.Fatal(err)
	}
	fromFile := func(path string) func(translate.Options) (*translate.Translator, error) {
		return func(o translate.Options) (*translate.Translator, error) { return translate.Open(path, o) }
	}
	fromMemory := func(o translate.Options) (*translate.Translator, error) {
		return translate.New(toy.Model(), toy.Tokenizers(), o)
	}
	for _, c := range []struct {
		name     string
		new      func(translate.Options) (*translate.Translator, error)
		decoding decode.Settings // of the Options
		want     decode.Settings
	}{
		{"file", fromFile(path), decode.Settings{}, mean},
		{"file and Options", fromFile(path), sum, sum},
		{"file with the paper's", fromFile(toyModel()), decode.Settings{}, decode.PaperSettings()},
		{"New", fromMemory, decode.Settings{}, decode.PaperSettings()},
		{"New with Options", fromMemory, mean, mean},
	} {
		tr, err := c.new(translate.Options{Threads: 1, Decoding: c.decoding})
		if err != nil {
			t.Fatal(err)
		}
		defer tr.Close()
		if got := tr.DefaultOptions(); got != decode.OptionsFor(c.want) {
			t.Errorf("%s: DefaultOptions() = %+v, want %+v", c.name, got, decode.OptionsFor(c.want))
		}
		texts := []string{"the old tree"}
		// The search is exhaustive enough that only the scores depend on the penalty.
		score := func(o decode.Options) float64 {
			results, err := tr.Do(background, translate.Request{Texts: texts, Decode: o})
			if err != nil {
				t.Fatal(err)
			}
			return results[0].Translations[0].Score
		}
		logP := score(decode.Options{Beam: 4, MaxExtra: 50}) // without a length penalty
		// The tolerance of ratios covers the rounding of float64.
		n := float64(len(tr.Tokenizers().Target.Encode(nil, "le arbre vieux")) + 1)
		want := logP / math.Pow((5+n)/6, c.want.Alpha)
		if c.want.LengthPenalty == decode.PenaltyPower {
			want = logP / math.Pow(n, c.want.Alpha)
		}
		if got := score(decode.Options{}); math.Abs(got/want-1) > 1e-12 {
			t.Errorf("%s: score %v, want %v", c.name, got, want)
		}
		if got, want := score(decode.DefaultOptions()), logP/math.Pow((5+n)/6, 0.6); math.Abs(got/want-1) > 1e-12 {
			t.Errorf("%s: score %v under decode.DefaultOptions, want %v", c.name, got, want)
		}
		for lines, err := range tr.Lines(background, text.RepairLines(strings.NewReader(texts[0]), "text"), translate.LineOptions{}) {
			if err != nil || lines[0].Translations[0].Score != score(decode.Options{}) {
				t.Errorf("%s: Lines yields %+v, %v; want the score %v", c.name, lines[0], err, score(decode.Options{}))
			}
		}
	}
}

func TestClose(t *testing.T) {
	tr, err := translate.Open(toyModel(), translate.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(tr.Close(), tr.Close()); err != nil {
		t.Error(err)
	}
	if _, err := tr.Translate(background, []string{"the red dog"}); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("after Close: error %v, want \"closed\"", err)
	}
}

func TestOptionErrors(t *testing.T) {
	tr := open(t, translate.Options{Threads: 1, KeepModel: true})
	for field, r := range map[string]translate.Request{
		"beam":       {Decode: decode.Options{Alpha: 1}},
		"max_source": {MaxSource: -1},
		"top_p":      {Decode: decode.Options{Sample: true, Temperature: 1}},
	} {
		var invalid *model.FieldError
		if _, err := tr.Do(background, r); !errors.As(err, &invalid) || invalid.Field != field {
			t.Errorf("error %v, want a *FieldError for %s", err, field)
		}
	}
	for _, o := range []translate.Options{{Threads: -1}, {Concurrent: -1}} {
		if _, err := translate.Open(toyModel(), o); err == nil || !strings.Contains(err.Error(), "is -1, expected 0 or more") {
			t.Errorf("%+v: error %v, want \"is -1, expected 0 or more\"", o, err)
		}
	}
	if _, err := translate.Open(toyModel(), translate.Options{Decoding: decode.Settings{Alpha: 1}}); !errors.As(err, new(*model.FieldError)) {
		t.Errorf("decoding without a length penalty: error %v, want a *FieldError", err)
	}
	missing := filepath.Join(t.TempDir(), "none")
	if _, err := translate.Open(missing, translate.Options{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: error %v, want %v", err, os.ErrNotExist)
	}
	m := tr.Model()
	short := m.Config
	short.MaxLen = 1 // EOS only
	shortModel, err := model.New(short)
	if err != nil {
		t.Fatal(err)
	}
	shortModel.AllocWeights()
	if _, err := translate.New(shortModel, tr.Tokenizers(), translate.Options{}); err == nil || err.Error() != "max_len is 1, expected 2 or more to translate" {
		t.Errorf("model with max_len 1: error %v, want a *FieldError", err)
	}
	path := filepath.Join(t.TempDir(), "m.safetensors")
	if err := (model.File{Model: m}).Save(path); err != nil {
		t.Fatal(err)
	}
	if _, err := translate.Open(path, translate.Options{}); err == nil || !strings.HasPrefix(err.Error(), path+": ") {
		t.Errorf("model without tokenizers: error %v, want one that names the file", err)
	}
}

// For any output of the model, a translation is one line of valid UTF-8, covered by its tokens, and
// no byte of it is replaced.
func TestTranslationsAreOneValidLine(t *testing.T) {
	tr := open(t, translate.Options{Threads: 1})
	r := translate.Request{Texts: slices.Repeat([]string{"the red dog"}, 30), Tokens: true, Decode: decode.DefaultOptions()}
	r.Decode.Sample, r.Decode.Temperature, r.Decode.NBest = true, 50, 10 // any byte
	results, err := tr.Do(background, r)
	if err != nil {
		t.Fatal(err)
	}
	multibyte, spaces := 0, 0
	for _, result := range results {
		for _, h := range result.Translations {
			var ids []int32
			for _, k := range h.Tokens {
				ids = append(ids, k.ID)
			}
			raw := tr.Tokenizers().Target.Decode(ids)
			want := strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ").Replace(raw)
			if h.Text != want || !utf8.ValidString(raw) {
				t.Errorf("tokens of %q: Text %q, want %q", raw, h.Text, want)
			}
			contiguous(t, h.Text, h.Tokens, true)
			multibyte += len(raw) - utf8.RuneCountInString(raw)
			if strings.ContainsAny(raw, "\r\n") {
				spaces++
			}
		}
	}
	if multibyte < 100 || spaces < 5 {
		t.Errorf("%d further bytes of characters and %d translations with line endings, want at least 100 and 5", multibyte, spaces)
	}
}
