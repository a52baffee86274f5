package settings

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"tfm/internal/format"
	"tfm/train/corpus"
)

// Auto is the preset of a run that names none: the size is chosen from the time.
const Auto = "auto"

// Choice is a setting that was chosen from the corpus and the time, with the reason.
type Choice struct{ Name, Value, Why string }

// Choices returns the settings that were chosen and not overridden.
func (r *Run) Choices() (choices []Choice) {
	for _, c := range r.choices {
		if r.Origin(c.Name) == Chosen {
			c.Value = r.flags.Lookup(c.Name).Value.String()
			choices = append(choices, c)
		}
	}
	return choices
}

// sizes are the presets that a run without -preset can have, in ascending order.
var sizes = []size{
	{"tiny", 0, 19_000, 10_000},
	{"small", 3 * time.Hour, 5_000, 28_000},
}

// size is a preset with its figures of two reference cores, see referenceTime.
type size struct {
	preset string
	from   time.Duration // the training time from which it translates better than a smaller one
	speed  float64       // source + target tokens of training per second
	vocab  int           // pieces for which a token's logits cost as much as all layers
}

// usualTime is assumed for a run without -time.
const usualTime = time.Hour

// referenceTime converts a time on a machine with a kernel of package mat to that on two Zen 4
// cores with AVX-512. It uses only kernel and threads, so that a command always chooses the same
// settings.
func referenceTime(t time.Duration, threads int, kernel string) time.Duration {
	speed := map[string]float64{"avx512": 1, "avx2": 0.6, "neon": 0.4}[kernel]
	return time.Duration(float64(t) * float64(threads) / 2 * max(speed, 0.05))
}

// plan is the knowledge about a run from which settings are chosen.
type plan struct {
	time   time.Duration // on the reference machine
	why    string        // the time and its origin
	limit  int           // of steps; 0 is none
	size   size
	survey *corpus.Survey // nil if it is not known

	anySize, vocab bool // whether the size and the vocabulary can be chosen

	tokens float64 // source + target tokens of an epoch, estimated
}

// newPlan returns the plan of a run with the settings in named.
func newPlan(named *Run, facts Facts) plan {
	limit := cmp.Or(named.Options.Time, usualTime)
	s := facts.Corpus
	p := plan{
		time: referenceTime(limit, named.Threads, facts.Kernel), why: fmt.Sprintf("%s on %s", limit, format.Count(named.Threads, "thread")),
		limit: named.Options.Steps, survey: s, anySize: named.Preset == Auto && facts.Init == nil, vocab: facts.Tokenizers == nil,
	}
	if named.Options.Time == 0 {
		p.why = "no -time: " + p.why + " is assumed"
	}
	for _, s := range sizes {
		if p.time >= s.from {
			p.size = s
		}
	}
	if s != nil {
		p.tokens = tokens(s.Source) + tokens(s.Target) + 2*float64(s.Pairs)
	}
	return p
}

// tokens estimates the tokens of a side. Pieces have about four characters on average, fewer in
// scripts without spaces.
func tokens(s corpus.Side) float64 {
	if s.Unspaced() {
		return float64(s.Characters) / 1.4
	}
	return float64(s.Characters) / 4
}

// steps returns the expected number of steps.
func (p plan) steps(batchTokens int) float64 {
	steps := p.time.Seconds() * p.size.speed / (2 * float64(batchTokens))
	if p.limit > 0 {
		return min(steps, float64(p.limit))
	}
	return steps
}

// choose sets the settings that follow from the corpus and the time. Settings of base, big and the
// other presets of the paper stay the paper's, except for the vocabulary, which the paper does not
// fix for other corpora.
func (r *Run) choose(p plan) {
	pick := func(name string, value any, why string, args ...any) {
		if err := r.flags.Set(name, fmt.Sprint(value)); err != nil {
			panic(fmt.Sprintf("settings: %s: %v", name, err))
		}
		r.base(Chosen, []string{name})
		r.choices = append(r.choices, Choice{Name: name, Why: fmt.Sprintf(why, args...)})
	}
	if p.anySize {
		pick("preset", p.size.preset, "%s", p.why)
	}
	if p.survey == nil {
		return
	}
	text := format.Thousands(int(math.Round(p.tokens/1e4))*1e4) + " tokens of text"
	i := slices.IndexFunc(sizes, func(s size) bool { return s.preset == r.Preset })
	if i < 0 {
		if p.vocab {
			pick("vocab-size", vocabSize(p.tokens, maxVocab), "%s", text)
		}
		return
	}
	p.size = sizes[i]
	steps := p.steps(r.Options.BatchTokens)
	epochs := steps * 2 * float64(r.Options.BatchTokens) / max(p.tokens, 1)
	aboutEpochs := "about " + format.Count(max(1, int(math.Round(epochs))), "epoch")
	if p.vocab {
		pick("vocab-size", vocabSize(p.tokens*min(1, epochs/fullVocabEpochs), p.size.vocab), "%s, %s", text, aboutEpochs)
	}
	pick("dropout", dropout(epochs), "%s", aboutEpochs)
	if w := r.Options.Warmup; float64(w) > steps/4 {
		pick("warmup", max(1, int(steps/4)), "%s", format.Count(int(steps), "step"))
	}
	pick("valid-every", validEvery(p, steps, r.Options.BatchTokens), "a validation takes about 3%% of the time")
}

// vocabSize grows as the number of different words does, about with the square root of the corpus:
// 8,000 pieces for a million tokens. It ends where further pieces take more time than the layers:
// in 15 minutes of Tatoeba, tiny is 1 BLEU better with 10,000 pieces than with 14,500.
func vocabSize(tokens float64, limit int) int {
	return int(clamp(8000*math.Sqrt(tokens/1e6), 500, 1000, float64(limit)))
}

// maxVocab is the limit of the vocabulary of the paper's presets.
const maxVocab = 32000

// fullVocabEpochs is the least number of epochs that have the vocabulary of the whole corpus.
// A shorter run learns little about rare pieces, and each piece costs time. In 6 epochs of Multi30k
// 8,000 pieces are better than 5,000; in 2 epochs of Tatoeba 8,000 are better than 14,500.
const fullVocabEpochs = 5

// dropout grows with the number of times that the model sees each pair. 0.2 is better than 0.3 in
// 13 epochs and worse in 40 (Tatoeba, English to Chinese).
func dropout(epochs float64) float64 {
	switch {
	case epochs < 10:
		return 0.1
	case epochs < 30:
		return 0.2
	}
	return 0.3
}

// validEvery returns the steps between validations that take 3% of the time, with 4 to 20
// validations in a run. A validation takes about as long as training on its target tokens.
func validEvery(p plan, steps float64, batchTokens int) int {
	held := corpus.HeldOut(p.survey.Pairs)
	valid := tokens(p.survey.Target) * float64(held) / float64(max(p.survey.Pairs, 1))
	if v := p.survey.Validation; v != nil {
		valid = tokens(v.Target)
	}
	return int(clamp(min(max(valid/(0.03*float64(batchTokens)), steps/20), steps/4), 50, 50, 5000))
}

// clamp returns x as a multiple of unit from lo to hi.
func clamp(x, unit, lo, hi float64) float64 {
	return min(max(math.Round(x/unit)*unit, lo), hi)
}
