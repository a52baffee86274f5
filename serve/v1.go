package serve

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"tfm/text"
	"tfm/translate"
)

// v1Answer is the answer of /v1/translate, one element for each text.
type v1Answer struct {
	Texts []v1Text `json:"texts"`
}

type v1Text struct {
	Translation string       `json:"translation"`
	Language    *detected    `json:"detected_language,omitempty"`
	Sentences   []v1Sentence `json:"sentences"`
	Next        []string     `json:"next,omitempty"`
}

// v1Sentence is a sentence of a text. Ranges are bytes of the UTF-8 of the text and of its
// translation, from start to end.
type v1Sentence struct {
	Source       [2]int   `json:"source"`
	Target       [2]int   `json:"target"`
	Score        float64  `json:"score"`            // log-probability divided by the length penalty
	Memory       bool     `json:"memory,omitempty"` // the translation is that of the memory
	Alternatives []string `json:"alternatives,omitempty"`
	Alignment    []v1Link `json:"alignment,omitempty"` // of tokens
}

// v1Link links a range of the translation to the range of the text with the largest attention.
type v1Link struct {
	Source [2]int `json:"source"`
	Target [2]int `json:"target"`
}

// v1Request has the parameters of /v1/translate.
type v1Request struct {
	Texts          []string `json:"texts"`
	Source, Target string
	Alternatives   int    // other translations of each sentence
	Alignment      bool   // of a pair with a model of its own
	Glossary       string // by name
	Prefix         string // the begin of the translation of the only text's first sentence
	Next           int    // other translations of the only text, with other words after Prefix
}

// answerV1 answers /v1/translate, with server-sent events if the client accepts them.
func answerV1(c *call) (any, error) {
	r, err := c.v1Request()
	if err != nil {
		return nil, err
	}
	if c.acceptsEvents() {
		return events(func(w http.ResponseWriter) error { return c.streamV1(w, r) }), nil
	}
	answer := v1Answer{make([]v1Text, len(r.Texts))}
	err = c.eachV1(r, nil, func(i int, t v1Text) { answer.Texts[i] = t })
	return answer, err
}

// v1Request reads and checks the parameters.
func (c *call) v1Request() (*v1Request, error) {
	if c.json == nil {
		return nil, badRequest("Invalid request: expected a JSON object")
	}
	r := &v1Request{Source: c.text("source"), Target: c.text("target"), Prefix: c.text("prefix"), Glossary: c.text("glossary"), Alignment: c.text("alignment") == "true"}
	var err error
	if r.Texts, _, err = c.texts("texts"); err != nil {
		return nil, err
	}
	if r.Alternatives, err = c.number("alternatives"); err != nil {
		return nil, err
	}
	if r.Next, err = c.number("next"); err != nil {
		return nil, err
	}
	switch {
	case len(r.Texts) == 0:
		return nil, missing("texts")
	case r.Source == "":
		return nil, missing("source")
	case r.Target == "":
		return nil, missing("target")
	case (r.Prefix != "" || r.Next > 0) && len(r.Texts) > 1:
		return nil, badRequest("Invalid request: prefix and next parameters are for one text")
	}
	r.Alternatives, r.Next = min(r.Alternatives, maxAlternatives), min(r.Next, maxAlternatives)
	if r.Prefix != "" {
		return r, c.checkTexts([]string{r.Texts[0] + r.Prefix})
	}
	return r, c.checkTexts(r.Texts)
}

// eachV1 translates the texts and calls done with each. It calls part with the parts of a
// translation as they become certain, unless part is nil. The calls do not overlap.
func (c *call) eachV1(r *v1Request, part func(i int, s string), done func(i int, t v1Text)) error {
	groups, languages, err := c.bySource(r.Texts, r.Source)
	if err != nil {
		return err
	}
	var mu sync.Mutex // of part and done
	jobs := make([]*job, len(r.Texts))
	for _, g := range groups {
		j, _, err := c.newJob(g.source, r.Target, r.Glossary)
		if err != nil {
			return err
		}
		j.alternatives, j.next = r.Alternatives, r.Next
		for _, i := range g.indices {
			var stream func(string)
			if part != nil && !strings.Contains(r.Texts[i], "\n") { // lines end in any order
				stream = func(s string) {
					mu.Lock()
					defer mu.Unlock()
					part(i, s)
				}
			}
			jobs[i] = r.jobFor(j, stream)
		}
	}
	q, err := c.admit(jobs[0], r.Texts)
	if err != nil {
		return err
	}
	defer q.end()
	return c.runLines(q, r.Texts, func(i int) *job { return jobs[i] }, func(ctx context.Context, i int, lines translated) error {
		t, err := c.v1TextOf(ctx, r, jobs[i], lines)
		if err != nil {
			return err
		}
		if r.Source == "auto" {
			t.Language = &languages[i]
		}
		mu.Lock()
		defer mu.Unlock()
		done(i, t)
		return nil
	})
}

// jobFor returns a copy of j for one text, whose parts are given to stream as they become certain,
// unless it is nil.
func (r *v1Request) jobFor(j *job, stream func(string)) *job {
	of := *j
	of.set = func(q *translate.Request, isLast bool) {
		if !isLast {
			return
		}
		q.Prefix, q.Attention = r.Prefix, r.Alignment && len(j.steps) == 1
		if stream != nil {
			q.Certain = func(_ int, s string) { stream(s) }
		}
	}
	return &of
}

// v1TextOf returns a translated text. With two steps, each line counts as one sentence, because the
// sentences of the text between have no ranges in the source.
func (c *call) v1TextOf(ctx context.Context, r *v1Request, j *job, lines translated) (v1Text, error) {
	out := v1Text{Translation: lines.best(), Sentences: []v1Sentence{}}
	var source, target int // offsets of the line
	for i := range lines {
		l := &lines[i]
		for _, sentence := range l.sentences(len(j.steps)) {
			out.Sentences = append(out.Sentences, v1SentenceOf(&sentence, source, target, r))
		}
		source, target = source+len(l.source)+1, target+len(l.best())+1
	}
	var err error
	if r.Next > 0 && len(lines) == 1 && len(out.Sentences) > 0 {
		last := j.steps[len(j.steps)-1]
		q := c.requestOf(j, last, true)
		q.Texts = []string{lines[0].last}
		out.Next, err = next(ctx, last, q, r.Next)
	}
	return out, err
}

// sentences returns the sentences of a line: the line itself if it was not split or took several
// steps, none if it was not translated.
func (l *translatedLine) sentences(steps int) []translate.Sentence {
	if len(l.Sentences) > 0 && steps == 1 || len(l.Translations) == 0 {
		return l.Sentences
	}
	return []translate.Sentence{{Source: text.Range{End: len(l.source)}, Target: text.Range{End: len(l.Best())}, Result: l.Result}}
}

// next returns up to n translations of the text of q, a sentence: one for each of the most probable
// pieces after the prefix.
func next(ctx context.Context, d direction, q translate.Request, n int) (list []string, err error) {
	q.Split, q.Certain, q.Attention, q.Tokens, q.Memory = nil, nil, false, true, nil
	q.Decode.NBest, q.Decode.Alternatives = 1, n
	results, err := d.Do(ctx, q)
	if err != nil || len(results[0].Translations) == 0 {
		return nil, err
	}
	best := results[0].Translations[0]
	at := slices.IndexFunc(best.Tokens, func(t translate.Token) bool { return t.End > len(q.Prefix) })
	if at < 0 {
		return nil, nil
	}
	begin := best.Text[:best.Tokens[at].Start]
	source := q.Texts[0]
	q.Texts, q.Decode.Alternatives, q.Tokens = nil, 0, false
	for _, a := range best.Alternatives[at] {
		if piece := d.Pieces().Bytes(a.Token); utf8.ValidString(piece) && strings.TrimSpace(piece) != "" {
			q.Texts, q.Prefixes = append(q.Texts, source), append(q.Prefixes, strings.TrimLeft(begin+piece, " "))
		}
	}
	results, err = d.Do(ctx, q)
	for _, r := range results {
		if s := r.Best(); r.Err == nil && !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list, err
}

// v1SentenceOf returns a sentence of a line with its alternatives and alignment. source and target
// are the offsets of the line.
func v1SentenceOf(s *translate.Sentence, source, target int, r *v1Request) v1Sentence {
	out := v1Sentence{Source: rangeOf(s.Source, source), Target: rangeOf(s.Target, target), Memory: s.InMemory}
	for k, t := range s.Translations {
		if k == 0 {
			out.Score = t.Score
		} else if len(out.Alternatives) < r.Alternatives {
			out.Alternatives = append(out.Alternatives, t.Text)
		}
	}
	if len(s.Translations) > 0 && r.Alignment {
		best := s.Translations[0]
		for i, j := range best.Alignment() {
			out.Alignment = append(out.Alignment, v1Link{rangeOf(s.Tokens[j].Range, out.Source[0]), rangeOf(best.Tokens[i].Range, out.Target[0])})
		}
	}
	return out
}

// rangeOf returns a range of a part of a text that begins at an offset.
func rangeOf(r text.Range, offset int) [2]int { return [2]int{offset + r.Start, offset + r.End} }

// streamV1 writes events: part, with a part of a translation as soon as it is certain, text, with
// the whole of it, and at the end error or end.
func (c *call) streamV1(w http.ResponseWriter, r *v1Request) error {
	send := eventWriter(w)
	type ofText struct {
		Index int    `json:"index"`
		Part  string `json:"part,omitempty"`
		*v1Text
	}
	err := c.eachV1(r, func(i int, s string) { send.event("part", ofText{Index: i, Part: s}) }, func(i int, t v1Text) { send.event("text", ofText{Index: i, v1Text: &t}) })
	if err != nil {
		send.fail(err)
	} else {
		send.event("end", struct{}{})
	}
	return err
}

// listGlossaries answers /v1/glossaries.
func listGlossaries(c *call) (any, error) {
	return map[string][]string{"glossaries": append([]string{}, c.catalog.glossaries.names...)}, nil
}
