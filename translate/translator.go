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

	// Concurrent limits the calls that translate at the same time; further calls wait. All
	// share the weights and the memory of a batch. 0 is no limit.
	Concurrent int

	// KeepModel makes Open keep the model in memory in the form of Translator.Model, in addition to
	// the form in which it translates.
	KeepModel bool

	// Int8 rounds the weights to 8 bits, which is faster. Translations may differ from those of
	// float32, but are the same on every machine.
	Int8 bool

	// Decoding replaces the settings of beam search in the model file. The zero value is those
	// of the file, or with New the paper's.
	Decoding model.Decoding
}

// Translator translates text with a model. It is safe for concurrent use: it translates the texts
// of all calls in progress together, so that many calls of one text are as fast as one call of many
// texts. A short text need not wait for a long one.
type Translator struct {
	config     model.Config
	model      *model.Transformer // nil if only the engine has its weights
	tokenizers vocab.Tokenizers
	pieces     *decode.Pieces // of the target
	pool       *mat.Pool
	engine     *decode.Engine
	pairs      chan *decode.Decoder // the only one, for given translations

	srcLang, tgtLang string         // from the model file
	defaults         decode.Options // of a Request without options

	limit chan struct{} // an element for each call in progress; nil without a limit

	mu     sync.RWMutex // held for reading by calls in progress
	closed bool
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
	t, err := newTranslator(file.Model, tokenizers, o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	t.srcLang, t.tgtLang = file.SrcLang, file.TgtLang
	return t, nil
}

// New returns a Translator of m, whose memory must have been allocated and whose weights must not
// change while the Translator is in use.
func New(m *model.Transformer, tokenizers vocab.Tokenizers, o Options) (*Translator, error) {
	o.KeepModel = true
	return newTranslator(m, tokenizers, o)
}

func newTranslator(m *model.Transformer, tokenizers vocab.Tokenizers, o Options) (*Translator, error) {
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
	t := &Translator{config: m.Config, tokenizers: tokenizers, defaults: decode.OptionsFor(o.Decoding)}
	if o.KeepModel {
		t.model = m
	}
	t.pieces = decode.NewPieces(tokenizers.Target.Size(), tokenizers.Target.Bytes)
	t.pool = mat.NewPool(o.Threads)
	newWeights := decode.NewWeightsInPlace
	switch {
	case o.Int8:
		newWeights = decode.NewWeightsInt8
	case o.KeepModel:
		newWeights = decode.NewWeights
	}
	weights := newWeights(m, t.pool)
	t.engine, t.pairs = decode.NewEngine(weights, t.pool), make(chan *decode.Decoder, 1)
	t.pairs <- decode.New(weights, t.pool)
	if o.Concurrent > 0 {
		t.limit = make(chan struct{}, o.Concurrent)
	}
	return t, nil
}

// Close waits for running calls and ends the Translator's threads. Later calls return an error.
// Close may be called more than once; it returns nil.
func (t *Translator) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.closed {
		t.closed = true
		t.pool.Close()
	}
	return nil
}

// Config returns the configuration of the model.
func (t *Translator) Config() model.Config { return t.config }

// Model returns the model, which must not be changed. It is nil after Open without
// Options.KeepModel.
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
func (t *Translator) MaxSource() int { return t.config.MaxLen - 1 }

// begin waits until a call may translate. If it returns nil, the caller must call end.
func (t *Translator) begin(ctx context.Context) error {
	t.mu.RLock()
	err := ctx.Err()
	if t.closed {
		err = errClosed
	}
	if err == nil && t.limit != nil {
		select {
		case t.limit <- struct{}{}:
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	if err != nil {
		t.mu.RUnlock()
	}
	return err
}

func (t *Translator) end() {
	if t.limit != nil {
		<-t.limit
	}
	t.mu.RUnlock()
}

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
