package translate_test

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
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
	results := do(t, tr, request)
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

// A text of as many tokens as the source limit is not truncated, a longer one is. TestDo has a
// limit of the request.
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
	results := do(t, tr, translate.Request{Texts: []string{longest, longest + " the old tree"}, Tokens: true})
	for i, want := range []int{0, tr.MaxSource()} {
		r := results[i]
		if r.TruncatedTo != want || r.Truncated() != (want > 0) || len(r.Tokens) != tr.MaxSource() || r.SourceTokens != tr.MaxSource() && want == 0 {
			t.Errorf("text %d: %d source tokens, truncated to %d, %d returned; want %d", i, r.SourceTokens, r.TruncatedTo, len(r.Tokens), want)
		}
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
	cancelled := newTranslator(t, tr.Model(), vocab.Tokenizers{Source: source, Target: tokens.Target}, translate.Options{Threads: 1})
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
		r := translate.Request{Texts: []string{"the old tree"}, Decode: tr.DefaultOptions()}
		want := do(t, tr, r)
		if r.Decode = (decode.Options{}); !reflect.DeepEqual(do(t, tr, r), want) {
			t.Errorf("%s: without options %+v, want %+v", c.name, do(t, tr, r), want)
		}
		if r.Decode.Beam, r.Decode.MaxExtra = 4, 50; reflect.DeepEqual(do(t, tr, r), want) != (c.want.Alpha == 0) {
			t.Errorf("%s: without a length penalty %+v", c.name, do(t, tr, r))
		}
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
