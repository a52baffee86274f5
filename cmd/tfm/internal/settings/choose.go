package settings

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"tfm/internal/format"
	"tfm/model"
	"tfm/train"
	"tfm/train/corpus"
)

// Auto is the preset of a run that names none: the size is chosen from the time.
const Auto = "auto"

// Choice is a setting that was chosen, with the reason.
type Choice struct{ Name, Value, Why string }

// Choices returns the settings that were chosen.
func (r *Run) Choices() []Choice {
	choices := slices.Clone(r.choices)
	for i, c := range choices {
		choices[i].Value = r.flags.Lookup(c.Name).Value.String()
	}
	return choices
}

// chosen reports whether a setting is neither given nor chosen yet, so that it may be chosen, and
// records the reason.
func (r *Run) chosen(name, why string, args ...any) bool {
	if r.Origin(name) != Default || slices.ContainsFunc(r.choices, func(c Choice) bool { return c.Name == name }) {
		return false
	}
	r.choices = append(r.choices, Choice{Name: name, Why: fmt.Sprintf(why, args...)})
	return true
}

// rechosen gives a setting that was chosen another reason, and reports whether it was.
func (r *Run) rechosen(name, why string, args ...any) bool {
	i := slices.IndexFunc(r.choices, func(c Choice) bool { return c.Name == name })
	if i >= 0 {
		r.choices[i].Why = fmt.Sprintf(why, args...)
	}
	return i >= 0
}

// aboutEpochs describes a number of epochs.
func aboutEpochs(n float64) string {
	return "about " + format.Count(max(1, int(math.Round(n))), "epoch")
}

// sizes are the presets that a run without -preset can have, in ascending order.
var sizes = []size{
	{"tiny", 0, 19_000, 10_000},
	{"small", 3 * time.Hour, 5_000, 28_000},
}

// size is a preset with its figures of the reference machine: two cores of Zen 4 with AVX-512 in
// float32, as in BENCHMARKS.md. Choices assume it everywhere, so that a command always chooses the
// same settings.
type size struct {
	preset string
	from   time.Duration // the training time from which it translates better than a smaller one
	speed  float64       // source + target tokens of training per second
	vocab  int           // pieces for which a token's logits cost as much as all layers
}

// usualTime is assumed for a run without -time.
const usualTime = time.Hour

// choosing says what is chosen from the corpus.
type choosing int

const (
	chooseNothing    choosing = iota // a resumed run has the settings of its checkpoint
	chooseVocabulary                 // the paper does not fix it for other corpora
	chooseAll                        // of a run with one of sizes
	chooseFineTuned                  // of a run from the weights of a model
)

// budget is the time of a run and what follows from it and the files. It does not change after
// Resolve.
type budget struct {
	choose        choosing
	time          time.Duration
	why           string // the time and its origin
	size          size   // that the time suits
	newVocabulary bool   // it is learned, so that its size can be chosen
}

// choosing returns what is chosen for a run with the preset and the files in r.
func (r *Run) choosing() choosing {
	switch {
	case r.fineTuned != nil:
		return chooseFineTuned
	case slices.ContainsFunc(sizes, func(s size) bool { return s.preset == r.Preset }):
		return chooseAll
	}
	return chooseVocabulary
}

// newBudget returns the budget of a run with the limit of its time, 0 for none.
func newBudget(limit time.Duration) budget {
	b := budget{time: cmp.Or(limit, usualTime), size: sizes[0]}
	b.why = b.time.String()
	if limit == 0 {
		b.why = fmt.Sprintf("no -time: %s is assumed", b.time)
	}
	for _, s := range sizes {
		if b.time >= s.from {
			b.size = s
		}
	}
	return b
}

// tokens estimates the tokens of a side. Pieces have about four characters on average, fewer in
// scripts without spaces.
func tokens(s corpus.Side) float64 {
	if s.Unspaced() {
		return float64(s.Characters) / 1.4
	}
	return float64(s.Characters) / 4
}

// corpusTokens estimates the tokens of both sides, with EOS.
func corpusTokens(s *corpus.Survey) float64 {
	return tokens(s.Source) + tokens(s.Target) + 2*float64(s.Pairs)
}

// tokensOfText describes a number of tokens.
func tokensOfText(n float64) string {
	if n > 1e4 {
		n = math.Round(n/1e4) * 1e4
	}
	return format.Thousands(int(n)) + " tokens of text"
}

// trainingSpeed estimates the source + target tokens of training per second on the reference
// machine. Those of sizes times their weights are about equal.
func trainingSpeed(c model.Config) float64 { return 48e9 / float64(c.CountParams()) }

// Choose sets the settings that follow from the corpus and the time, except given ones, after
// Resolve. Settings of base, big and the other presets of the paper stay the paper's, except for
// the vocabulary.
func (r *Run) Choose(s *corpus.Survey) {
	switch r.budget.choose {
	case chooseVocabulary:
		if total := corpusTokens(s); r.budget.newVocabulary && r.chosen("vocab-size", "%s", tokensOfText(total)) {
			r.VocabSize = vocabSize(total, maxVocab)
		}
	case chooseAll:
		r.chooseAll(s)
	case chooseFineTuned:
		r.chooseFineTuning(s)
	}
}

// chooseAll is Choose for a run with one of sizes.
func (r *Run) chooseAll(s *corpus.Survey) {
	total := corpusTokens(s)
	text := tokensOfText(total)
	i := slices.IndexFunc(sizes, func(s size) bool { return s.preset == r.Preset })
	size, preset := sizes[i], train.OptionsFor(r.Preset)
	stepTokens := 2 * float64(preset.BatchTokens)
	steps := r.budget.time.Seconds() * size.speed / stepTokens
	if limit := r.Options.Steps; limit > 0 {
		steps = min(steps, float64(limit))
	}
	if k := r.Options.Rounds.Workers; k > 0 {
		steps, stepTokens = float64(r.Options.Steps), stepTokens*float64(k)
	}
	epochs := steps * stepTokens / max(total, 1)
	if r.budget.newVocabulary && r.chosen("vocab-size", "%s, %s", text, aboutEpochs(epochs)) {
		r.VocabSize = vocabSize(total*min(1, epochs/fullVocabEpochs), size.vocab)
	}
	if r.chosen("dropout", "%s", aboutEpochs(epochs)) {
		r.Config.Dropout = dropout(epochs)
	}
	if float64(r.Options.Warmup) > steps/4 && r.chosen("warmup", "%s", format.Count(int(steps), "step")) {
		r.Options.Warmup = max(1, int(steps/4))
	}
	if r.Options.Rounds.Workers == 0 && r.chosen("valid-every", "a validation takes about 3%% of the time") {
		r.Options.ValidEvery = validEvery(s, steps, preset.BatchTokens, 50)
	}
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
func dropout(epochs float64) float32 {
	switch {
	case epochs < 10:
		return 0.1
	case epochs < 30:
		return 0.2
	}
	return 0.3
}

// validEvery returns the steps between validations that take 3% of the time, with 4 to 20
// validations in a run, as a multiple of unit. A validation takes about as long as training on its
// target tokens.
func validEvery(s *corpus.Survey, steps float64, batchTokens int, unit float64) int {
	held := corpus.MaxHeldOut(s.Pairs)
	valid := tokens(s.Target) * float64(held) / float64(max(s.Pairs, 1))
	if v := s.Validation; v != nil {
		valid = tokens(v.Target)
	}
	return int(clamp(min(max(valid/(0.03*float64(batchTokens)), steps/20), steps/4), unit, unit, 5000))
}

// clamp returns x as a multiple of unit from lo to hi.
func clamp(x, unit, lo, hi float64) float64 {
	return min(max(math.Round(x/unit)*unit, lo), hi)
}
