package translate

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"sync"

	"tfm/model"
	"tfm/text"
)

// LineOptions are the options of Lines.
type LineOptions struct {
	Request     // options for each line; Texts and Prefixes are ignored
	Batch   int // limit of the lines that are translated at the same time; 0 is 256

	// Text, if not nil, returns the text of a line, for example one of its columns. The default
	// is the line.
	Text func(text.Line) string

	// LanguagesOf, if not nil, returns the languages of a line, in the place of From and To
	// unless they are "".
	LanguagesOf func(text.Line) (from, to string)

	// Number, if not nil, returns the number that selects the draws of a line, for example one
	// that stays with the line when lines are reordered. The default is Decode.First for
	// the first line that is not blank, and one more for each further one.
	Number func(text.Line) uint64

	// Warn, if not nil, is called with the warnings of each line, and with that of its result
	// if it has one, before the line is yielded.
	Warn func(text.Warning)
}

// The kinds of warnings about results.
const (
	TruncatedLine        = "lines with too many tokens"
	TruncatedTranslation = "translations that reached their length limit"
)

// LineWarning returns the warning about r, the result of l: of kind TruncatedLine, with the number
// of its tokens and the source limit, or of kind TruncatedTranslation, if the best translation has
// no end, for example because the model repeats itself. It returns false if there is nothing to
// warn about.
func (r Result) LineWarning(l text.Line) (w text.Warning, ok bool) {
	switch {
	case r.Truncated():
		return l.Warning(TruncatedLine, "%d tokens, truncated to %d", r.SourceTokens, r.TruncatedTo), true
	case len(r.Translations) > 0 && r.Translations[0].Truncated:
		return l.Warning(TruncatedTranslation, "the translation reached its length limit before its end"), true
	}
	return w, false
}

// Line is a line and its translation.
type Line struct {
	text.Line
	Result
}

// Lines translates a stream of lines, for example from text.RepairLines. It yields lines in input
// order, each batch as soon as its lines are translated.
//
// Lines collects nothing before it starts: a line joins the decode steps in progress when it has
// been read, up to Batch lines at the same time. So a line that arrives alone is translated at once
// and lines that arrive fast share full steps. Lines reads ahead of a line that takes long, up to
// 1,024 lines or 16 MB of text. Neither Batch nor the times of arrival change a translation. A text
// that is blank has no translation; its Best is "".
//
// An error of the stream or of ctx is yielded without lines, after all lines before it, and ends
// the sequence. The goroutines end with the sequence, the reading one when its pending read
// returns. The functions Text, LanguagesOf and Number run on the reading goroutine, in
// order. For Options.Concurrent, Lines is one call while it has lines to translate.
func (t *Translator) Lines(ctx context.Context, lines iter.Seq2[text.Line, error], o LineOptions) iter.Seq2[[]Line, error] {
	o.Batch, o.Decode = cmp.Or(o.Batch, 256), cmp.Or(o.Decode, t.defaults)
	return func(yield func([]Line, error) bool) {
		if err := o.validate(); err != nil {
			yield(nil, err)
			return
		}
		// More lines than fit into a step, so that others enter when some are translated,
		// but few more, because calls take turns and others would wait for all of them.
		n := o.Decode.StepSources()
		o.Batch = min(o.Batch, n+n/4+4)
		ctx, cancel := context.WithCancel(ctx)
		defer cancel() // of lines that are not yielded
		s := &lineStream{t: t, ctx: ctx, options: o, changed: make(chan struct{}, 1), room: make(chan struct{}, 1)}
		go s.read(lines)
		for {
			translated, err, ended := s.next()
			if len(translated) > 0 && !yield(translated, nil) || ended {
				return
			}
			if err != nil {
				yield(nil, err)
				return
			}
		}
	}
}

// validate reports the first invalid option.
func (o *LineOptions) validate() error {
	if o.Batch < 0 {
		return &model.FieldError{Field: "batch", Found: o.Batch, Expected: "0 or more"}
	}
	return o.Request.validate()
}

// The limits of the lines that a lineStream holds, including translated ones that wait for an
// earlier line. A single line may exceed maxHeldBytes.
const (
	maxHeldLines = 1024
	maxHeldBytes = 16 << 20 // of text
)

// lineStream translates the lines of one call of Lines. One goroutine reads lines, and each line
// that is being translated has one.
type lineStream struct {
	t       *Translator
	ctx     context.Context
	options LineOptions

	changed chan struct{} // has an element if lines were added or translated
	room    chan struct{} // has an element if lines were translated or yielded

	mu          sync.Mutex
	held        []*heldLine // in input order
	bytes       int         // of the texts of held
	translating int
	ended       bool  // no line is added to held
	err         error // that ended the input
}

// heldLine is a line that was read and is not yielded.
type heldLine struct {
	line text.Line

	// Set when done is.
	done     bool
	result   Result
	err      error
	panicked any
}

// notify adds an element to a channel that has room for one, unless it has one.
func notify(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// read reads lines and starts to translate them until the input or the context ends.
func (s *lineStream) read(lines iter.Seq2[text.Line, error]) {
	defer notify(s.changed)
	number := s.options.Decode.First
	for line, err := range lines {
		if err != nil {
			s.end(err)
			return
		}
		request := s.options.Request
		request.Texts, request.Prefixes = []string{line.Text}, nil
		if s.options.LanguagesOf != nil {
			from, to := s.options.LanguagesOf(line)
			request.From, request.To = cmp.Or(from, request.From), cmp.Or(to, request.To)
		}
		if s.options.Text != nil {
			request.Texts[0] = s.options.Text(line)
		}
		isBlank := text.IsBlank(request.Texts[0])
		request.Decode.First = number
		switch {
		case isBlank:
		case s.options.Number != nil:
			request.Decode.First = s.options.Number(line)
		default:
			number++
		}
		h := &heldLine{line: line, done: isBlank}
		if !s.hold(h) {
			return
		}
		if !isBlank {
			go s.translate(h, request)
		}
	}
	s.end(nil)
}

// end records the end of the input.
func (s *lineStream) end(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended, s.err = true, err
}

// hold adds a line as soon as the limits allow. It returns false if the stream has ended before.
func (s *lineStream) hold(h *heldLine) bool {
	for {
		s.mu.Lock()
		fits := len(s.held) == 0 || len(s.held) < maxHeldLines && s.bytes+len(h.line.Text) <= maxHeldBytes
		if fits && s.translating < s.options.Batch {
			s.held, s.bytes = append(s.held, h), s.bytes+len(h.line.Text)
			first := s.translating == 0 && !h.done
			if !h.done {
				s.translating++
			}
			s.mu.Unlock()
			if first {
				if err := s.t.begin(s.ctx); err != nil {
					s.mu.Lock()
					s.held = s.held[:len(s.held)-1]
					s.ended, s.err = true, err
					s.mu.Unlock()
					return false
				}
			}
			notify(s.changed)
			return true
		}
		s.mu.Unlock()
		select {
		case <-s.room:
		case <-s.ctx.Done():
			return false
		}
	}
}

// translate sets the result of a line.
func (s *lineStream) translate(h *heldLine, r Request) {
	var results []Result
	var err error
	defer func() {
		panicked := recover()
		s.mu.Lock()
		if h.done, h.err, h.panicked = true, err, panicked; len(results) > 0 {
			h.result = results[0]
		}
		s.translating--
		last := s.translating == 0
		s.mu.Unlock()
		if last {
			s.t.end()
		}
		notify(s.changed)
		notify(s.room)
	}()
	results, err = s.t.do(s.ctx, r)
}

// next waits for the next line and returns it with the translated lines after it, or the error
// that follows, or that the stream has ended. It repeats a panic of translate.
func (s *lineStream) next() (lines []Line, err error, ended bool) {
	for {
		if err := s.ctx.Err(); err != nil {
			return nil, err, false
		}
		lines, err, ended := s.take()
		if len(lines) > 0 || err != nil || ended {
			return lines, err, ended
		}
		select {
		case <-s.changed:
		case <-s.ctx.Done():
		}
	}
}

// take returns the first lines if they are translated, or else the error or the end that is first,
// if any.
func (s *lineStream) take() (lines []Line, err error, ended bool) {
	var panicked any
	s.mu.Lock()
	n := 0
	for n < len(s.held) && s.held[n].done && s.held[n].err == nil && s.held[n].panicked == nil {
		n++
	}
	taken := slices.Clone(s.held[:n])
	for _, h := range taken {
		s.bytes -= len(h.line.Text)
	}
	clear(s.held[:n])
	s.held = s.held[n:]
	switch {
	case n > 0:
	case len(s.held) == 0:
		err, ended = s.err, s.ended && s.err == nil
	default:
		err, panicked = s.held[0].err, s.held[0].panicked
	}
	s.mu.Unlock()
	if panicked != nil {
		panic(panicked)
	}
	if n > 0 {
		notify(s.room)
	}
	for _, h := range taken {
		s.warn(h)
		lines = append(lines, Line{h.line, h.result})
	}
	return lines, err, ended
}

// warn calls Warn with the warnings of a line.
func (s *lineStream) warn(h *heldLine) {
	if s.options.Warn == nil {
		return
	}
	for _, w := range h.line.Warnings {
		s.options.Warn(w)
	}
	if w, ok := h.result.LineWarning(h.line); ok {
		s.options.Warn(w)
	}
}
