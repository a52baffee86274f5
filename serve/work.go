package serve

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"

	"tfm/text"
	"tfm/text/markup"
	"tfm/text/split"
	"tfm/translate"
)

// job is how the texts of a request are translated.
type job struct {
	steps        []direction
	alternatives int                                     // of each text
	markup       func(string) (*markup.Document, error)  // nil for plain text
	glossary     *translate.Glossary                     // nil for none
	isDocument   bool                                    // the texts are those of a document
	set          func(r *translate.Request, isLast bool) // nil, or sets further options of a step
	queued       *queued                                 // in which order the texts are translated
}

// work returns the work of a text.
func (j *job) work(s string) int {
	hypotheses := 1
	if j.alternatives > 0 {
		hypotheses = 2 // a wider beam
	}
	return (len(s) + 1) * len(j.steps) * hypotheses
}

// run accepts the request of a job with texts, calls do, and ends it.
func (c *call) run(j *job, texts []string, do func() error) (err error) {
	work, class := 0, interactive
	if j.isDocument {
		class = ofDocument
	}
	for _, s := range texts {
		work += j.work(s)
	}
	if j.queued, err = c.schedule.admit(c.caller, class, work); err != nil {
		return err
	}
	defer j.queued.end()
	return do()
}

// translateTexts returns the translations of texts, each with its alternatives.
func (c *call) translateTexts(j *job, texts []string) (best []string, alternatives [][]string, err error) {
	best, alternatives = make([]string, len(texts)), make([][]string, len(texts))
	err = c.run(j, texts, func() error {
		return c.each(len(texts), func(ctx context.Context, i int) error {
			t, err := c.translateText(ctx, j, texts[i])
			best[i], alternatives[i] = t.best(), t.alternatives(j.alternatives)
			return err
		})
	})
	return best, alternatives, err
}

// translated is a text as lines with their results. Those that are not translated have none.
type translated []translatedLine

type translatedLine struct {
	source string
	translate.Result
	request translate.Request // of the last step
}

// translateText translates a text line by line, as 'tfm translate' does, or with markup as a whole.
func (c *call) translateText(ctx context.Context, j *job, s string) (translated, error) {
	lines := []string{s}
	if j.markup == nil {
		lines = strings.Split(s, "\n")
	}
	out := make(translated, len(lines))
	return out, c.eachOf(ctx, len(lines), func(ctx context.Context, i int) (err error) {
		line := &out[i]
		if line.source = lines[i]; hasLetter(line.source) {
			line.Result, line.request, err = c.translateLine(ctx, j, line.source)
		}
		return err
	})
}

// best returns the translation of the line, or the line if it is not translated.
func (l *translatedLine) best() string {
	if len(l.Translations) == 0 {
		return l.source
	}
	return l.Best()
}

// best returns the translation of the text.
func (t translated) best() string {
	lines := make([]string, len(t))
	for i := range t {
		lines[i] = t[i].best()
	}
	return strings.Join(lines, "\n")
}

// hasLetter reports whether a text has anything to translate.
func hasLetter(s string) bool { return strings.ContainsFunc(s, unicode.IsLetter) }

// translateLine waits for the turn of a line, or of a text with markup, and translates it by one
// step after another. It returns the result and the request of the last step.
func (c *call) translateLine(ctx context.Context, j *job, s string) (result translate.Result, r translate.Request, err error) {
	leave, err := j.queued.enter(ctx, j.work(s))
	if err != nil {
		return result, r, err
	}
	defer leave()
	for i, d := range j.steps {
		r = c.requestOf(j, d, i == len(j.steps)-1)
		r.Texts = []string{s}
		results, err := d.Do(ctx, r)
		if err != nil {
			return result, r, err
		}
		if result = results[0]; result.Err != nil {
			return result, r, badRequest(result.Err.Error())
		}
		s = result.Best()
	}
	return result, r, nil
}

// requestOf returns the request of a step, without texts.
func (c *call) requestOf(j *job, d direction, isLast bool) translate.Request {
	r := translate.Request{From: d.from, To: d.to, Decode: d.DefaultOptions(), Markup: j.markup, Glossary: j.glossary}
	switch {
	case j.markup != nil || j.isDocument:
		r.Split = &split.Options{}
	case d.SplitsSentences():
		r.Split, r.SplitSeveral = &split.Options{Lines: true}, true
	}
	if c.options.Protect || j.isDocument {
		r.KeepOf = func(_ int, s string) []text.Range { return markup.Protected(s) }
	}
	r.Decode.Background = j.isDocument
	if isLast && j.alternatives > 0 {
		r.Decode.NBest, r.Decode.Beam = j.alternatives+1, max(r.Decode.Beam, j.alternatives+1)
	}
	if j.set != nil {
		j.set(&r, isLast)
	}
	return r
}

// glossaryFor returns the glossary of a name for the steps, nil for "".
func (c *call) glossaryFor(name string, steps []direction, p pair) (*translate.Glossary, error) {
	switch {
	case name == "" || len(steps) == 0:
		return nil, nil
	case len(steps) > 1:
		return nil, badRequest(fmt.Sprintf("Invalid request: glossary %q needs a model from %s to %s; texts go through %s here", name, p.source, p.target, c.catalog.common(p)))
	}
	return c.catalog.glossaries.find(name, p)
}

// maxTogether is the limit of the texts of a request, and of the lines of a text, that wait for
// their turn or are translated at the same time.
const maxTogether = 64

// each is eachOf with the context of the request.
func (c *call) each(n int, do func(ctx context.Context, i int) error) error {
	return c.eachOf(c.ctx, n, do)
}

// eachOf calls do for 0 to n-1 on several goroutines, and returns the first error, which ends the
// context of the others.
func (c *call) eachOf(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	if n == 1 {
		return do(ctx, 0)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var running sync.WaitGroup
	for range min(n, maxTogether) {
		running.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				if err := do(ctx, i); err != nil {
					cancel(err)
				}
			}
		})
	}
	running.Wait()
	return context.Cause(ctx)
}

// alternatives returns up to n different alternatives of a text. In alternative k each sentence has
// its k-th translation after the best.
func (t translated) alternatives(n int) []string {
	list := []string{}
	if n == 0 {
		return list
	}
	seen := map[string]bool{t.best(): true}
	for k := 1; k <= n; k++ {
		lines := make([]string, len(t))
		for i := range t {
			lines[i] = t[i].alternative(k)
		}
		if s := strings.Join(lines, "\n"); !seen[s] {
			seen[s] = true
			list = append(list, s)
		}
	}
	return list
}

// alternative returns the line with the k-th translation of each sentence, or its last one.
func (l *translatedLine) alternative(k int) string {
	if len(l.Sentences) == 0 {
		if list := l.Translations; len(list) > 0 {
			return list[min(k, len(list)-1)].Text
		}
		return l.source
	}
	var b strings.Builder
	end := 0
	for _, sentence := range l.Sentences {
		b.WriteString(l.Best()[end:sentence.Target.Start])
		if list := sentence.Translations; len(list) > 0 {
			b.WriteString(list[min(k, len(list)-1)].Text)
		}
		end = sentence.Target.End
	}
	return b.String() + l.Best()[end:]
}
