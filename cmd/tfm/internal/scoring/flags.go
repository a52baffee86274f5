package scoring

import (
	"fmt"
	"slices"
	"strconv"

	"tfm/cmd/tfm/internal/cli"
	"tfm/cmd/tfm/internal/settings"
	"tfm/text/score"
)

// Options are the references of a test set and the settings of its scores.
type Options struct {
	References []string // files

	tokenizer     score.Tokenizer
	lowercase     bool
	smoothing     score.Smoothing
	smoothValue   float64 // 0: the default of smoothing
	chrfChars     int
	chrfWords     int
	chrfBeta      int
	chrfLowercase bool

	width int // decimals of a printed score
	json  bool
}

// The limits of flags.
const (
	maxOrder       = 100 // n-gram lengths
	maxBeta        = 100
	maxWidth       = 6 // decimals of a score
	maxSmoothValue = 1e6
)

// Flags declares the flags of a command's scores.
func Flags(f *cli.Flags) *Options {
	o := new(Options)
	f.Func("ref", "`file` with a reference translation of each line; repeat it for more references", func(path string) error {
		o.References = append(o.References, path)
		return nil
	})
	f.Group("BLEU")
	settings.TokenizeFlag(f, &o.tokenizer)
	f.BoolVar(&o.lowercase, "lowercase", false, "ignore case in BLEU")
	f.TextVar(&o.smoothing, "smooth", score.Exp, "`method` for n-gram orders without a match: exp, floor, add-k or none").
		Choices(score.Exp.String(), score.Floor.String(), score.AddK.String(), score.NoSmooth.String())
	f.Func("smooth-value", "`value` of -smooth floor (default 0.1) or add-k (default 1)", func(s string) (err error) {
		if o.smoothValue, err = strconv.ParseFloat(s, 64); err != nil || !(o.smoothValue > 0 && o.smoothValue <= maxSmoothValue) {
			return fmt.Errorf("expected a number above 0 and up to %v", maxSmoothValue)
		}
		return nil
	})
	f.Group("chrF")
	f.IntVar(&o.chrfWords, "chrf-words", 0, "longest word n-grams; 2 is chrF++")
	f.IntVar(&o.chrfChars, "chrf-chars", 6, "longest character n-grams")
	f.IntVar(&o.chrfBeta, "chrf-beta", 2, "weight of recall relative to precision")
	f.BoolVar(&o.chrfLowercase, "chrf-lowercase", false, "ignore case in chrF")
	f.Group("Output")
	f.IntVar(&o.width, "width", 2, "decimals of a score")
	f.BoolVar(&o.json, "json", false, "print the scores as JSON")
	return o
}

// Check reports the first invalid setting.
func (o *Options) Check() error {
	if len(o.References) == 0 {
		return cli.Usagef("-ref is missing")
	}
	if i := slices.Index(o.References, ""); i >= 0 {
		return cli.Usagef("-ref \"\": expected a file")
	}
	for _, limit := range []struct {
		flag          string
		found, lo, hi int
	}{
		{"chrf-words", o.chrfWords, 0, maxOrder},
		{"chrf-chars", o.chrfChars, 1, maxOrder},
		{"chrf-beta", o.chrfBeta, 1, maxBeta},
		{"width", o.width, 0, maxWidth},
	} {
		if limit.found < limit.lo || limit.found > limit.hi {
			return cli.Usagef("-%s %d: must be %d to %d", limit.flag, limit.found, limit.lo, limit.hi)
		}
	}
	if o.smoothValue > 0 && o.smoothing != score.Floor && o.smoothing != score.AddK {
		return cli.Usagef("-smooth-value needs -smooth floor or add-k")
	}
	return nil
}

// ChooseTokenizer replaces -tokenize auto by the tokenizer that suits the references. It reports
// whether it did, and which one -tokenize is.
func (o *Options) ChooseTokenizer(references [][]string) (chosen bool, t score.Tokenizer) {
	chosen = o.tokenizer == score.Auto
	o.tokenizer = o.tokenizer.For(slices.Concat(references...))
	return chosen, o.tokenizer
}

func (o *Options) bleu(sentence bool) score.BLEU {
	return score.BLEU{
		Tokenizer:      o.tokenizer,
		Lowercase:      o.lowercase,
		Smoothing:      o.smoothing,
		SmoothValue:    o.smoothValue,
		EffectiveOrder: sentence,
	}
}

func (o *Options) chrf() score.CHRF {
	return score.CHRF{CharOrder: o.chrfChars, WordOrder: o.chrfWords, Beta: o.chrfBeta, Lowercase: o.chrfLowercase}
}
