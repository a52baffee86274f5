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
	"tfm/text/vocab"
	"tfm/translate"
)

var background = context.Background()

// Who imports translate gets neither training nor scores.
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
		t.Errorf("translated to %q, %v, want %q", got, err, want)
	}
	if got, err := tr.Translate(background, nil); err != nil || len(got) != 0 {
		t.Errorf("%q, %v of nothing", got, err)
	}
}

// What Do returns of a text does not depend on the texts beside it, and everything it carries
// fits together.
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
		t.Fatalf("%d results of %d texts", len(results), len(texts))
	}
	best, err := tr.Translate(background, texts)
	if err != nil {
		t.Fatal(err)
	}
	cut := 0
	for i, r := range results {
		if text.IsBlank(texts[i]) {
			if !reflect.DeepEqual(r, translate.Result{}) {
				t.Errorf("of a blank text came %+v", r)
			}
			continue
		}
		alone := request
		alone.Texts = texts[i : i+1]
		if got, err := tr.Do(background, alone); err != nil || !reflect.DeepEqual(got[0], r) {
			t.Errorf("%q gives %+v, %v alone and %+v among others", texts[i], got, err, r)
		}
		if len(r.Translations) == 0 || len(r.Translations) > 3 || r.TruncatedTo == 0 && r.Best() != best[i] {
			t.Errorf("%q: %d translations, the first %q, Translate says %q", texts[i], len(r.Translations), r.Best(), best[i])
		}
		ids := tr.Tokenizers().Source.Encode(nil, texts[i])
		if r.SourceTokens != len(ids) || r.TruncatedTo != 0 && (r.TruncatedTo != 7 || len(ids) <= 7) || len(r.Tokens) != min(len(ids), 7) {
			t.Errorf("%q of %d tokens: length %d, cut to %d, with %d tokens", texts[i], len(ids), r.SourceTokens, r.TruncatedTo, len(r.Tokens))
		}
		if r.TruncatedTo > 0 {
			cut++
		}
		contiguous(t, texts[i], r.Tokens, r.TruncatedTo == 0)
		for j, h := range r.Translations {
			if j > 0 && h.Score > r.Translations[j-1].Score {
				t.Errorf("%q: scores rise from %v to %v", texts[i], r.Translations[j-1].Score, h.Score)
			}
			contiguous(t, h.Text, h.Tokens, true)
			if len(h.Attention) != len(h.Tokens)+1 || len(h.Alignment()) != len(h.Tokens) {
				t.Fatalf("%q: attention of %d steps for %d tokens", h.Text, len(h.Attention), len(h.Tokens))
			}
			for k, row := range h.Attention {
				sum := 0.0
				for _, w := range row {
					sum += float64(w)
				}
				if len(row) != len(r.Tokens)+1 || math.Abs(sum-1) > 1e-6 {
					t.Errorf("%q: row %d has %d weights for %d tokens, which sum to %v", h.Text, k, len(row), len(r.Tokens), sum)
				}
			}
		}
	}
	if cut == 0 {
		t.Error("no text was cut")
	}
}

// A result says whether its text was truncated, how many tokens it has and what the source limit is.
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

// contiguous reports that tokens divide s, or with whole false a part of it from the start.
func contiguous(t *testing.T, s string, tokens []translate.Token, whole bool) {
	t.Helper()
	at := 0
	for i, k := range tokens {
		if k.Start != at || k.End < k.Start || k.End > len(s) || !utf8.ValidString(s[k.Start:k.End]) {
			t.Errorf("%q: token %d is bytes %d to %d, the one before ends at %d", s, i, k.Start, k.End, at)
			return
		}
		at = k.End
	}
	if whole && at != len(s) {
		t.Errorf("%q: tokens end at byte %d", s, at)
	}
}

// Attention is that of the pair of the result's tokens, which package model/decode holds against
// the passes of training.
func TestAttentionIsOfTheTokens(t *testing.T) {
	tr := open(t, translate.Options{Threads: 1})
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
	all, err := d.Attention(background, [][]int32{src}, [][]int32{tgt})
	if err != nil {
		panic(err)
	}
	return all[0]
}

func TestAlignment(t *testing.T) {
	r := translate.Translation{Tokens: make([]translate.Token, 3), Attention: [][]float32{{0.1, 0.3, 0.6}, {0.4, 0.4, 0.2}, {0, 0.1, 0.9}, {0, 0, 1}}}
	if got := r.Alignment(); !slices.Equal(got, []int{1, 0, 1}) {
		t.Errorf("aligned to %v, want [1 0 1]: the end takes no part, and of equal ones the first is taken", got)
	}
	r.Attention = [][]float32{{1}, {1}, {1}, {1}}
	if got := r.Alignment(); got != nil {
		t.Errorf("aligned to %v, and the source has no token", got)
	}
	if got := (translate.Translation{Tokens: make([]translate.Token, 3)}).Alignment(); got != nil {
		t.Errorf("aligned to %v without attention", got)
	}
}

// Calls from many goroutines, more than translate at once, with options of their own, get what
// they would get alone.
func TestConcurrentCalls(t *testing.T) {
	tr := open(t, translate.Options{Threads: 2, Concurrent: 3})
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
				t.Errorf("call %d beside others: %+v, %v, want %+v", i, got, err, want)
			}
		}()
	}
	all.Wait()
}

// A call that is cancelled returns, while it translates and while it waits for another one.
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
		t.Errorf("a call that waits: %v", err)
	}
	cancel()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("a call that translates: %v", err)
	}
	if got, err := tr.Translate(background, []string{"the red dog"}); err != nil || got[0] != "le chien rouge" {
		t.Errorf("afterwards %q, %v", got, err)
	}
}

// canceller is a tokenizer that cancels the call that it encodes a text for.
type canceller struct {
	text.Tokenizer
	cancel func()
	texts  int // that it has encoded
}

func (c *canceller) Encode(dst []int32, s string) []int32 {
	c.texts++
	c.cancel()
	return c.Tokenizer.Encode(dst, s)
}

// A call that is cancelled does not first encode all of its texts.
func TestCancelledCallEncodesNothingMore(t *testing.T) {
	tr := open(t, translate.Options{Threads: 1})
	ctx, cancel := context.WithCancel(background)
	tokens := tr.Tokenizers()
	source := &canceller{tokens.Source, cancel, 0}
	cancelled, err := translate.New(tr.Model(), vocab.Pair{Source: source, Target: tokens.Target}, translate.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer cancelled.Close()
	if _, err := cancelled.Translate(ctx, slices.Repeat([]string{"the red dog"}, 3)); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, expected %v", err, context.Canceled)
	}
	if source.texts != 1 {
		t.Errorf("%d texts were encoded, expected 1", source.texts)
	}
	for range 20 { // a decoder is free, so that a select would take either
		if got, err := cancelled.Translate(ctx, []string{" "}); !errors.Is(err, context.Canceled) {
			t.Fatalf("a text without a word is %q with error %v, expected %v", got, err, context.Canceled)
		}
	}
}

func TestLanguages(t *testing.T) {
	tr := open(t, translate.Options{Threads: 1})
	if src, tgt := tr.Languages(); src != "" || tgt != "" {
		t.Errorf("a file that names no language: %q and %q", src, tgt)
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
		t.Errorf("%q and %q, want en and pt-BR", src, tgt)
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
		t.Errorf("after Close: %v", err)
	}
}

func TestErrorsOfSettings(t *testing.T) {
	tr := open(t, translate.Options{Threads: 1})
	for field, r := range map[string]translate.Request{
		"beam":       {Decode: decode.Options{Alpha: 1}},
		"max_source": {MaxSource: -1},
		"top_p":      {Decode: decode.Options{Sample: true, Temperature: 1}},
	} {
		var invalid *model.FieldError
		if _, err := tr.Do(background, r); !errors.As(err, &invalid) || invalid.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	for _, o := range []translate.Options{{Threads: -1}, {Concurrent: -1}} {
		if _, err := translate.Open(toyModel(), o); err == nil || !strings.Contains(err.Error(), "is -1, expected 0 or more") {
			t.Errorf("%+v: %v", o, err)
		}
	}
	missing := filepath.Join(t.TempDir(), "none")
	if _, err := translate.Open(missing, translate.Options{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	m := tr.Model()
	path := filepath.Join(t.TempDir(), "m.safetensors")
	if err := (model.File{Model: m}).Save(path); err != nil {
		t.Fatal(err)
	}
	if _, err := translate.Open(path, translate.Options{}); err == nil || !strings.HasPrefix(err.Error(), path+": ") {
		t.Errorf("a model without tokenizers: %v", err)
	}
}

// Whatever a model says, a translation is one line of valid UTF-8, and its tokens divide it.
func TestTranslationsAreOneValidLine(t *testing.T) {
	tr := open(t, translate.Options{Threads: 1})
	r := translate.Request{Texts: slices.Repeat([]string{"the red dog"}, 30), Tokens: true, Decode: decode.DefaultOptions()}
	r.Decode.Sample, r.Decode.Temperature, r.Decode.NBest = true, 50, 10 // any byte
	results, err := tr.Do(background, r)
	if err != nil {
		t.Fatal(err)
	}
	replaced, spaces := 0, 0
	for _, result := range results {
		for _, h := range result.Translations {
			var ids []int32
			for _, k := range h.Tokens {
				ids = append(ids, k.ID)
			}
			raw := tr.Tokenizers().Target.Decode(ids)
			want := strings.ToValidUTF8(strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ").Replace(raw), "\uFFFD")
			if h.Text != want {
				t.Errorf("%q has become %q, want %q", raw, h.Text, want)
			}
			contiguous(t, h.Text, h.Tokens, true)
			replaced += strings.Count(h.Text, "\uFFFD")
			if strings.ContainsAny(raw, "\r\n") {
				spaces++
			}
		}
	}
	if replaced < 100 || spaces < 5 {
		t.Errorf("%d characters replaced and %d translations with ends of lines: too few to have been tried", replaced, spaces)
	}
}
