package training

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"tfm/cmd/tfm/internal/terminal"
	"tfm/internal/format"
	"tfm/lang"
	"tfm/mat"
	"tfm/model"
	"tfm/model/decode"
	"tfm/text"
	"tfm/text/score"
	"tfm/text/tokenizer/vocab"
	"tfm/train"
	"tfm/train/corpus"
	"tfm/translate"
)

// Job is the training of a model.
type Job struct {
	Corpus           corpus.Options // without Progress
	Survey           *corpus.Survey // of Corpus, after Inspect; nil inspects Corpus
	Config           model.Config   // Run sets its vocabularies
	Options          train.Options
	SrcLang, TgtLang string // as in train.Data
	Init             *Init  // nil draws the initial weights
	Threads          int

	Progress   *terminal.Progress
	NoWarnings bool              // about settings that cannot be changed
	NoSettings bool              // print neither data nor settings
	Record     func(train.Event) // called with every event, if not nil

	prefix      string // of the progress of a worker
	detected    bool   // a language is that of most sampled sentences
	watch       *watch
	validations int // printed with a sample
}

// maxSeveralSentences is the share of the sources with several sentences below which a model
// translates the sentences of a text separately. Corpora of sentences have 1 to 3 %, and models of
// them break off after the first sentence.
const maxSeveralSentences = 0.1

// Init is a model to fine-tune.
type Init struct {
	Path             string
	Model            *model.Transformer
	Tokenizers       vocab.Tokenizers
	SrcLang, TgtLang string // "" if unknown
	Shortlist        bool   // the model file has one, which is not kept
}

// Result is a trained model.
type Result struct {
	train.Result
	Model      *model.Transformer
	Tokenizers vocab.Tokenizers
	Pool       *mat.Pool // on whose threads it was trained
	Info       string    // one line on the training, for the model file
	Imported   string    // as in train.Options
}

// Run reads the corpora, trains tokenizers and model, and prints the progress. If ctx ends while
// Run reads the corpora, it returns context.Cause(ctx). If ctx ends later, the training ends with a
// checkpoint, if Options.Dir is set, and without an error.
func (j *Job) Run(ctx context.Context) (Result, error) {
	r, err := j.Prepare(ctx)
	if err != nil {
		return Result{}, err
	}
	defer r.Close()
	result, err := train.Run(ctx, r.model, r.pool, r.corpus.Data, j.Options, r.event)
	j.Progress.Clear()
	if err != nil {
		return Result{}, err
	}
	return r.finish(ctx, result), nil
}

// Ready is a job whose corpora are read. Close it after use.
type Ready struct {
	*Job
	corpus *corpus.Corpus
	model  *model.Transformer
	pool   *mat.Pool
}

// Close closes the files of the corpora.
func (r *Ready) Close() { r.corpus.Close() }

// event prints and records an event of the training.
func (r *Ready) event(e train.Event) {
	r.printEvent(e)
	if r.Record != nil {
		r.Record(e)
	}
}

// Prepare reads the corpora, trains the tokenizers, makes the model with its initial weights, and
// prints what it found. If ctx ends, it returns context.Cause(ctx).
func (j *Job) Prepare(ctx context.Context) (r *Ready, err error) {
	c, err := j.read(ctx)
	j.Progress.Clear()
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			c.Close()
		}
	}()
	c.SrcLang, c.TgtLang = j.SrcLang, j.TgtLang
	j.Config.SrcVocab, j.Config.TgtVocab = c.Vocab.Source.Size(), c.Vocab.Target.Size()
	if j.Corpus.Tagged && !j.Config.HasLanguages() {
		j.Config.Source = model.ToFirst
	}
	j.Config.SrcLanguages, j.Config.TgtLanguages = c.SrcLanguages, c.TgtLanguages
	chosen := j.Options.Tokenize == score.Auto
	if c.References != nil { // without validation a resumed run may choose
		j.Options.Tokenize = j.Options.Tokenize.For(c.References)
	}
	if !j.NoSettings {
		j.printData(c)
		j.printSettings()
		j.printTokenize(c, chosen)
	}
	j.watch = newWatch(j.Options, j.Config)
	if mix, _ := j.Corpus.Train.Mix(); mix != nil {
		j.watch.mixed = slices.ContainsFunc(mix.Stages, func(s corpus.Stage) bool { return s.Shares != nil })
	}
	m, err := model.New(j.Config)
	if err != nil {
		return nil, err
	}
	m.AllocForTraining()
	m.Init(j.Options.Seed)
	if err := j.carryOver(m, c.Vocab); err != nil {
		return nil, err
	}
	return &Ready{j, c, m, mat.NewPool(j.Threads)}, nil
}

// finish returns the model of a training with a result.
func (r *Ready) finish(ctx context.Context, result train.Result) Result {
	j, c := r.Job, r.corpus
	if best := result.Best; best.Made() && best.Step == 0 && result.Averaged == 0 && result.Reason != train.Interrupted && !(result.Reason == train.OutOfTime && result.Step == 0) {
		j.Progress.Line("warning: no validation was better than that of %s, so its weights are kept: try a lower -lr (now %.3g) or other pairs", j.Options.Init, j.Options.LR)
	}
	j.printDrawn(c, result.Position)
	result.Decoding.SplitSentences = j.Survey.SeveralSentences < maxSeveralSentences
	if result.Reason != train.Interrupted {
		// A signal now must not change the file of a training that has ended.
		result.Decoding.AlignHeads = j.alignHeads(context.WithoutCancel(ctx), r.model, c.Vocab)
	}
	return Result{result, r.model, c.Vocab, r.pool, j.info(result, c.TrainPairs), j.Options.Imported}
}

// alignHeads returns the heads of m that align best, as in decode.Settings. It is "", which is all
// of the last layer, if the pairs are too few to tell, or not in known languages.
func (j *Job) alignHeads(ctx context.Context, m *model.Transformer, v vocab.Tokenizers) string {
	o, limit := translate.Options{Threads: j.Threads}, translate.MaxAlignedPairs
	if j.Config.HasLanguages() {
		o.From, o.To = j.SrcLang, j.TgtLang
		if mix, pairs := j.Corpus.Train.Mix(); mix != nil { // the first source, in its languages
			limit = min(limit, pairs[0])
			o.From, o.To = cmp.Or(mix.Datasets[0].SrcLang, o.From), cmp.Or(mix.Datasets[0].TgtLang, o.To)
		}
	}
	t, err := translate.New(m, v, o)
	if err != nil {
		return ""
	}
	defer t.Close()
	var pairs []text.Pair
	for p, err := range j.Corpus.Train.All() {
		if err != nil || len(pairs) == limit {
			break
		}
		pairs = append(pairs, text.Pair{Source: strings.Clone(p.Source), Target: strings.Clone(p.Target)})
	}
	found, err := t.FindAlignHeads(ctx, pairs)
	if err != nil {
		return ""
	}
	return found.Heads.String()
}

// Inspect reads the corpora once and sets Survey, so that the caller can choose settings before
// Run. If ctx ends, it returns context.Cause(ctx).
func (j *Job) Inspect(ctx context.Context) (err error) {
	options := j.Corpus
	options.Progress = j.printReading
	j.Survey, err = corpus.Inspect(ctx, options)
	j.Progress.Clear()
	if err == nil {
		j.Corpus.Tokenizers = j.Survey.Tokenizers // trimmed, if Corpus.Trim says so
	}
	return err
}

// read reads the corpora with the settings of j.Corpus.
func (j *Job) read(ctx context.Context) (*corpus.Corpus, error) {
	if j.Survey == nil {
		if j.Options.ValidEvery <= 0 {
			j.Corpus.Valid = nil // unused
		}
		if err := j.Inspect(ctx); err != nil {
			return nil, err
		}
	}
	s := j.Survey
	s.VocabSize, s.Joint, s.Tokenizers = j.Corpus.VocabSize, j.Corpus.Joint, j.Corpus.Tokenizers
	j.detectLanguages()
	s.SrcLang, s.TgtLang = j.SrcLang, j.TgtLang
	return s.Read(ctx, j.Options)
}

// info describes the training in one line.
func (j *Job) info(r train.Result, pairs int) string {
	s := fmt.Sprintf("%s on %s", format.Count(r.Step, "step"), format.Count(pairs, "pair"))
	if j.Options.Init != "" {
		s += ", fine-tuned from " + strings.ToValidUTF8(filepath.Base(j.Options.Init), "?")
	}
	switch {
	case r.Averaged > 0:
		s += fmt.Sprintf("; the mean of the last %d checkpoints", r.Averaged)
	case r.Best.Step > 0:
		s += fmt.Sprintf("; the weights of step %s", format.Thousands(r.Best.Step))
	case r.Best.Made():
		s += "; the initial weights"
	}
	if r.Best.Made() {
		s += ", " + validation(r.Best)
	}
	return s + fmt.Sprintf("; %.1f%% of the sources have several sentences", 100*j.Survey.SeveralSentences)
}

// carryOver copies the weights of the initial model to m, which has the tokenizers to, and prints
// how many pieces the initial model has.
func (j *Job) carryOver(m *model.Transformer, to vocab.Tokenizers) error {
	from := j.Init
	if from == nil {
		return nil
	}
	j.Init = nil // frees its weights
	src, srcErr := vocab.Remap(to.Source, from.Tokenizers.Source)
	tgt, tgtErr := vocab.Remap(to.Target, from.Tokenizers.Target)
	if err := cmp.Or(srcErr, tgtErr); err != nil {
		return fmt.Errorf("%s: %w", from.Path, err)
	}
	if err := m.CarryOver(from.Model, src, tgt); err != nil {
		return fmt.Errorf("%s: %w", from.Path, err)
	}
	j.renumberSuppressed(tgt)
	j.Progress.Field("initial weights", "%s", from.Path)
	for _, side := range [][4]string{{"from", from.SrcLang, j.SrcLang, "src"}, {"to", from.TgtLang, j.TgtLang, "tgt"}} {
		if !j.Config.HasLanguages() && lang.Differ(side[1], side[2]) {
			j.warn(fmt.Sprintf("%s translates %s %s, and the pairs %s %s: check -%s-lang", from.Path, side[0], side[1], side[0], side[2], side[3]))
		}
	}
	joint := to.Joint() && from.Tokenizers.Joint()
	j.fieldIf(joint, "pieces", "%s", known(src, from.Tokenizers.Source))
	j.fieldIf(!joint, "source pieces", "%s", known(src, from.Tokenizers.Source))
	j.fieldIf(!joint, "target pieces", "%s", known(tgt, from.Tokenizers.Target))
	j.fieldIf(from.Shortlist, "shortlist", "not kept: learn it from the new pairs with 'tfm shortlist'")
	return nil
}

// renumberSuppressed replaces the ids of the initial model's vocabulary that no search selects.
func (j *Job) renumberSuppressed(remap [][]int32) {
	list, _ := decode.ParseSuppressed(j.Options.Search.Suppressed)
	ids := vocab.Renumber(remap)
	var kept []int32
	for _, id := range list {
		if now, ok := ids[id]; ok {
			kept = append(kept, now)
		}
	}
	j.Options.Search.Suppressed = decode.FormatSuppressed(kept)
}

// known describes how many pieces of a vocabulary are in that of old.
func known(pieces [][]int32, old text.Tokenizer) string {
	same := 0
	for _, was := range pieces {
		if len(was) == 1 {
			same++
		}
	}
	switch dropped := old.Size() - len(pieces); {
	case same == len(pieces) && dropped > 0:
		return fmt.Sprintf("%s carried over, %s dropped", format.Thousands(same), format.Thousands(dropped))
	case same == len(pieces):
		return fmt.Sprintf("all %s carried over", format.Thousands(same))
	}
	return fmt.Sprintf("%s of %s carried over; a new one starts as the mean of the pieces it was split into", format.Thousands(same), format.Thousands(len(pieces)))
}
