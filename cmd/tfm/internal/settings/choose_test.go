package settings

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"tfm/model"
	"tfm/text/script"
	"tfm/train/corpus"
)

// surveyOf returns the survey of a corpus of sentences with the given numbers of characters.
func surveyOf(pairs int, srcChars, tgtChars int64, tgt script.Script) *corpus.Survey {
	s := new(corpus.Survey)
	s.Pairs = pairs
	s.Source.Characters, s.Target.Characters = srcChars*int64(pairs), tgtChars*int64(pairs)
	s.Source.Letters[script.Latin], s.Target.Letters[tgt] = 1, 1
	return s
}

// Each row is a corpus, a command line, and settings with their origins.
func TestChoose(t *testing.T) {
	captions, phrases := surveyOf(29_000, 61, 72, script.Latin), surveyOf(27_000, 31, 11, script.Han)
	few, many := surveyOf(2700, 100, 45, script.Han), surveyOf(1_000_000, 100, 110, script.Latin)
	for _, c := range []struct {
		survey *corpus.Survey
		typed  string
		want   string
	}{
		{captions, "time=5m", "preset=tiny:chosen vocab-size=8000:chosen dropout=0.1:chosen warmup=100:default valid-every=200:chosen"},
		{captions, "time=15m", "preset=tiny:chosen dropout=0.2:chosen warmup=100:default"},
		{captions, "", "preset=tiny:chosen dropout=0.3:chosen warmup=100:default"},
		{captions, "time=5m dropout=0.25 vocab-size=4000 warmup=7 valid-every=9", "dropout=0.25:command-line vocab-size=4000:command-line warmup=7:command-line valid-every=9:command-line"},
		{captions, "time=5m preset=small", "preset=small:command-line d-model=256:default dropout=0.1:chosen"},
		{captions, "steps=100", "warmup=25:chosen valid-every=50:chosen dropout=0.1:chosen"},
		{captions, "preset=base", "dropout=0.1:default warmup=4000:default vocab-size=8000:chosen valid-every=1000:default"},
		{phrases, "time=5m", "vocab-size=5500:chosen dropout=0.2:chosen"},
		{few, "time=5m", "vocab-size=3000:chosen dropout=0.3:chosen valid-every=100:chosen"},
		{many, "time=5m", "vocab-size=8500:chosen dropout=0.1:chosen"},
		{many, "time=10h", "vocab-size=28000:chosen"},
		{many, "preset=base", "vocab-size=32000:chosen"},
		{nil, "", "preset=tiny:chosen dropout=0.1:default vocab-size=8000:default"},
	} {
		r := resolved(t, c.typed, Facts{})
		if c.survey != nil {
			r.Choose(c.survey)
		}
		check(t, c.typed, r, c.want)
	}
}

// No number of threads, precision or kernel changes what a command chooses.
func TestChoicesAreThoseOfEveryMachine(t *testing.T) {
	s := surveyOf(29_000, 61, 72, script.Latin)
	for _, typed := range []string{"", "time=1m", "time=5m", "time=4h", "time=20m preset=small", "steps=500", "time=5m init=old"} {
		var want []Choice
		for _, machine := range []string{"threads=2", "threads=1", "threads=64", "bf16=true", "threads=7 bf16=true"} {
			facts := Facts{}
			if strings.Contains(typed, "init") {
				facts.Init = trained("small", nil)
			}
			r := resolved(t, typed+" "+machine, facts)
			r.Choose(s)
			if got := r.Choices(); want == nil {
				want = got
			} else if !slices.Equal(got, want) {
				t.Errorf("%q with %s chooses %v, want %v", typed, machine, got, want)
			}
		}
	}
}

// The choices have reasons, and those that are overridden are not listed.
func TestChoices(t *testing.T) {
	r := resolved(t, "time=5m dropout=0.5", Facts{})
	r.Choose(surveyOf(29_000, 61, 72, script.Latin))
	for _, c := range r.Choices() {
		if c.Name == "dropout" || c.Value == "" || c.Why == "" {
			t.Errorf("choice %+v", c)
		}
	}
	if first := r.Choices()[0]; first.Name != "preset" || !strings.HasPrefix(first.Why, "5m0s") {
		t.Errorf("first choice %+v, want the preset, because of the time", first)
	}
}

// Fine-tuning keeps the dropout of the model, whatever the corpus; rate, steps and validations suit
// its size, the model and the time.
func TestChooseForFineTuning(t *testing.T) {
	tiny, imported := trained("tiny", nil), trained("base", func(t *Trained) { t.Imported, t.Config.SrcVocab, t.Config.TgtVocab = "Marian", 58_000, 58_000 })
	tiny.Config.Dropout, tiny.Config.SrcVocab, tiny.Config.TgtVocab = 0.25, 8000, 8000
	for _, c := range []struct {
		pairs int
		init  *Trained
		typed string
		want  string
	}{
		{29_000, tiny, "time=5m", "dropout=0.1:chosen label-smoothing=0.1:chosen lr=0.004:chosen warmup=100:default steps=0:default valid-every=200:chosen"},
		{29_000, tiny, "time=5m dropout=0.3", "dropout=0.3:command-line"},
		{2_000, tiny, "time=5m", "dropout=0.25:chosen lr=0.0021:chosen warmup=70 steps=705:chosen valid-every=40:chosen"},
		{200, tiny, "time=5m", "lr=0.000664:chosen warmup=7 steps=71:chosen valid-every=5:chosen"},
		{200, tiny, "time=5m steps=900 lr=1e-5 warmup=7", "lr=1e-05:command-line warmup=7:command-line steps=900:command-line"},
		{29_000, imported, "time=5m", "lr=0.000125:chosen warmup=4 batch-tokens=2000:chosen"},
		{29_000, imported, "time=10h", "warmup=100 batch-tokens=4096:default"},
		{9_000, imported, "", "batch-tokens=2000:chosen steps=2380:chosen warmup=100:chosen"},
	} {
		r := resolved(t, c.typed+" init=old", Facts{Init: c.init, Tokenizers: &Tokenizers{"old", true}})
		r.Choose(surveyOf(c.pairs, 61, 72, script.Latin))
		check(t, fmt.Sprint(c.pairs, " pairs, ", c.typed), r, c.want)
	}
}

// The limit of a vocabulary is that of logits that cost as much as the layers.
func TestVocabularyLimits(t *testing.T) {
	for _, s := range sizes {
		c, err := model.Preset(s.preset)
		if err != nil {
			t.Fatal(err)
		}
		c.SrcVocab, c.TgtVocab = 1000, 1000
		if n := c.CountParams()/c.DModel - 1000; s.vocab > n || s.vocab < n*9/10 {
			t.Errorf("%s: limit %d, want at most %d and little less", s.preset, s.vocab, n)
		}
	}
}

// New tokenizers replace those of a model if they make much text much shorter, or if their size is
// given.
func TestNewVocabulary(t *testing.T) {
	for _, c := range []struct {
		typed    string
		pairs    int
		more     float64
		imported string
		want     bool
		size     int
		steps    string
	}{
		{"", 29_000, 1.4, "", true, 8000, ""},
		{"", 2_000, 1.4, "", true, 2000, "steps=2350:chosen valid-every=120:chosen"},
		{"steps=300", 2_000, 1.4, "", true, 2000, "steps=300:command-line"},
		{"", 2_000, 0.95, "", false, 0, "steps=705:chosen valid-every=40:chosen"},
		{"", 1_900, 1.4, "", false, 0, ""},
		{"", 29_000, 1.4, "Marian", false, 0, ""},
		{"vocab-size=900", 1_000, 1, "", true, 900, "steps=353:chosen"},
	} {
		r := resolved(t, c.typed+" init=old", Facts{Init: trained("tiny", func(t *Trained) { t.Imported, t.Config.SrcVocab, t.Config.TgtVocab = c.imported, 8000, 8000 }), Tokenizers: &Tokenizers{"old", true}})
		s := surveyOf(c.pairs, 61, 72, script.Latin)
		learns, err := r.LearnsVocabulary(true)
		r.Choose(s)
		size := r.VocabSize
		got := r.SuitsLearning(s) && r.NewVocabulary(s, c.more)
		if !got {
			size = 0
		}
		check(t, fmt.Sprint(c.pairs, " pairs, ", c.typed), r, c.steps)
		if !learns || err != nil || got != c.want || size != c.size {
			t.Errorf("%q, %d pairs, %v times the tokens: %v, %v, %v, size %d; want %v, size %d", c.typed, c.pairs, c.more, learns, err, got, size, c.want, c.size)
		}
	}
	for typed, want := range map[string]bool{"init=old": false, "init=old vocab-size=900": true, "init=old vocab-size=0": false, "init=old vocab=x vocab-size=0": false, "init=old trim=true vocab-size=900": true} {
		r, err := given("", "", typed)
		if err != nil {
			t.Fatal(err)
		}
		if learns, err := r.LearnsVocabulary(strings.Contains(typed, "trim")); learns || (err != nil) != want {
			t.Errorf("%s: %v, %v", typed, learns, err)
		}
	}
}
