package translate

import (
	"cmp"
	"context"
	"iter"

	"tfm/model"
	"tfm/text"
)

// LineOptions are the options of Lines.
type LineOptions struct {
	Request     // options for each line; Texts is ignored
	Batch   int // limit of the lines that are translated together; 0 is 256

	// Warn, if not nil, is called with the warnings of each line, and with TruncationWarning if
	// the line was truncated, before the line is yielded.
	Warn func(text.Warning)
}

// TruncatedLine is the kind of the warning about a line that exceeds the source limit.
const TruncatedLine = "lines with too many tokens"

// TruncationWarning returns a warning of kind TruncatedLine that names l, the number of its tokens
// and the source limit. r is the result of l and must be truncated.
func (r Result) TruncationWarning(l text.Line) text.Warning {
	return l.Warning(TruncatedLine, "%d tokens, truncated to %d", r.SourceTokens, r.TruncatedTo)
}

// Line is a line and its translation.
type Line struct {
	text.Line
	Result
}

// Lines translates a stream of lines, for example from text.RepairLines, and yields batches of
// translated lines in input order. It reads ahead as text.Batches does: lines that arrive one at a
// time are yielded one at a time. The size of the batches changes no translation. A blank line has
// no translation; its Best is "". When sampling, the i-th line of the stream that is not blank has
// number Decode.First+i, on which its draws depend.
//
// An error of the stream or of ctx is yielded without lines, after all lines before it, and ends
// the sequence. The goroutines end with the sequence, the reading one when its pending read
// returns.
func (t *Translator) Lines(ctx context.Context, lines iter.Seq2[text.Line, error], o LineOptions) iter.Seq2[[]Line, error] {
	if o.Batch == 0 {
		o.Batch = 256
	}
	o.Decode = cmp.Or(o.Decode, t.defaults)
	return func(yield func([]Line, error) bool) {
		if o.Batch < 0 {
			yield(nil, &model.FieldError{Field: "batch", Found: o.Batch, Expected: "0 or more"})
			return
		}
		ctx, cancel := context.WithCancel(ctx)
		defer cancel() // of batches that are not yielded
		stop := make(chan struct{})
		defer close(stop)
		for b := range t.lineBatches(ctx, lines, &o, stop) {
			translated, err := b.wait(ctx, o.Warn)
			if !yield(translated, err) || err != nil {
				return
			}
		}
	}
}

// lineBatches begins to translate batches of lines and returns a channel of them in order. While
// the receiver waits for one, the next is translated too, so that the last lines of one share
// decode steps with the first of the next. The channel is closed after the last batch or one with
// an error. The goroutines end when stop is closed and ctx ends.
func (t *Translator) lineBatches(ctx context.Context, lines iter.Seq2[text.Line, error], o *LineOptions, stop <-chan struct{}) <-chan *lineBatch {
	batches := make(chan *lineBatch) // without a buffer, the sender has one batch
	request := o.Request
	go func() {
		defer close(batches)
		for batch, err := range text.Batches(ctx, lines, o.Batch) {
			b := &lineBatch{lines: batch, err: err, done: make(chan struct{})}
			if err != nil {
				close(b.done)
			} else {
				go b.translate(ctx, t, request)
				for _, l := range batch {
					if !text.IsBlank(l.Text) {
						request.Decode.First++
					}
				}
			}
			select {
			case batches <- b:
			case <-stop:
				return
			}
		}
	}()
	return batches
}

// lineBatch is a batch of lines that is translated together.
type lineBatch struct {
	lines []text.Line

	done     chan struct{} // closed when the fields below are set
	results  []Result
	err      error
	panicked any
}

// translate sets the results, with the options of request.
func (b *lineBatch) translate(ctx context.Context, t *Translator, request Request) {
	defer close(b.done)
	defer func() { b.panicked = recover() }()
	request.Texts = make([]string, len(b.lines))
	for i, l := range b.lines {
		request.Texts[i] = l.Text
	}
	b.results, b.err = t.Do(ctx, request)
}

// wait returns the translated lines, or the error of ctx. It repeats a panic of translate.
func (b *lineBatch) wait(ctx context.Context, warn func(text.Warning)) ([]Line, error) {
	<-b.done
	if b.panicked != nil {
		panic(b.panicked)
	}
	if err := cmp.Or(b.err, ctx.Err()); err != nil {
		return nil, err
	}
	translated := make([]Line, len(b.lines))
	for i, l := range b.lines {
		translated[i] = Line{l, b.results[i]}
		if warn == nil {
			continue
		}
		for _, w := range l.Warnings {
			warn(w)
		}
		if b.results[i].Truncated() {
			warn(b.results[i].TruncationWarning(l))
		}
	}
	return translated, nil
}
