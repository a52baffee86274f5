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
// the sequence. The reading goroutine ends with the sequence, or when its pending read returns.
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
		request := o.Request
		request.Texts = nil // translateBatch must not write to the caller's slice
		for batch, err := range text.Batches(ctx, lines, o.Batch) {
			var translated []Line
			if err == nil {
				translated, err = t.translateBatch(ctx, &request, batch, o.Warn)
			}
			if !yield(translated, err) || err != nil {
				return
			}
		}
	}
}

// translateBatch translates the lines of a batch with the options of request, whose Texts is its
// workspace, and adds the number of lines that are not blank to its Decode.First.
func (t *Translator) translateBatch(ctx context.Context, request *Request, batch []text.Line, warn func(text.Warning)) ([]Line, error) {
	request.Texts = request.Texts[:0]
	for _, l := range batch {
		request.Texts = append(request.Texts, l.Text)
	}
	results, err := t.Do(ctx, *request)
	if err != nil {
		return nil, err
	}
	translated := make([]Line, len(batch))
	for i, l := range batch {
		translated[i] = Line{l, results[i]}
		if warn != nil {
			for _, w := range l.Warnings {
				warn(w)
			}
			if results[i].Truncated() {
				warn(results[i].TruncationWarning(l))
			}
		}
		if len(results[i].Translations) > 0 {
			request.Decode.First++
		}
	}
	return translated, nil
}
