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
	"tfm/text/tokenizer/vocab"
)

// Options are the options of a Translator.
type Options struct {
	Threads int // of the kernels' pool; 0 is GOMAXPROCS. No result depends on it

	// Concurrent limits the calls that translate at the same time; further calls wait. All
	// share the weights and the memory of a batch. 0 is no limit.
	Concurrent int

	// KeepModel makes Open keep the model in memory in the form of Translator.Model, in
	// addition to the form that it translates with. The file must have weights in float32.
	KeepModel bool

	// Int8 rounds the weights to 8 bits, as 'tfm quantize' does, which is faster. Some
	// translations differ from those of float32, but they are the same on every machine.
	Int8 bool

	// Decoding replaces the settings of beam search in the model file. The zero value is those
	// of the file, or with New the paper's. It keeps Suppressed and UnnormedKeys of the file,
	// unless it sets them.
	Decoding decode.Settings

	// From and To are the languages of requests that name none, see Request.
	From, To string
}

// Translator translates text with a model. It is safe for concurrent use: it translates the texts
// of all calls in progress together, so that many calls of one text are as fast as one call of many
// texts. A short text need not wait for a long one.
type Translator struct {
	config     model.Config
	model      *model.Transformer // nil if only the engine has its weights
	weights    *decode.Weights
	tokenizers vocab.Tokenizers
	pieces     *decode.Pieces // of the target
	pool       *mat.Pool
	engine     *decode.Engine
	pairs      chan *decode.Decoder // the only one, for given translations

	from, to         string         // of requests that name none
	srcLang, tgtLang string         // from the model file
	defaults         decode.Options // of a Request without options
	align            decode.AlignHeads
	splitSentences   bool
	shortlist        *decode.Shortlist // of the model file; nil if it has none
	decoding         decode.Settings   // of prepare

	adapterOnce sync.Once
	adapter     *adapter // of Request.Adapt
	adapterErr  error

	namesMu sync.Mutex
	namesOf map[string]standInOrders // the names of stand-ins by languages

	limit chan struct{} // an element for each call in progress; nil without a limit

	mu     sync.RWMutex // held for reading by calls in progress
	closed bool
}

// errClosed is returned by calls after Close.
var errClosed = errors.New("translate: the Translator is closed")

// Open reads and verifies the model file at path, of any form. Errors name the file. Close must be
// called after use.
//
// A file that 'tfm quantize' wrote stays mapped into memory until Close. Until then it must not be
// truncated or overwritten in place, which may end the program; replacing it by a rename is safe.
func Open(path string, o Options) (*Translator, error) {
	t, err := newTranslator(&o)
	if err != nil {
		return nil, err
	}
	if err := t.open(path, o); err != nil {
		t.pool.Close()
		return nil, err
	}
	return t, nil
}

// open loads the model. Its errors name the file.
func (t *Translator) open(path string, o Options) error {
	var tokenizers map[string][]byte
	var decoding decode.Settings
	if o.KeepModel {
		file, err := model.Load(path, false)
		if err != nil {
			return err
		}
		if decoding, err = decode.ParseSettings(file.Decoding); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if t.shortlist, err = decode.ReadShortlist(file.Shortlist, file.Model.Config); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		t.model, t.weights = file.Model, o.newWeights(file.Model, t.pool)
		t.srcLang, t.tgtLang, tokenizers = file.SrcLang, file.TgtLang, file.Tokenizers
	} else {
		form := decode.Float32
		if o.Int8 {
			form = decode.Int8
		}
		file, err := decode.Load(path, form, t.pool)
		if err != nil {
			return err
		}
		t.weights = file.Weights
		t.srcLang, t.tgtLang, decoding, tokenizers = file.Header.SrcLang, file.Header.TgtLang, file.Settings, file.Tokenizers
		t.shortlist = file.Shortlist
	}
	of, err := vocab.UnmarshalTokenizers(tokenizers)
	if err == nil {
		d := cmp.Or(o.Decoding, decoding)
		d.Suppressed, d.UnnormedKeys = cmp.Or(d.Suppressed, decoding.Suppressed), d.UnnormedKeys || decoding.UnnormedKeys
		d.SplitSentences = d.SplitSentences || decoding.SplitSentences
		err = t.prepare(of, d)
	}
	if err != nil {
		t.weights.Close()
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// New returns a Translator of m, whose memory must have been allocated and whose weights must not
// change while the Translator is in use.
func New(m *model.Transformer, tokenizers vocab.Tokenizers, o Options) (*Translator, error) {
	t, err := newTranslator(&o)
	if err != nil {
		return nil, err
	}
	t.model, t.weights = m, o.newWeights(m, t.pool)
	if err := t.prepare(tokenizers, o.Decoding); err != nil {
		t.pool.Close()
		return nil, err
	}
	return t, nil
}

// newWeights returns the weights of m in the form of o.
func (o *Options) newWeights(m *model.Transformer, p *mat.Pool) *decode.Weights {
	if o.Int8 {
		return decode.NewWeightsInt8(m, p)
	}
	return decode.NewWeights(m, p)
}

// newTranslator returns a Translator without a model.
func newTranslator(o *Options) (*Translator, error) {
	switch {
	case o.Threads < 0:
		return nil, &model.FieldError{Field: "threads", Found: o.Threads, Expected: "0 or more"}
	case o.Concurrent < 0:
		return nil, &model.FieldError{Field: "concurrent", Found: o.Concurrent, Expected: "0 or more"}
	}
	if o.Decoding != (decode.Settings{}) {
		if err := o.Decoding.Validate(); err != nil {
			return nil, err
		}
	}
	t := &Translator{from: o.From, to: o.To, pool: mat.NewPool(cmp.Or(o.Threads, runtime.GOMAXPROCS(0)))}
	if o.Concurrent > 0 {
		t.limit = make(chan struct{}, o.Concurrent)
	}
	return t, nil
}

// prepare prepares t, which has weights, for calls.
func (t *Translator) prepare(tokenizers vocab.Tokenizers, d decode.Settings) error {
	t.config, t.tokenizers, t.decoding = t.weights.Config(), tokenizers, d
	if src, tgt := tokenizers.Source.Size(), tokenizers.Target.Size(); src != t.config.SrcVocab || tgt != t.config.TgtVocab {
		return fmt.Errorf("found tokenizers with %d and %d pieces, expected %d and %d as in the configuration", src, tgt, t.config.SrcVocab, t.config.TgtVocab)
	}
	if t.config.MaxLen < 2 { // no token besides EOS
		return &model.FieldError{Field: "max_len", Found: t.config.MaxLen, Expected: "2 or more to translate"}
	}
	if err := t.checkOptions(); err != nil {
		return err
	}
	d = cmp.Or(d, decode.PaperSettings())
	var err error
	if err := d.ValidateFor(t.config); err != nil {
		return err
	}
	if t.align, err = decode.ParseAlignHeads(d.AlignHeads); err != nil {
		return err
	}
	t.splitSentences = d.SplitSentences
	t.weights.SetUnnormedKeys(d.UnnormedKeys)
	t.defaults = decode.OptionsFor(d)
	if d.Shortlist {
		t.defaults.Shortlist = t.shortlist
	}
	t.pieces = decode.NewPieces(tokenizers.Target.Size(), tokenizers.Target.Bytes)
	t.engine, t.pairs = decode.NewEngine(t.weights, t.pool), make(chan *decode.Decoder, 1)
	t.pairs <- decode.New(t.weights, t.pool)
	return nil
}

// Close waits for running calls and ends the Translator's threads. Calls that begin after it return
// an error at once. Close may be called more than once.
func (t *Translator) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.closed {
		t.closed = true
		t.pool.Close()
		return t.weights.Close()
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

// Pieces returns the pieces of the target vocabulary.
func (t *Translator) Pieces() *decode.Pieces { return t.pieces }

// Languages returns the languages of the model's source and target as BCP 47 tags, for example "en"
// or "pt-BR". A language that the model file does not name is "", as are both after New.
//
// A model of several languages lists them in Config.SrcLanguages and TgtLanguages.
func (t *Translator) Languages() (source, target string) { return t.srcLang, t.tgtLang }

// DefaultOptions returns the options of Translate and of a Request without options: the paper's,
// except for the length penalty, which is that of the model file unless Options.Decoding is set.
func (t *Translator) DefaultOptions() decode.Options { return t.defaults }

// Shortlist returns that of the model file, for Request.Decode.Shortlist, or nil if the file has
// none. It may change translations, so only a request selects it, unless the settings of the model
// file do.
func (t *Translator) Shortlist() *decode.Shortlist { return t.shortlist }

// SplitsSentences reports whether the model file says that few lines of the training data had
// several sentences, see Request.SplitSeveral.
func (t *Translator) SplitsSentences() bool { return t.splitSentences }

// MaxSource returns the model's source limit: the number of tokens, without EOS, to which Translate
// and Do truncate a longer text. It is Config.MaxSource.
func (t *Translator) MaxSource() int { return t.config.MaxSource() }

// begin waits until a call may translate. If it returns nil, the caller must call end.
func (t *Translator) begin(ctx context.Context) error {
	if !t.mu.TryRLock() {
		return errClosed // only Close locks for writing
	}
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
