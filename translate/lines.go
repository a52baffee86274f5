package translate

import (
	"context"
	"iter"

	"tfm/model"
	"tfm/text"
)

// LineOptions are those of Lines.
type LineOptions struct {
	Request                    // how lines are translated; Texts are not used
	Batch   int                // most lines that are translated together; 0 is 256
	Warn    func(text.Warning) // is told of every line that was mended or cut; nil is nobody
}

// CutWarning returns the warning that l, whose translation is r, was cut because it is too long.
func (r Result) CutWarning(l text.Line) text.Warning {
	return l.Warning("lines of too many pieces", "%d pieces, cut to %d", r.Length, r.Cut)
}

// Line is a line and its translation.
type Line struct {
	text.Line
	Result
}

// Lines translates a stream of lines, such as text.MendedLines reads, and yields the lines that
// were translated together, in order. It reads ahead as text.Batches does: what comes a line at a
// time is answered a line at a time. How many are translated together changes no translation. A
// line without a word has none; its Best is empty. Draws are numbered through all lines that have
// a word.
//
// An error of the stream, or of ctx, is yielded alone after everything that came before it, and
// ends the sequence. The goroutine that reads ends with the sequence, or when the read that it
// waits for does.
func (t *Translator) Lines(ctx context.Context, lines iter.Seq2[text.Line, error], o LineOptions) iter.Seq2[[]Line, error] {
	if o.Batch == 0 {
		o.Batch = 256
	}
	o.Decode = orDefault(o.Decode)
	return func(yield func([]Line, error) bool) {
		if o.Batch < 0 {
			yield(nil, &model.FieldError{Field: "batch", Found: o.Batch, Expected: "0 or more"})
			return
		}
		request := o.Request
		request.Texts = nil // not the caller's memory
		for batch, err := range text.Batches(ctx, lines, o.Batch) {
			var answers []Line
			if err == nil {
				answers, err = t.answer(ctx, &request, batch, o.Warn)
			}
			if !yield(answers, err) || err != nil {
				return
			}
		}
	}
}

// answer translates a batch, and numbers the next one in request.
func (t *Translator) answer(ctx context.Context, request *Request, batch []text.Line, warn func(text.Warning)) ([]Line, error) {
	request.Texts = request.Texts[:0]
	for _, l := range batch {
		request.Texts = append(request.Texts, l.Text)
	}
	results, err := t.Do(ctx, *request)
	if err != nil {
		return nil, err
	}
	answers := make([]Line, len(batch))
	for i, l := range batch {
		answers[i] = Line{l, results[i]}
		if warn != nil {
			for _, w := range l.Warnings {
				warn(w)
			}
			if r := results[i]; r.Cut > 0 {
				warn(r.CutWarning(l))
			}
		}
		if len(results[i].Translations) > 0 {
			request.Decode.First++
		}
	}
	return answers, nil
}
