package serve

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"

	"tfm/text"
	"tfm/text/markup"
	"tfm/text/split"
	"tfm/translate"
)

// maxAlternatives is the limit of the alternatives of a text.
const maxAlternatives = 16

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

// workOf returns the work of a text.
func (j *job) workOf(s string) int {
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
		work += j.workOf(s)
	}
	return c.scheduler.admit(c.caller, class, work)
}

// textsRequest asks for translations of texts between languages as clients name them.
type textsRequest struct {
	texts          []string
	source, target string
	glossary       string                                 // by name
	alternatives   int                                    // of each text
	markup         func(string) (*markup.Document, error) // nil for plain text
}

// translate translates texts. With source "auto" each text has its own, and languages are those
// found.
func (c *call) run(r textsRequest) (best []string, alternatives [][]string, languages []detected, err error) {
	groups, languages, err := c.bySource(r.texts, r.source)
	if err != nil {
		return nil, nil, nil, err
	}
	best, alternatives = slices.Clone(r.texts), make([][]string, len(r.texts))
	for i := range alternatives {
		alternatives[i] = []string{}
	}
	for _, g := range groups {
		j, _, err := c.newJob(g.source, r.target, r.glossary)
		if err != nil {
			return nil, nil, nil, err
		}
		j.alternatives, j.markup = r.alternatives, r.markup
		if len(j.steps) == 0 { // into its own language
			continue
		}
		var of []string
		for _, i := range g.indices {
			of = append(of, r.texts[i])
		}
		out, others, err := c.runTexts(j, of)
		if err != nil {
			return nil, nil, nil, err
		}
		for k, i := range g.indices {
			best[i], alternatives[i] = out[k], others[k]
		}
	}
	return best, alternatives, languages, nil
}

// runTexts returns the translations of texts, each with its alternatives.
func (c *call) runTexts(j *job, texts []string) (best []string, alternatives [][]string, err error) {
	best, alternatives = make([]string, len(texts)), make([][]string, len(texts))
	q, err := c.admit(j, texts)
	if err != nil {
		return nil, nil, err
	}
	defer q.end()
	return best, alternatives, c.runLines(q, texts, func(int) *job { return j }, func(_ context.Context, i int, t translated) error {
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

// runLines translates texts, each by its job, line by line. It calls done with each text when
// it is translated, on several goroutines. The first error ends the work.
func (c *call) runLines(q *queued, texts []string, jobOf func(int) *job, done func(ctx context.Context, i int, t translated) error) error {
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
	return c.schedule(q, len(parts), func(k int) int { return jobOf(parts[k].text).workOf(parts[k].source) }, func(ctx context.Context, k int) error {
		i := parts[k].text
		err := c.runLine(ctx, jobOf(i), parts[k].translatedLine)
		if err == nil && left[i].Add(-1) == 0 {
			err = done(ctx, i, all[i])
		}
		return err
	})
}

// schedule calls do for 0 to n-1, concurrently, as the scheduler lets their work through. It
// returns the first error, which ends the context of the others.
func (c *call) schedule(q *queued, n int, work func(i int) int, do func(ctx context.Context, i int) error) error {
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

// runLine translates a line, or a text with markup, by one step after another. The result is
// that of the last step.
func (c *call) runLine(ctx context.Context, j *job, l *translatedLine) error {
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

// newJob returns a job between two languages, and with a glossary or "", as clients name them.
func (c *call) newJob(source, target, glossary string) (j *job, p pair, err error) {
	j = &job{}
	if p, j.steps, err = c.stepsOf(source, target); err != nil || glossary == "" || len(j.steps) == 0 {
		return j, p, err
	}
	if len(j.steps) > 1 {
		return nil, p, badRequest(fmt.Sprintf("Invalid request: glossary %q needs a model from %s to %s; texts go through %s here", glossary, p.source, p.target, c.catalog.common(p)))
	}
	j.glossary, err = c.catalog.glossaries.find(glossary)
	return j, p, err
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
