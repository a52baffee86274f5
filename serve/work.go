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
	next         int                                     // of the only text, see v1Request
	markup       func(string) (*markup.Document, error)  // nil for plain text
	glossary     *translate.Glossary                     // nil for none
	isDocument   bool                                    // the texts are those of a document
	set          func(r *translate.Request, isLast bool) // nil, or sets further options of a step
}

// work returns the work of a text.
func (j *job) work(s string) int {
	hypotheses := 1 + j.next
	if j.alternatives > 0 {
		hypotheses++ // a wider beam
	}
	return (len(s) + 1) * len(j.steps) * hypotheses
}

// admit accepts the request with its texts, which must end.
func (c *call) admit(j *job, texts []string) (*queued, error) {
	work, class := 0, interactive
	if j.isDocument {
		class = ofDocument
	}
	for _, s := range texts {
		work += j.work(s)
	}
	return c.schedule.admit(c.caller, class, work)
}

// translateTexts returns the translations of texts, each with its alternatives.
func (c *call) translateTexts(j *job, texts []string) (best []string, alternatives [][]string, err error) {
	best, alternatives = make([]string, len(texts)), make([][]string, len(texts))
	q, err := c.admit(j, texts)
	if err != nil {
		return nil, nil, err
	}
	defer q.end()
	return best, alternatives, c.translateLines(q, texts, func(int) *job { return j }, func(_ context.Context, i int, t translated) error {
		best[i], alternatives[i] = t.best(), t.alternatives(j.alternatives)
		return nil
	})
}

// translated is a text as lines with their results. Those that are not translated have none.
type translated []translatedLine

type translatedLine struct {
	source string
	last   string // source of the last step
	translate.Result
}

// newTranslated divides a text into lines, which are translated one by one, as 'tfm translate'
// does. A text with markup is one line.
func (j *job) newTranslated(s string) (t translated) {
	if j.markup != nil {
		return translated{{source: s}}
	}
	for line := range strings.SplitSeq(s, "\n") {
		t = append(t, translatedLine{source: line})
	}
	return t
}

// translateLines translates texts, each by its job, line by line. It calls done with each text when
// it is translated, on several goroutines. The first error ends the work.
func (c *call) translateLines(q *queued, texts []string, jobOf func(int) *job, done func(ctx context.Context, i int, t translated) error) error {
	type part struct {
		text int
		*translatedLine
	}
	var parts []part
	all, left := make([]translated, len(texts)), make([]atomic.Int32, len(texts)) // lines
	for i, s := range texts {
		all[i] = jobOf(i).newTranslated(s)
		for k := range all[i] {
			if line := &all[i][k]; hasLetter(line.source) && len(jobOf(i).steps) > 0 {
				parts = append(parts, part{i, line})
				left[i].Add(1)
			}
		}
		if left[i].Load() == 0 {
			if err := done(c.ctx, i, all[i]); err != nil {
				return err
			}
		}
	}
	return c.each(q, len(parts), func(k int) int { return jobOf(parts[k].text).work(parts[k].source) }, func(ctx context.Context, k int) error {
		i := parts[k].text
		err := c.translateLine(ctx, jobOf(i), parts[k].translatedLine)
		if err == nil && left[i].Add(-1) == 0 {
			err = done(ctx, i, all[i])
		}
		return err
	})
}

// each calls do for 0 to n-1, concurrently, as the scheduler lets their work through. It returns
// the first error, which ends the context of the others.
func (c *call) each(q *queued, n int, work func(i int) int, do func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(c.ctx)
	defer cancel(nil)
	var running sync.WaitGroup
	for i := range n {
		leave, err := q.enter(ctx, work(i))
		if err != nil {
			break
		}
		running.Go(func() {
			defer leave()
			if err := do(ctx, i); err != nil {
				cancel(err)
			}
		})
	}
	running.Wait()
	return context.Cause(ctx)
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

// translateLine translates a line, or a text with markup, by one step after another. The result is
// that of the last step.
func (c *call) translateLine(ctx context.Context, j *job, l *translatedLine) error {
	l.last = l.source
	inMemory := true // of each step
	for i, d := range j.steps {
		if i > 0 {
			l.last = l.Best()
		}
		r := c.requestOf(j, d, i == len(j.steps)-1)
		r.Texts = []string{l.last}
		results, err := d.Do(ctx, r)
		if err != nil {
			return err
		}
		if l.Result = results[0]; l.Err != nil {
			return badRequest(l.Err.Error())
		}
		inMemory = inMemory && l.InMemory
		l.InMemory = inMemory
	}
	return nil
}

// requestOf returns the request of a step, without texts.
func (c *call) requestOf(j *job, d direction, isLast bool) translate.Request {
	r := translate.Request{From: d.from, To: d.to, Decode: d.DefaultOptions(), Markup: j.markup, Glossary: j.glossary, Memory: d.memory}
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
	return c.catalog.glossaries.find(name)
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
	if len(l.Translations) == 0 {
		return l.source
	}
	return l.Alternative(k).Best()
}
