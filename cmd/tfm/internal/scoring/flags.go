package scoring

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
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
	useTER bool

	confidence, paired bool
	resamples          int

	width int  // decimals of a printed score
	Bare  bool // print only the numbers
	json  bool
}

// The limits of flags.
const (
	maxOrder     = 100 // n-gram lengths
	maxWidth     = 6   // decimals of a score
	maxResamples = 1_000_000
)

// The metrics.
const (
	metricBLEU = "bleu"
	metricCHRF = "chrf"
	metricTER  = "ter"
)

// Flags declares the flags of a command's scores.
func Flags(f *cli.Flags) *Options {
	o := &Options{given: f.Given}
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
	f.Group("chrF")
	f.IntVar(&o.chrf.WordOrder, "chrf-words", 0, "longest word n-grams; 2 is chrF++").Range(0, maxOrder).Alias("chrf-word-order")
	f.Group("TER")
	f.BoolVar(&o.useTER, "ter", false, "print the translation edit rate too; lower is better")
	f.Group("Significance")
	f.BoolVar(&o.confidence, "confidence", false, "print the mean and the 95 % confidence interval of a bootstrap")
	f.IntVar(&o.resamples, "resamples", score.DefaultResamples, "resamples of a bootstrap").Range(1, maxResamples).Alias("confidence-n", "paired-bs-n")
	f.Group("Output")
	f.BoolVar(&o.Bare, "b", false, "print only the numbers, by default of BLEU with one decimal, as sacreBLEU does").Alias("score-only")
	f.IntVar(&o.width, "width", 2, "decimals of a score; -w too").Range(0, maxWidth).Alias("w")
	f.BoolVar(&o.json, "json", false, "print the scores as JSON")
	return o
}

// PairedFlag declares the flag of a comparison of systems.
func (o *Options) PairedFlag(f *cli.Flags) {
	f.Group("Significance")
	f.BoolVar(&o.paired, "paired", false, "compare each other file with the first, by a bootstrap").Alias("paired-bs")
}

// Compares reports whether the flags ask for a comparison, which needs several systems.
func (o *Options) Compares() bool { return o.paired }

// Check reports the first invalid setting.
func (o *Options) Check() error {
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
		cli.UsageIf(o.Bare && o.json, "either -b or -json"),
		cli.UsageIf(o.resamples != score.DefaultResamples && !o.Tests(), "-resamples needs -confidence or -paired"),
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
