package translate

import (
	"cmp"
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

// Options are the options of a Translator.
type Options struct {
	Threads int // of the kernels' pool; 0 is GOMAXPROCS. No result depends on it

	// Concurrent limits the calls that translate at the same time; further calls wait. Each
	// call needs memory for its batch; all share the weights. 0 is Threads.
	Concurrent int

	// Decoding replaces the settings of beam search in the model file. The zero value is those
	// of the file, or with New the paper's.
	Decoding model.Decoding
}

// Translator translates text with a model. It is safe for concurrent use.
type Translator struct {
	model      *model.Transformer
	tokenizers vocab.Tokenizers
	weights    *decode.Weights
	pool       *mat.Pool

	srcLang, tgtLang string         // from the model file
	defaults         decode.Options // of a Request without options

	free      chan *decode.Decoder // Options.Concurrent decoders, nil before their first use
	closeOnce sync.Once
}

// errClosed is returned by calls after Close.
var errClosed = errors.New("translate: the Translator is closed")

// Open reads and verifies the model file at path. Errors name the file.
func Open(path string, o Options) (*Translator, error) {
	file, err := model.Load(path, false)
	if err != nil {
		return nil, err
	}
	tokenizers, err := vocab.UnmarshalTokenizers(file.Tokenizers)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	o.Decoding = cmp.Or(o.Decoding, file.Decoding)
	t, err := New(file.Model, tokenizers, o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	t.srcLang, t.tgtLang = file.SrcLang, file.TgtLang
	return t, nil
}

// New returns a Translator of m, whose memory must have been allocated and whose weights must not
// change while the Translator is in use.
func New(m *model.Transformer, tokenizers vocab.Tokenizers, o Options) (*Translator, error) {
	if src, tgt := tokenizers.Source.Size(), tokenizers.Target.Size(); src != m.Config.SrcVocab || tgt != m.Config.TgtVocab {
		return nil, fmt.Errorf("found tokenizers with %d and %d pieces, expected %d and %d as in the configuration", src, tgt, m.Config.SrcVocab, m.Config.TgtVocab)
	}
	switch {
	case m.Config.MaxLen < 2: // no token besides EOS
		return nil, &model.FieldError{Field: "max_len", Found: m.Config.MaxLen, Expected: "2 or more to translate"}
	case o.Threads < 0:
		return nil, &model.FieldError{Field: "threads", Found: o.Threads, Expected: "0 or more"}
	case o.Concurrent < 0:
		return nil, &model.FieldError{Field: "concurrent", Found: o.Concurrent, Expected: "0 or more"}
	}
	o.Decoding = cmp.Or(o.Decoding, model.PaperDecoding())
	if err := o.Decoding.Validate(); err != nil {
		return nil, err
	}
	if o.Threads == 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	if o.Concurrent == 0 {
		o.Concurrent = o.Threads
	}
	t := &Translator{model: m, tokenizers: tokenizers, defaults: decode.OptionsFor(o.Decoding)}
	t.pool, t.free = mat.NewPool(o.Threads), make(chan *decode.Decoder, o.Concurrent)
	t.weights = decode.NewWeights(m, t.pool)
	for range o.Concurrent {
		t.free <- nil
	}
	return t, nil
}

// Close waits for running calls and ends the Translator's threads. Later calls return an error.
// Close may be called more than once; it returns nil.
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

// Model returns the model, which must not be changed.
func (t *Translator) Model() *model.Transformer { return t.model }

// Tokenizers returns the tokenizers of the model.
func (t *Translator) Tokenizers() vocab.Tokenizers { return t.tokenizers }

// Languages returns the languages of the model's source and target as BCP 47 tags, for example "en"
// or "pt-BR". A language that the model file does not name is "", as are both after New.
func (t *Translator) Languages() (source, target string) { return t.srcLang, t.tgtLang }

// DefaultOptions returns the options of Translate and of a Request without options: the paper's,
// except for the length penalty, which is that of the model file unless Options.Decoding is set.
func (t *Translator) DefaultOptions() decode.Options { return t.defaults }

// MaxSource returns the model's source limit: the number of tokens, without EOS, to which Translate
// and Do truncate a longer text. It is Config.MaxLen-1.
func (t *Translator) MaxSource() int { return t.model.Config.MaxLen - 1 }

// acquire waits for a free decoder, which the caller must release.
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

// Translate returns the best translation of each text under DefaultOptions. A text is a sentence or
// a line. The translation of a blank text is "". Of a text with more than MaxSource tokens,
// Translate translates the first MaxSource and does not report it; Do reports it in
// Result.TruncatedTo. The error is that of ctx, which Translate checks before each decode step.
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
