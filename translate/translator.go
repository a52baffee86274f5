package translate

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"tfm/mat"
	"tfm/model"
	"tfm/model/decode"
	"tfm/text/vocab"
)

// Options are those of a Translator.
type Options struct {
	Threads int // that kernels run on; 0 is GOMAXPROCS. No result depends on it

	// Concurrent is the number of calls that translate at once; more wait for one of them to end.
	// Each takes memory for its batch beside the weights, which all share. 0 is Threads.
	Concurrent int
}

// Translator translates text with a model. It is safe for concurrent use.
type Translator struct {
	model   *model.Transformer
	tokens  vocab.Pair
	weights *decode.Weights
	pool    *mat.Pool

	srcLang, tgtLang string // of the model file

	free      chan *decode.Decoder // one for each call that may translate; nil if it has not been made yet
	closeOnce sync.Once
}

// errClosed is the error of calls after Close.
var errClosed = errors.New("translate: the Translator is closed")

// Open reads the model file at path, whole and verified. Errors name the file.
func Open(path string, o Options) (*Translator, error) {
	file, err := model.Load(path, false)
	if err != nil {
		return nil, err
	}
	tokens, err := vocab.UnmarshalPair(file.Tokenizers)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	t, err := New(file.Model, tokens, o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	t.srcLang, t.tgtLang = file.SrcLang, file.TgtLang
	return t, nil
}

// New returns a Translator of a model in memory, which must have been allocated and must not be
// trained while the Translator is in use.
func New(m *model.Transformer, tokens vocab.Pair, o Options) (*Translator, error) {
	if src, tgt := tokens.Source.Size(), tokens.Target.Size(); src != m.Config.SrcVocab || tgt != m.Config.TgtVocab {
		return nil, fmt.Errorf("tokenizers of %d and %d pieces, expected %d and %d as the configuration says", src, tgt, m.Config.SrcVocab, m.Config.TgtVocab)
	}
	switch {
	case o.Threads < 0:
		return nil, &model.FieldError{Field: "threads", Found: o.Threads, Expected: "0 or more"}
	case o.Concurrent < 0:
		return nil, &model.FieldError{Field: "concurrent", Found: o.Concurrent, Expected: "0 or more"}
	}
	if o.Threads == 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	if o.Concurrent == 0 {
		o.Concurrent = o.Threads
	}
	t := &Translator{model: m, tokens: tokens, pool: mat.NewPool(o.Threads), free: make(chan *decode.Decoder, o.Concurrent)}
	t.weights = decode.NewWeights(m, t.pool)
	for range o.Concurrent {
		t.free <- nil
	}
	return t, nil
}

// Close waits for the calls that translate and frees the Translator's threads. Calls after it
// return an error. It may be called more than once, and returns nil.
func (t *Translator) Close() error {
	t.closeOnce.Do(func() {
		for range cap(t.free) {
			<-t.free
		}
		close(t.free)
		t.pool.Close()
	})
	return nil
}

// Model is the model that translates. It must not be changed.
func (t *Translator) Model() *model.Transformer { return t.model }

// Tokenizers are the model's.
func (t *Translator) Tokenizers() vocab.Pair { return t.tokens }

// Languages are the languages that the model translates from and to, as tags of BCP 47 such as
// "en" or "pt-BR". Each is "" if the model file does not name it, and without a file.
func (t *Translator) Languages() (source, target string) { return t.srcLang, t.tgtLang }

// MaxSource is the most tokens of a text that the model translates.
func (t *Translator) MaxSource() int { return t.model.Config.MaxLen - 1 }

// acquire waits for a decoder that no other call has. release gives it back.
func (t *Translator) acquire(ctx context.Context) (*decode.Decoder, error) {
	select {
	case d, ok := <-t.free:
		if !ok {
			return nil, errClosed
		}
		if d == nil {
			d = decode.New(t.weights, t.pool)
		}
		return d, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (t *Translator) release(d *decode.Decoder) { t.free <- d }

// Translate returns the best translation of each text, as decode.DefaultOptions find it. A text
// without a word stays empty. A text is a sentence, or a line; of one with more than MaxSource
// tokens the first are translated, and Do tells which those are. The error is that of ctx, which
// is looked at between the steps of decoding.
func (t *Translator) Translate(ctx context.Context, texts []string) ([]string, error) {
	results, err := t.Do(ctx, Request{Texts: texts})
	if err != nil {
		return nil, err
	}
	out := make([]string, len(results))
	for i, r := range results {
		out[i] = r.Best()
	}
	return out, nil
}
