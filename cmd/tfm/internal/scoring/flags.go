package scoring

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"tfm/cmd/tfm/internal/cli"
	"tfm/cmd/tfm/internal/settings"
	"tfm/text/score"
)

// Options are the references of a test set and the settings of its scores.
type Options struct {
	References []string                 // files
	given      func() map[string]string // flags of the command line

	metrics []string // of -m

	bleu   score.BLEU
	chrf   score.CHRF
	ter    score.TER
	useTER bool

	confidence bool
	paired     string // noTest, bootstrap or randomization
	resamples  int
	trials     int
	seed       uint64

	width int  // decimals of a printed score
	Bare  bool // print only the numbers
	json  bool
}

// The limits of flags.
const (
	maxOrder       = 100 // n-gram lengths
	maxBeta        = 100
	maxWidth       = 6 // decimals of a score
	maxSmoothValue = 1e6
	maxResamples   = 1_000_000
)

// The metrics.
const (
	metricBLEU = "bleu"
	metricCHRF = "chrf"
	metricTER  = "ter"
)

// The tests of the difference between two systems.
const (
	noTest        = "none"
	bootstrap     = "bootstrap"
	randomization = "randomization"
)

// Flags declares the flags of a command's scores.
func Flags(f *cli.Flags) *Options {
	o := &Options{trials: score.DefaultTrials, paired: noTest, given: f.Given}
	f.StringsVar(&o.References, "ref", "`file` with a reference translation of each line; repeat it for more references")
	f.Group("Scores")
	names := []string{metricBLEU, metricCHRF, metricTER}
	f.Func("m", "`scores`: bleu, chrf, ter or several of them, such as bleu,ter (default bleu,chrf)", func(list string) error {
		for name := range strings.SplitSeq(list, ",") {
			if !slices.Contains(names, name) {
				return errors.New("unknown")
			}
			o.metrics = append(o.metrics, name)
		}
		return nil
	}).Choices(names...).Alias("metrics").More(func(next string) bool { return slices.Contains(names, next) })
	f.Group("BLEU")
	settings.TokenizeFlag(f, &o.bleu.Tokenizer).Alias("tok")
	f.BoolVar(&o.bleu.Lowercase, "lowercase", false, "ignore case in BLEU").Alias("lc")
	f.TextVar(&o.bleu.Smoothing, "smooth", score.Exp, "`method` for n-gram orders without a match: exp, floor, add-k or none").
		Choices(score.Exp.String(), score.Floor.String(), score.AddK.String(), score.NoSmooth.String()).Alias("s", "smooth-method")
	f.Func("smooth-value", "value of -smooth floor (default 0.1) or add-k (default 1)", func(s string) error {
		x, err := strconv.ParseFloat(s, 64)
		if err != nil || !(x > 0 && x <= maxSmoothValue) {
			return fmt.Errorf("expected a number above 0 and up to %v", maxSmoothValue)
		}
		o.bleu.SmoothValue = x
		return nil
	}).Alias("sv")
	f.Group("chrF")
	f.IntVar(&o.chrf.WordOrder, "chrf-words", 0, "longest word n-grams; 2 is chrF++").Range(0, maxOrder).Alias("chrf-word-order")
	f.IntVar(&o.chrf.CharOrder, "chrf-chars", 6, "longest character n-grams").Range(1, maxOrder).Alias("chrf-char-order")
	f.IntVar(&o.chrf.Beta, "chrf-beta", 2, "weight of recall relative to precision").Range(1, maxBeta)
	f.BoolVar(&o.chrf.Lowercase, "chrf-lowercase", false, "ignore case in chrF")
	f.BoolVar(&o.chrf.Whitespace, "chrf-whitespace", false, "spaces are characters too")
	f.BoolVar(&o.chrf.EpsSmoothing, "chrf-eps-smoothing", false, "average the F-scores of all n-gram lengths, as chrF++.py and NLTK do")
	f.Group("TER")
	f.BoolVar(&o.useTER, "ter", false, "print the translation edit rate too; lower is better")
	for _, t := range o.terFlags() {
		f.BoolVar(t.value, t.name, false, t.usage)
	}
	f.Group("Significance")
	f.BoolVar(&o.confidence, "confidence", false, "print the mean and the 95 % confidence interval of a bootstrap")
	f.IntVar(&o.resamples, "resamples", score.DefaultResamples, "resamples of a bootstrap").Range(1, maxResamples).Alias("confidence-n", "paired-bs-n")
	f.Uint64Var(&o.seed, "seed", score.DefaultSeed, "random seed; SACREBLEU_SEED of sacreBLEU")
	f.Group("Output")
	f.BoolVar(&o.Bare, "b", false, "print only the numbers, by default of BLEU with one decimal, as sacreBLEU does").Alias("score-only")
	f.IntVar(&o.width, "width", 2, "decimals of a score; -w too").Range(0, maxWidth).Alias("w")
	f.BoolVar(&o.json, "json", false, "print the scores as JSON")
	return o
}

// PairedFlags declares the flags of a comparison of systems.
func (o *Options) PairedFlags(f *cli.Flags) {
	f.Group("Significance")
	f.StringVar(&o.paired, "paired", noTest, "`test` of the difference between the first file and each other:\n"+
		"  bootstrap      resamples the test set\n"+
		"  randomization  exchanges translations of the two systems").Choices(bootstrap, randomization)
	f.IntVar(&o.trials, "trials", score.DefaultTrials, "exchanges of -paired randomization").Range(1, maxResamples).Alias("paired-ar-n")
}

type terFlag struct {
	name, usage string
	value       *bool
}

// terFlags returns the flags that need -ter.
func (o *Options) terFlags() []terFlag {
	return []terFlag{
		{"ter-normalized", "split off punctuation", &o.ter.Normalized},
		{"ter-no-punct", "ignore punctuation", &o.ter.NoPunctuation},
		{"ter-asian-support", "with -ter-normalized, split Chinese characters; with -ter-no-punct, ignore Chinese and Japanese punctuation", &o.ter.AsianSupport},
		{"ter-case-sensitive", "distinguish case in TER", &o.ter.CaseSensitive},
	}
}

// Check reports the first invalid setting.
func (o *Options) Check() error {
	var needTER error
	for _, t := range o.terFlags() {
		needTER = cmp.Or(needTER, cli.UsageIf(*t.value && !o.uses(metricTER), "-%s needs -ter or -m ter", t.name))
	}
	bleu := o.bleu
	if o.Bare { // the defaults are sacreBLEU's
		if _, ok := o.given()["width"]; !ok {
			o.width = 1
		}
		if len(o.metrics) == 0 && !o.useTER {
			o.metrics = []string{metricBLEU}
		}
	}
	return cmp.Or(
		cli.UsageIf(len(o.References) == 0, "-ref is missing"),
		cli.UsageIf(slices.Contains(o.References, ""), "-ref is \"\", expected a file"),
		needTER,
		cli.UsageIf(o.Bare && o.json, "either -b or -json"),
		cli.UsageIf(o.trials != score.DefaultTrials && o.paired != randomization, "-trials needs -paired randomization"),
		cli.UsageIf(o.resamples != score.DefaultResamples && !o.confidence && o.paired != bootstrap, "-resamples needs -confidence or -paired bootstrap"),
		cli.UsageIf(bleu.SmoothValue > 0 && bleu.Smoothing != score.Floor && bleu.Smoothing != score.AddK, "-smooth-value needs -smooth floor or add-k"),
	)
}

// PrintTokenizer replaces -tokenize auto by the tokenizer that suits the references, and prints it
// on standard error unless it is sacreBLEU's default.
func (o *Options) PrintTokenizer(references [][]string) {
	if t := &o.bleu.Tokenizer; *t == score.Auto {
		*t = t.For(slices.Concat(references...))
		if *t == score.Tok13a || !o.uses(metricBLEU) {
			return
		}
		fmt.Fprintf(os.Stderr, "BLEU: -tokenize %v, chosen from the references\n", *t)
	}
}
