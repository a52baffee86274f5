package serve

import (
	"context"
	"strings"
	"sync"
	"unicode"

	"tfm/text/markup"
	"tfm/text/split"
	"tfm/translate"
)

// translateTexts returns the translations of texts by the steps of a pair, each with up to n
// alternatives, and makes one request of each text, so that texts of other callers come between.
func (c *call) translateTexts(texts []string, steps []direction, n int, isHTML bool) (best []string, alternatives [][]string, err error) {
	if err := c.schedule.admit(interactive); err != nil {
		return nil, nil, err
	}
	best, alternatives = make([]string, len(texts)), make([][]string, len(texts))
	err = c.each(len(texts), func(ctx context.Context, i int) (err error) {
		if best[i] = texts[i]; hasLetter(texts[i]) {
			best[i], alternatives[i], err = c.translateText(ctx, texts[i], steps, n, isHTML)
		}
		return err
	})
	return best, alternatives, err
}

// each calls do for 0 to n-1, each on a goroutine, and returns the first error, which ends the
// context of the others.
func (c *call) each(n int, do func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(c.ctx)
	defer cancel(nil)
	var running sync.WaitGroup
	for i := range n {
		running.Go(func() {
			if err := do(ctx, i); err != nil {
				cancel(err)
			}
		})
	}
	running.Wait()
	return context.Cause(ctx)
}

// hasLetter reports whether a text has anything to translate.
func hasLetter(s string) bool { return strings.ContainsFunc(s, unicode.IsLetter) }

// translateText translates one text. Alternatives are those of the last step.
func (c *call) translateText(ctx context.Context, s string, steps []direction, n int, isHTML bool) (best string, alternatives []string, err error) {
	result, _, err := c.inSteps(ctx, s, steps, func(r *translate.Request, isLast bool) {
		if isHTML {
			r.Markup = markup.ReadHTML
		}
		if n > 0 && isLast {
			withAlternatives(r, n)
		}
	})
	switch {
	case err != nil:
		return "", nil, err
	case result.Err != nil:
		return "", nil, badRequest(result.Err.Error())
	case n > 0:
		alternatives = alternativesOf(&result, n)
	}
	return result.Best(), alternatives, nil
}

// inSteps waits for the turn of a text and translates it by one step after another, with the
// options that set sets. It returns the result of the last step, and its request.
func (c *call) inSteps(ctx context.Context, s string, steps []direction, set func(r *translate.Request, isLast bool)) (result translate.Result, r translate.Request, err error) {
	leave, err := c.schedule.enter(ctx, c.caller, interactive, characters([]string{s}))
	if err != nil {
		return result, r, err
	}
	defer leave()
	for i, d := range steps {
		r = translate.Request{Texts: []string{s}, From: d.from, To: d.to, Split: &split.Options{}, Decode: d.DefaultOptions()}
		set(&r, i == len(steps)-1)
		results, err := d.Do(ctx, r)
		if err != nil {
			return result, r, err
		}
		if result = results[0]; result.Err != nil {
			break
		}
		s = result.Best()
	}
	return result, r, nil
}

// withAlternatives makes a request return n further translations of each sentence.
func withAlternatives(r *translate.Request, n int) {
	r.Decode.NBest, r.Decode.Beam = n+1, max(r.Decode.Beam, n+1)
}

// alternativesOf returns up to n different alternatives of a text. In alternative k each sentence
// has its k-th translation after the best.
func alternativesOf(r *translate.Result, n int) []string {
	alternatives := []string{}
	seen := map[string]bool{r.Best(): true}
	for k := 1; k <= n; k++ {
		var b strings.Builder
		end := 0
		for _, sentence := range r.Sentences {
			b.WriteString(r.Best()[end:sentence.Target.Start])
			if list := sentence.Translations; len(list) > 0 {
				b.WriteString(list[min(k, len(list)-1)].Text)
			}
			end = sentence.Target.End
		}
		b.WriteString(r.Best()[end:])
		if s := b.String(); !seen[s] {
			seen[s] = true
			alternatives = append(alternatives, s)
		}
	}
	return alternatives
}
